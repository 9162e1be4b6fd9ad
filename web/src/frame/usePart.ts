// A part of the page whose code is not in the first load.
import { useEffect, useState } from "react";

/** Its code comes so long after the first load, or when it is wanted. */
const AFTER_MS = 1_000;

/**
 * A part of the page once it is loaded. Not by `lazy`, which shows nothing for a moment even if all is there: what is
 * typed right after the keys that open it is meant for it.
 */
export function usePart<Part>(load: () => Promise<Part>, wanted: boolean): Part | null {
  const [part, setPart] = useState<{ part: Part } | null>(null);
  const missing = part === null;
  useEffect(() => {
    if (!missing) {
      return undefined;
    }
    const timer = setTimeout(
      () =>
        void load().then(
          (loaded) => setPart({ part: loaded }),
          // Without an answer it is asked for again when it is wanted.
          () => undefined,
        ),
      wanted ? 0 : AFTER_MS,
    );
    return () => {
      clearTimeout(timer);
    };
  }, [missing, load, wanted]);
  return part?.part ?? null;
}
