// Short names for what the server says of applets.
//
// Any JSON object may stand in a state, for which the generated types have no word: here it has one.
import type { components } from "./api";

type Schemas = components["schemas"];

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** What an applet is given. */
export type AppletParams = Readonly<Record<string, string>>;

export type AppletGrant = Schemas["AppletGrant"];
export type SendingApplet = Schemas["SendingApplet"];
export type AppletGrants = Schemas["AppletGrants"];
export type NewAppletGrant = Schemas["NewAppletGrant"];
export type AppletTicket = Schemas["AppletTicket"];
export type AppletVersion = Schemas["AppletVersion"];
export type AppletStateNow = Omit<Schemas["AppletState"], "state"> & { state: JsonObject };
export type Applet = Omit<Schemas["Applet"], "state"> & { state: JsonObject };
/** What becomes of the state: all of it is another one, or its keys that are given; null takes a key away. */
export type NewAppletState = ({ state: JsonObject } | { merge: JsonObject }) & { version?: number; writer?: string };
export type UnsentAppletState = Omit<Schemas["UnsentAppletState"], "merge"> & { merge: JsonObject };

type Frame = Schemas["ServerFrame"];
export type AppletFrame = Extract<Frame, { type: "applet_state" | "applet_state_unreadable" | "applet_changed" }>;
