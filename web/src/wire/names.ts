// Short names for the generated wire types. Nothing is described here: every type is the one in api.d.ts.
import type { components } from "./api";

/**
 * The generated types, with the names of fields as they are on the wire. The API's description has those of its tagged
 * unions, frames and entries, as the code has them (`up_to`); the wire says `upTo` everywhere.
 */
type Schemas = CamelCased<components["schemas"]>;

type CamelCased<T> = T extends readonly (infer Item)[]
  ? CamelCased<Item>[]
  : T extends object
    ? { [Key in keyof T as Key extends string ? CamelCase<Key> : Key]: CamelCased<T[Key]> }
    : T;

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Text;

export type Agent = Schemas["Agent"];
export type ClientFrame = Schemas["ClientFrame"];
export type Entry = Schemas["Entry"];
export type ErrorBody = Schemas["ErrorBody"];
export type ErrorDetail = Schemas["ErrorDetail"];
export type InteractionId = Schemas["InteractionId"];
export type NewPrompt = Schemas["NewPrompt"];
export type NewSession = Schemas["NewSession"];
export type Outcome = Schemas["Outcome"];
export type QueuedPrompt = Schemas["QueuedPrompt"];
export type Request = Schemas["Request"];
export type ServerFrame = Schemas["ServerFrame"];
export type Session = Schemas["Session"];
export type SessionId = Schemas["SessionId"];
export type SessionPage = Schemas["SessionPage"];
export type SessionRow = Schemas["SessionRow"];
export type SessionState = Schemas["SessionState"];
export type Timestamp = Schemas["Timestamp"];
export type Whoami = Schemas["Whoami"];

/** The server frame of one type. */
export type FrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;
