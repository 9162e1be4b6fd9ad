// Tells that the reader wants to see what lies above the beginning: they move up where nothing more is.
//
// Invariant: only a reader's own move counts. A session that is shorter than the page is at its top when it opens, and
// that alone asks for nothing.
import type { RefObject } from "react";
import { useEffect, useEffectEvent } from "react";

/** So near to the top is at the top. */
const NEAR_PX = 240;
/** A page that was pushed goes on moving by itself for so long. */
const MOMENTUM_MS = 1_500;
const UPWARDS = new Set(["ArrowUp", "PageUp", "Home"]);

/** `reach` is null while there is nothing to be had. */
export function useReachingUp(scroller: RefObject<HTMLElement | null>, reach: (() => void) | null): void {
  const moveUp = useEffectEvent(() => {
    if (reach !== null && (scroller.current?.scrollTop ?? NEAR_PX) < NEAR_PX) {
      reach();
    }
  });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return undefined;
    }
    let movedAt = -Infinity;
    let lastTop = element.scrollTop;
    let touchY = 0;
    const moves = () => {
      movedAt = performance.now();
    };
    const wheel = (event: WheelEvent) => {
      moves();
      if (event.deltaY < 0) {
        moveUp();
      }
    };
    const touchStart = (event: TouchEvent) => {
      touchY = event.touches[0]?.clientY ?? 0;
    };
    const touchMove = (event: TouchEvent) => {
      moves();
      if ((event.touches[0]?.clientY ?? 0) > touchY) {
        moveUp();
      }
    };
    const press = (event: KeyboardEvent) => {
      moves();
      if (UPWARDS.has(event.key) && event.target === element) {
        moveUp();
      }
    };
    const scroll = () => {
      const top = element.scrollTop;
      if (top < lastTop && performance.now() - movedAt < MOMENTUM_MS) {
        moveUp();
      }
      lastTop = top;
    };
    const dragged = (event: PointerEvent) => {
      if (event.buttons > 0) {
        moves();
      }
    };
    const quietly = { passive: true };
    element.addEventListener("wheel", wheel, quietly);
    element.addEventListener("touchstart", touchStart, quietly);
    element.addEventListener("touchmove", touchMove, quietly);
    element.addEventListener("keydown", press);
    element.addEventListener("pointerdown", dragged, quietly);
    element.addEventListener("pointermove", dragged, quietly);
    element.addEventListener("scroll", scroll, quietly);
    return () => {
      element.removeEventListener("wheel", wheel);
      element.removeEventListener("touchstart", touchStart);
      element.removeEventListener("touchmove", touchMove);
      element.removeEventListener("keydown", press);
      element.removeEventListener("pointerdown", dragged);
      element.removeEventListener("pointermove", dragged);
      element.removeEventListener("scroll", scroll);
    };
  }, [scroller]);
}
