// The applet that is open in a session, folded from the frames that follow it.
//
// Invariant: of two states the one with the higher version stays. What is said of another applet than the one that is followed
// takes its place: the page follows one at a time in each session.
import type { AppletFrame, JsonObject } from "../wire/applets";
import type { SessionId } from "../wire/names";

export interface AppletNow {
  readonly applet: string;
  readonly state: JsonObject;
  /** -1 until the server has said it. */
  readonly version: number;
  /** What names its content now; null if it is gone, undefined if it is what it was when it was opened. */
  readonly hash?: string | null | undefined;
}

export type AppletsNow = ReadonlyMap<SessionId, AppletNow>;

export function applyAppletFrame(applets: AppletsNow, frame: AppletFrame): AppletsNow {
  const known = applets.get(frame.session);
  const before: AppletNow = known?.applet === frame.applet ? known : { applet: frame.applet, state: {}, version: -1 };
  switch (frame.type) {
    case "applet_state":
      return frame.version <= before.version ? applets : new Map(applets).set(frame.session, { ...before, state: frame.state, version: frame.version });
    case "applet_changed":
      return new Map(applets).set(frame.session, { ...before, hash: frame.hash ?? null });
  }
}

/** Nothing is followed there any more. */
export function withoutApplet(applets: AppletsNow, session: SessionId): AppletsNow {
  if (!applets.has(session)) {
    return applets;
  }
  const left = new Map(applets);
  left.delete(session);
  return left;
}
