// What the browser says of the screen, as state.
import { useSyncExternalStore } from "react";

/** So much room that a third column beside the list and the transcript stands open until somebody closes it. */
export const WIDE = "(width >= 80rem)";
/** The list and what is open are two pages. */
export const NARROW = "(width < 48rem)";

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (onChange) => {
      const media = matchMedia(query);
      media.addEventListener("change", onChange);
      return () => {
        media.removeEventListener("change", onChange);
      };
    },
    () => matchMedia(query).matches,
  );
}
