// Runs what is to be drawn with the next frame, a few times a second at most; and without a frame, where the browser
// draws none.
//
// Invariant: each asking runs once, and soon even if the page was hidden after it: frames stop then without a word.

/** Nobody reads faster than this, and every drawing of a long text costs. */
const GAP_MS = 50;
/** How long to wait for a frame. */
const WITHOUT_FRAME_MS = 250;

/** Each asking waits for the one before it to have run. */
export function createSoon(): (run: () => void) => void {
  let lastAt = -Infinity;
  return (run) => {
    const gapMs = lastAt + GAP_MS - performance.now();
    const onFrame = () => {
      const once = () => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
        lastAt = performance.now();
        run();
      };
      const frame = requestAnimationFrame(once);
      const timer = setTimeout(once, WITHOUT_FRAME_MS);
    };
    if (gapMs > 0) {
      setTimeout(onFrame, gapMs);
    } else {
      onFrame();
    }
  };
}
