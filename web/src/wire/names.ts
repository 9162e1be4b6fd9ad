// Short names for the generated wire types. Nothing is described here: every type is the one in api.d.ts.
import type { components } from "./api";

type Schemas = components["schemas"];

export type Agent = Schemas["Agent"];
export type AgentCommand = Schemas["AgentCommand"];
export type AgentOption = Schemas["AgentOption"];
export type AgentState = Schemas["AgentState"];
export type AgentView = Schemas["AgentView"];
export type Author = Schemas["Author"];
export type Changed = Schemas["Changed"];
export type ClientFrame = Schemas["ClientFrame"];
export type DirectoryPage = Schemas["DirectoryPage"];
export type Entry = Schemas["Entry"];
export type ErrorBody = Schemas["ErrorBody"];
export type ErrorDetail = Schemas["ErrorDetail"];
export type Image = Schemas["Image"];
export type InteractionId = Schemas["InteractionId"];
export type LargeEntry = Schemas["LargeEntry"];
export type Location = Schemas["Location"];
export type NewAnswer = Schemas["NewAnswer"];
export type NewPrompt = Schemas["NewPrompt"];
export type NewSession = Schemas["NewSession"];
export type Notice = Schemas["Notice"];
export type Outcome = Schemas["Outcome"];
export type PermissionAnswer = Schemas["PermissionAnswer"];
export type PermissionKind = Schemas["PermissionKind"];
export type PermissionOption = Schemas["PermissionOption"];
export type PlanStep = Schemas["PlanStep"];
export type ProvedValue = Schemas["ProvedValue"];
export type Question = Schemas["Question"];
export type QueuedPrompt = Schemas["QueuedPrompt"];
export type RememberedPage = Schemas["RememberedPage"];
export type RememberedPermission = Schemas["RememberedPermission"];
export type Request = Schemas["Request"];
export type ResumePacket = Schemas["ResumePacket"];
export type SearchPage = Schemas["SearchPage"];
export type SearchResult = Schemas["SearchResult"];
export type ServerFrame = Schemas["ServerFrame"];
export type Session = Schemas["Session"];
export type Imports = Schemas["Imports"];
export type SessionId = Schemas["SessionId"];
export type SessionPage = Schemas["SessionPage"];
export type SessionRow = Schemas["SessionRow"];
export type SessionState = Schemas["SessionState"];
export type SetContext = Schemas["SetContext"];
export type Severity = Schemas["Severity"];
export type SignInMethod = Schemas["SignInMethod"];
export type StepStatus = Schemas["StepStatus"];
export type StoredFile = Schemas["StoredFile"];
export type Timestamp = Schemas["Timestamp"];
export type Title = Schemas["Title"];
export type TitleHistory = Schemas["TitleHistory"];
export type Toc = Schemas["Toc"];
export type TocEntry = Schemas["TocEntry"];
export type ToolChange = Schemas["ToolChange"];
export type ToolContent = Schemas["ToolContent"];
export type ToolKind = Schemas["ToolKind"];
export type ToolStatus = Schemas["ToolStatus"];
export type TurnState = Schemas["TurnState"];
export type Usage = Schemas["Usage"];
export type Window = Schemas["Window"];
export type WordsOf = Schemas["WordsOf"];

/** The server frame of one type. */
export type FrameOf<T extends ServerFrame["type"]> = Extract<ServerFrame, { type: T }>;

/** The entry of one type. */
export type EventOf<T extends Entry["type"]> = Extract<Entry, { type: T }>;
