// Which applet stands beside the transcript: the one in the address, and the one that the agent shows while somebody looks.
//
// Invariant: the address alone says what is open. What was open last is remembered in the session's context set `applet`, and never
// opened again by itself.
import { useEffect, useEffectEvent, useRef, useState } from "react";

import { useHttp } from "../../app/AppContext";
import type { Followed } from "../../state/followed";
import { ROOM } from "../side/useSide";
import { useMedia } from "../../ui/media";
import { navigate, usePath, useSearch } from "../../ui/navigation";
import type { OutputId, SessionRow } from "../../wire/names";
import type { AppletAddress } from "./address";
import { appletAt, itemsOf, sameAddress, searchOf, SHOWN } from "./address";

/** The applet that lists all applets. */
const BROWSER: AppletAddress = { applet: "applet-browser", params: {}, past: null };

export interface OpenApplet {
  /** Null where none is open. */
  readonly address: AppletAddress | null;
  /** There is room for it beside the transcript; else it lies over it. */
  readonly beside: boolean;
  /** Shown just now, and not opened: there was no room, or another one is open. */
  readonly fresh: OutputId | null;
  go(address: AppletAddress | null, how: "push" | "replace"): void;
  browse(): void;
}

export function useApplet(row: SessionRow, followed: Followed, running: boolean, writable: boolean): OpenApplet {
  const path = usePath();
  const search = useSearch();
  const beside = useMedia(ROOM);
  const here = path.replace(/\/$/, "") === `/s/${row.id}`;
  const address = here ? appletAt(search) : null;
  const go = (to: AppletAddress | null, how: "push" | "replace") => {
    if (here && !sameAddress(to, address)) {
      navigate(location.pathname + (to === null ? "" : searchOf(to)) + location.hash, how);
    }
  };
  const fresh = useShownLive(row, followed, beside && here, address, (to) => go(to, "replace"));
  useRemembered(row, followed, running, writable, address);
  return { address, beside, fresh, go, browse: () => go(BROWSER, "push") };
}

/** Opens what the agent shows while this session is looked at and nothing is open; gives what it showed and did not open. */
function useShownLive(row: SessionRow, { newestApplet }: Followed, hasRoom: boolean, open: AppletAddress | null, onOpen: (address: AppletAddress) => void): OutputId | null {
  const [fresh, setFresh] = useState<OutputId | null>(null);
  const seen = useRef({ session: row.id, seq: newestApplet?.seq ?? 0 });
  const shown = useEffectEvent((applet: NonNullable<Followed["newestApplet"]>) => {
    if (!applet.live || document.visibilityState !== "visible") {
      return;
    }
    // What is open may be in use: it is not taken from under anybody's hands.
    if (hasRoom && open === null) {
      onOpen({ applet: applet.slug ?? SHOWN, params: applet.params, past: null });
    } else {
      setFresh(applet.output);
    }
  });
  useEffect(() => {
    if (seen.current.session !== row.id) {
      seen.current = { session: row.id, seq: 0 };
    }
    if (newestApplet !== null && newestApplet.seq > seen.current.seq) {
      seen.current.seq = newestApplet.seq;
      shown(newestApplet);
    }
  }, [row.id, newestApplet]);
  // Whoever has it open sees it.
  if (fresh !== null && open !== null && open.past === null && open.applet === (newestApplet?.slug ?? SHOWN)) {
    setFresh(null);
  }
  return fresh;
}

/** Writes down which applet is open when the session comes to rest, and when the applet is left. */
function useRemembered(row: SessionRow, followed: Followed, running: boolean, writable: boolean, address: AppletAddress | null): void {
  const http = useHttp();
  const items = address === null ? null : itemsOf(address);
  const marked = followed.context?.sets["applet"];
  const last = useRef<{ items: string | null; session: string }>({ items: null, session: "" });
  const capture = useEffectEvent((session: string, wanted: readonly string[]) => {
    const text = JSON.stringify(wanted);
    const known = last.current.session === session ? last.current.items : null;
    if (writable && text !== (known ?? JSON.stringify(marked))) {
      last.current = { items: text, session };
      void http.captureApplet(session, [...wanted]);
    }
  });

  // A short turn may begin and end between two renders: then only its number tells that there was one.
  const before = useRef({ running, turns: row.turns, session: row.id });
  useEffect(() => {
    const { current } = before;
    before.current = { running, turns: row.turns, session: row.id };
    const hasEnded = current.session === row.id && (current.running || current.turns !== row.turns);
    if (hasEnded && !running && items !== null) {
      capture(row.id, items);
    }
  }, [running, items, row.id, row.turns]);

  const newest = useRef(items);
  useEffect(() => {
    if (items !== null) {
      newest.current = items;
    }
  }, [items]);
  const applet = items?.[0] ?? null;
  useEffect(() => {
    if (applet === null) {
      return undefined;
    }
    const leave = () => {
      if (newest.current !== null && newest.current[0] === applet) {
        capture(row.id, newest.current);
      }
    };
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, [applet, row.id]);
}
