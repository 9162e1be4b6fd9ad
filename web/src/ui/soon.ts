// Runs what is to be drawn with the next frame; and without one, where the browser draws none.
//
// Invariant: it runs once, and soon even if the page was hidden after it was asked for: frames stop then without a word.

/** How long to wait for a frame. */
const WITHOUT_FRAME_MS = 250;

export function soon(run: () => void): void {
  const once = () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
    run();
  };
  const frame = requestAnimationFrame(once);
  const timer = setTimeout(once, WITHOUT_FRAME_MS);
}
