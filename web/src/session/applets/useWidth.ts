// How wide the applet beside the transcript is; remembered in this browser.
import type { RefObject } from "react";
import { useState } from "react";

import { keepPlace } from "../side/keepPlace";
import type { Side } from "../side/useSide";
import { clamp } from "../side/useSide";

const SETTING = "throughline.applet-width";
export const USUAL_PX = 480;

export function useWidth(column: RefObject<HTMLElement | null>): Pick<Side, "width" | "resize" | "drag"> {
  const [width, setWidth] = useState(() => widthOf(localStorage.getItem(SETTING)));
  const store = (wish: number) => {
    const next = clamp(wish);
    setWidth(next);
    localStorage.setItem(SETTING, String(next));
  };
  return {
    width,
    resize(wish) {
      keepPlace(column.current);
      store(wish);
    },
    drag() {
      let over = false;
      keepPlace(column.current, () => over);
      return (wish) => {
        over = true;
        store(wish);
      };
    },
  };
}

/** What was not written by this page is as good as nothing. */
export function widthOf(stored: string | null): number {
  const width = Number(stored ?? "");
  return stored !== null && Number.isFinite(width) && width > 0 ? clamp(width) : USUAL_PX;
}
