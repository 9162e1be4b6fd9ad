// Keeps the turn that is read where it is while the transcript becomes wider or narrower.

/** As far from the end as the transcript itself takes for the end: there it stays at the end by itself. */
const END_PX = 48;
/** So many frames in a row in which nothing moved. */
const STILL_FRAMES = 6;
/** So many frames are waited for that. */
const MOST_FRAMES = 90;
const MOVES = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/**
 * To be called before the width changes. Goes on until the page lies still or the reader moves, and not before the change
 * `isOver`, if that takes longer.
 */
export function keepPlace(around: HTMLElement | null, isOver: () => boolean = () => true): void {
  const log = around?.querySelector<HTMLElement>("[role=log]") ?? null;
  if (log === null || log.scrollHeight - log.scrollTop - log.clientHeight <= END_PX) {
    return;
  }
  const top = () => log.getBoundingClientRect().top;
  const anchor = [...log.querySelectorAll<HTMLElement>("article")].find((turn) => turn.getBoundingClientRect().bottom > top() + 1);
  if (anchor === undefined) {
    return;
  }
  const before = anchor.getBoundingClientRect().top - top();
  let [frames, still, moved] = [0, 0, false];
  const leave = () => {
    moved = true;
  };
  for (const move of MOVES) {
    log.addEventListener(move, leave, { once: true, passive: true });
  }
  const look = () => {
    frames += isOver() ? 1 : 0;
    if (!moved && anchor.isConnected) {
      const by = anchor.getBoundingClientRect().top - top() - before;
      still = Math.abs(by) < 1 ? still + 1 : 0;
      if (still === 0) {
        log.scrollTop += by;
      }
      if (!isOver() || (still < STILL_FRAMES && frames < MOST_FRAMES)) {
        requestAnimationFrame(look);
        return;
      }
    }
    for (const move of MOVES) {
      log.removeEventListener(move, leave);
    }
  };
  requestAnimationFrame(look);
}
