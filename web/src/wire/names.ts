// Short names for the generated wire types. Nothing is described here: every type is the one in api.d.ts.
import type { components } from "./api";

type Schemas = components["schemas"];

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
