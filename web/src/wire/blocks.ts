// Short names for what the server says of next steps and cards.
import type { components } from "./api";

type Schemas = components["schemas"];

export type Span = Schemas["Span"];
export type Next = Schemas["Next"];
export type Card = Schemas["Card"];
export type UseCase = Schemas["UseCase"];
export type CasePriority = Schemas["CasePriority"];
export type Slice = Schemas["Slice"];
export type ModelNode = Schemas["Node"];
export type Task = Schemas["Task"];
export type NextBlock = Schemas["NextBlock"];
/** What the person wants otherwise than here. */
export type NextWish = { [K in "agent" | "model" | "mode"]?: NonNullable<Schemas["NextClick"][K]> };
export type Went = Schemas["Clicked"];
