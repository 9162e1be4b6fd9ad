// Which applet is open, as the address says it: `?applet=SLUG&k=v…`, where all other fields are what it was opened with.
//
// Invariant: what the page writes it reads back the same. `_past` is the page's own field: it names the turn and the output that hold
// the applet as it was shown then.
import { placeHref, placeOf } from "../../ui/place";
import type { AppletParams } from "../../wire/applets";
import type { OutputId, SessionId } from "../../wire/names";

export interface AppletAddress {
  /** A slug, or `SHOWN`. */
  readonly applet: string;
  readonly params: AppletParams;
  /** Null for the applet as it is today. */
  readonly past: PastTurn | null;
}

export interface PastTurn {
  readonly turn: number;
  readonly output: OutputId;
}

/** The applet that the session showed last and nobody has saved. */
export const SHOWN = "_shown";
const APPLET_FIELD = "applet";
const PAST_FIELD = "_past";
const SLUG = /^(?:_shown|[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)$/;

export function appletAt(search: string): AppletAddress | null {
  const fields = new URLSearchParams(search);
  const applet = fields.get(APPLET_FIELD);
  if (applet === null || !SLUG.test(applet)) {
    return null;
  }
  const params = Object.fromEntries([...fields].filter(([name]) => name !== APPLET_FIELD && name !== PAST_FIELD));
  return { applet, params, past: pastOf(fields.get(PAST_FIELD)) };
}

function pastOf(text: string | null): PastTurn | null {
  const place = text === null ? null : placeOf(`#${text}`);
  return place?.shown === undefined ? null : { turn: place.turn, output: place.shown.id };
}

/** An applet may not be given the page's own fields. */
export function isParam(name: string): boolean {
  return name !== APPLET_FIELD && name !== PAST_FIELD && name !== "";
}

export function searchOf({ applet, params, past }: AppletAddress): string {
  const fields = new URLSearchParams({ [APPLET_FIELD]: applet });
  for (const [name, value] of Object.entries(params)) {
    if (isParam(name)) {
      fields.set(name, value);
    }
  }
  if (past !== null) {
    fields.set(PAST_FIELD, placeHref({ turn: past.turn, tool: null, shown: { id: past.output, lines: null } }).slice(1));
  }
  return `?${fields.toString()}`;
}

export function appletHref(session: SessionId, address: AppletAddress): string {
  return `/s/${session}${searchOf(address)}`;
}

/** The items of the context set `applet`; null for what no set can name. */
export function itemsOf({ applet, params, past }: AppletAddress): string[] | null {
  return past !== null || applet === SHOWN ? null : [applet, ...Object.entries(params).map(([name, value]) => `${name}=${value}`)];
}

/** The same the other way. */
export function addressOfItems([applet, ...pairs]: readonly string[]): AppletAddress | null {
  if (applet === undefined) {
    return null;
  }
  const params = pairs.map((pair) => {
    const [name = "", ...value] = pair.split("=");
    return [name, value.join("=")] as const;
  });
  return { applet, params: Object.fromEntries(params), past: null };
}

export function sameAddress(one: AppletAddress | null, other: AppletAddress | null): boolean {
  return one === other || (one !== null && other !== null && searchOf(one) === searchOf(other));
}
