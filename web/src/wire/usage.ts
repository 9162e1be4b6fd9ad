// Short names for what the server says of tokens and cost.
import type { components } from "./api";

type Schemas = components["schemas"];

export type Cost = Schemas["Cost"];
export type ModelUsage = Schemas["ModelUsage"];
export type SessionUsage = Schemas["SessionUsage"];
export type TurnUsed = Schemas["TurnUsed"];
export type UsageBy = Schemas["UsageBy"];
export type UsagePage = Schemas["UsagePage"];
export type UsageWarning = Schemas["UsageWarning"];
export type Used = Schemas["Used"];
