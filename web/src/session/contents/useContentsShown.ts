// Whether and where the contents are shown: beside the transcript where there is room, else in a sheet.
import { useId, useState, useSyncExternalStore } from "react";

import { useMedia, WIDE } from "../../ui/media";

const SETTING = "throughline.contents";
const CHANGED = "throughline:contents";

export interface ContentsShown {
  /** Of the contents beside the transcript. */
  readonly id: string;
  readonly beside: boolean;
  readonly sheet: boolean;
  toggle(): void;
  closeSheet(): void;
}

export function useContentsShown(): ContentsShown {
  const id = useId();
  const wide = useMedia(WIDE);
  const [beside, setBeside] = useContentsBeside();
  const [sheet, setSheet] = useState(false);
  const toggle = () => {
    if (wide) {
      setBeside(!beside);
    } else {
      setSheet(true);
    }
  };
  return { id, beside: wide && beside, sheet: sheet && !wide, toggle, closeSheet: () => setSheet(false) };
}

/** Whether the contents stand beside the transcript where there is room; remembered in this browser. */
function useContentsBeside(): [boolean, (shown: boolean) => void] {
  const shown = useSyncExternalStore(
    (onChange) => {
      addEventListener(CHANGED, onChange);
      return () => {
        removeEventListener(CHANGED, onChange);
      };
    },
    () => localStorage.getItem(SETTING) !== "hidden",
  );
  return [
    shown,
    (show) => {
      if (show) {
        localStorage.removeItem(SETTING);
      } else {
        localStorage.setItem(SETTING, "hidden");
      }
      dispatchEvent(new Event(CHANGED));
    },
  ];
}
