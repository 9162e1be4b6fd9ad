// What stands beside the transcript, and where: in a panel where there is room, else in a sheet over it.
//
// Invariant: the tab, whether the panel is open, and its width are remembered in this browser. Opening, closing and
// resizing it leave the turn that is read where it is.
import type { RefObject } from "react";
import { useId, useState, useSyncExternalStore } from "react";

import { useMedia, WIDE } from "../../ui/media";
import { keepPlace } from "./keepPlace";

export const SIDE_TABS = ["contents", "shown", "context", "changes", "plan"] as const;
export type SideTab = (typeof SIDE_TABS)[number];

/** Room for a panel beside the list and the transcript. */
export const ROOM = "(width >= 68.75rem)";
/** The same where an applet stands there, too. */
const ROOM_BESIDE_APPLET = "(width >= 110rem)";
const SETTING = "throughline.side";
const CHANGED = "throughline:side";
export const WIDTH = { least: 288, most: 1120, usual: 368 };
/** What the transcript keeps, whatever the panel takes. */
export const READING_PX = 400;

interface Setting {
  readonly open: boolean | null;
  readonly tab: SideTab;
  readonly width: number;
}

export interface Side {
  /** Of the panel beside the transcript. */
  readonly id: string;
  /** What is shown beside the transcript. */
  readonly beside: SideTab | null;
  /** What is shown in the sheet over it. */
  readonly sheet: SideTab | null;
  readonly width: number;
  /** Shows a tab, wherever there is room. */
  show(tab: SideTab): void;
  /** The same, or closes what is shown. */
  toggle(tab: SideTab): void;
  close(): void;
  resize(width: number): void;
  /** The edge is taken: the turn that is read stays where it is until the given function is called with the width that it was left at. */
  drag(): (width: number) => void;
}

/** `appletBeside`: there is an applet beside the transcript, which leaves less room. */
export function useSide(column: RefObject<HTMLElement | null>, appletBeside = false): Side {
  const id = useId();
  const room = useMedia(appletBeside ? ROOM_BESIDE_APPLET : ROOM);
  const plenty = useMedia(WIDE);
  const stored = useSyncExternalStore(subscribe, () => localStorage.getItem(SETTING));
  const setting = parse(stored);
  const [sheet, setSheet] = useState<SideTab | null>(null);
  const open = setting.open ?? plenty;
  const beside = room && open ? setting.tab : null;
  const change = (wish: Partial<Setting>) => {
    keepPlace(column.current);
    store(wish);
  };
  const show = (tab: SideTab) => (room ? change({ open: true, tab }) : setSheet(tab));
  const close = () => (room ? change({ open: false }) : setSheet(null));
  return {
    id,
    beside,
    sheet: room ? null : sheet,
    width: setting.width,
    show,
    toggle: (tab) => (beside === tab || (!room && sheet === tab) ? close() : show(tab)),
    close,
    resize: (width) => change({ width: clamp(width) }),
    drag: () => {
      let over = false;
      keepPlace(column.current, () => over);
      return (width) => {
        over = true;
        store({ width: clamp(width) });
      };
    },
  };
}

function store(wish: Partial<Setting>): void {
  localStorage.setItem(SETTING, JSON.stringify({ ...parse(localStorage.getItem(SETTING)), ...wish }));
  dispatchEvent(new Event(CHANGED));
}

export function clamp(width: number): number {
  return Math.round(Math.min(Math.max(width, WIDTH.least), WIDTH.most));
}

/** What was not written by this page is as good as nothing. */
export function parse(stored: string | null): Setting {
  const usual: Setting = { open: null, tab: "contents", width: WIDTH.usual };
  if (stored === null) {
    return usual;
  }
  try {
    const { open, tab, width } = JSON.parse(stored) as Partial<Setting>;
    return {
      open: typeof open === "boolean" ? open : null,
      tab: SIDE_TABS.find((known) => known === tab) ?? usual.tab,
      width: typeof width === "number" && Number.isFinite(width) ? clamp(width) : usual.width,
    };
  } catch {
    return usual;
  }
}

function subscribe(onChange: () => void): () => void {
  addEventListener(CHANGED, onChange);
  addEventListener("storage", onChange);
  return () => {
    removeEventListener(CHANGED, onChange);
    removeEventListener("storage", onChange);
  };
}
