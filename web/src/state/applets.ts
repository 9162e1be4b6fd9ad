// The applet that is open in a session, folded from the frames that follow it.
//
// Invariant: of two states the one with the higher version stays. What is said of another applet than the one that is followed
// takes its place: the page follows one at a time in each session. Whatever state comes, it can be read again from then on.
import type { AppletFrame, JsonObject } from "../wire/applets";
import type { SessionId } from "../wire/names";

export interface AppletNow {
  readonly applet: string;
  readonly state: JsonObject;
  /** -1 until the server has said it. */
  readonly version: number;
  /** What names its content now; null if it is gone, undefined if it is what it was when it was opened. */
  readonly hash?: string | null | undefined;
  /** Why the server can not read its state: its file was edited, and holds none. */
  readonly trouble: string | null;
}

export type AppletsNow = ReadonlyMap<SessionId, AppletNow>;

export function applyAppletFrame(applets: AppletsNow, frame: AppletFrame): AppletsNow {
  const known = applets.get(frame.session);
  const before: AppletNow = known?.applet === frame.applet ? known : { applet: frame.applet, state: {}, version: -1, trouble: null };
  switch (frame.type) {
    case "applet_state":
      if (frame.version > before.version) {
        return new Map(applets).set(frame.session, { ...before, state: frame.state, version: frame.version, trouble: null });
      }
      return before.trouble === null ? applets : new Map(applets).set(frame.session, { ...before, trouble: null });
    case "applet_state_unreadable":
      return new Map(applets).set(frame.session, { ...before, trouble: frame.message });
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
