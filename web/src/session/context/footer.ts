// What stands in the line below the composer.
//
// Invariant: what is marked comes first and in its order. Files that the agent wrote fill what room is left, newest
// first; what it only read never does, nor what it deleted since.
import type { SessionContext } from "../../state/context";
import { absolutePath, provedValues } from "../../state/context";
import type { SessionId } from "../../wire/names";
import { addressOfItems, appletHref } from "../applets/address";

/** How many files have room. */
export const FOOTER_FILES = 5;

export interface Footer {
  /** Absolute paths. */
  readonly marked: readonly string[];
  /** How many are marked beyond those. */
  readonly more: number;
  /** Written by the agent, marked by nobody. */
  readonly automatic: readonly string[];
  readonly applet: { readonly slug: string; readonly href: string } | null;
}

/** Null where there is nothing to show. */
export function footerOf(context: SessionContext | null, session: SessionId, cwd: string): Footer | null {
  if (context === null) {
    return null;
  }
  const marks = (context.sets["files"] ?? []).map((file) => absolutePath(file, cwd));
  const marked = marks.slice(0, FOOTER_FILES);
  const automatic = writtenFiles(context)
    .filter((file) => !marks.includes(file))
    .slice(0, FOOTER_FILES - marked.length);
  const applet = appletOf(context.sets["applet"] ?? [], session);
  return marked.length === 0 && automatic.length === 0 && applet === null
    ? null
    : { marked, more: marks.length - marked.length, automatic, applet };
}

/** Newest first; a file that was deleted after it was written is none. */
function writtenFiles(context: SessionContext): string[] {
  const newest = new Map<string, number>();
  for (const { value, entry } of [...provedValues(context, "filesEdited"), ...provedValues(context, "filesCreated")]) {
    newest.set(value, Math.max(entry, newest.get(value) ?? 0));
  }
  for (const { value, entry } of provedValues(context, "filesDeleted")) {
    if (entry >= (newest.get(value) ?? Infinity)) {
      newest.delete(value);
    }
  }
  return [...newest].toSorted(([, a], [, b]) => b - a).map(([file]) => file);
}

/** The set's first item is the applet's name, the others are what it was opened with. */
function appletOf(items: readonly string[], session: SessionId): Footer["applet"] {
  const address = addressOfItems(items);
  return address === null ? null : { slug: address.applet, href: appletHref(session, address) };
}

/** The applet that shows a file of the session's directory; null for one outside of it, which the person has to confirm first. */
export function editorHref(session: SessionId, path: string, cwd: string): string | null {
  const within = path.startsWith(cwd.endsWith("/") ? cwd : `${cwd}/`) && !path.split("/").includes("..");
  return within ? appletHref(session, { applet: "text-editor", params: { path }, past: null }) : null;
}

/** Where a file is shown. */
export function fileHref(session: SessionId, path: string): string {
  return `/s/${session}?file=${encodeURIComponent(path)}`;
}
