// Runs what is to be drawn with the next frame, a few times a second at most; and without a frame, where the browser
// draws none.
//
// Invariant: each asking runs once, and soon even if the page was hidden after it: frames stop then without a word. However
// much one drawing costs, in the long run all of them together take no more than a small part of the page's time; a page
// that has rested may do a lot at once, as for opening a session.

/** Nobody reads faster than this, and every drawing of a long text costs. */
const GAP_MS = 50;
/** In so many milliseconds one is for drawing. */
const ONE_IN = 12;
/** So much of what was not needed is kept for later. */
const MOST_SAVED_MS = 250;
/** Words that arrive are not kept from the reader for longer, whatever drawing costs. */
const MOST_GAP_MS = 500;
/** How long to wait for a frame. */
const WITHOUT_FRAME_MS = 250;

/** Each asking waits for the one before it to have run. */
export function createSoon(): (run: () => void) => void {
  let lastAt = -Infinity;
  let savedMs = MOST_SAVED_MS;
  const runAndCount = (run: () => void) => {
    const begunAt = performance.now();
    savedMs = Math.min(MOST_SAVED_MS, savedMs + (begunAt - lastAt) / ONE_IN);
    lastAt = begunAt;
    run();
    // By then the browser has laid out and painted what was changed.
    setTimeout(() => {
      savedMs = Math.max(savedMs - (performance.now() - begunAt), -MOST_GAP_MS / ONE_IN);
    });
  };
  return (run) => {
    const waitMs = lastAt + Math.max(GAP_MS, -savedMs * ONE_IN) - performance.now();
    const onFrame = () => {
      const once = () => {
        cancelAnimationFrame(frame);
        clearTimeout(timer);
        runAndCount(run);
      };
      const frame = requestAnimationFrame(once);
      const timer = setTimeout(once, WITHOUT_FRAME_MS);
    };
    if (waitMs > 0) {
      setTimeout(onFrame, waitMs);
    } else {
      onFrame();
    }
  };
}
