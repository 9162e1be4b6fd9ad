// A small sheet beside what it belongs to, above everything else of the page; what it lies over clips it nowhere.
//
// Invariant: it is in the browser's top layer, stays inside the window, and comes right after its anchor in the order of
// the focus, so that Tab leads into it.
import type { ReactNode, RefObject } from "react";
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";

interface AnchoredProps {
  anchor: RefObject<HTMLElement | null>;
  label: string;
  /** Below the anchor, or to its right where there is room; `end` lets their right edges meet. */
  side: "below" | "end" | "right";
  className?: string;
  id?: string;
  /** A press outside of it and of its anchor. */
  onPressElsewhere(): void;
  children: ReactNode;
}

const GAP_PX = 6;
const EDGE_PX = 8;

/** Open for as long as it is rendered. */
export function Anchored({ anchor, label, side, className = "", id, onPressElsewhere, children }: AnchoredProps) {
  const sheet = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = sheet.current;
    if (element === null) {
      return undefined;
    }
    element.showPopover();
    const place = () => {
      const box = anchor.current?.getBoundingClientRect();
      if (box === undefined) {
        return;
      }
      const { offsetWidth, offsetHeight } = element;
      const besides = side === "right" && box.right + GAP_PX + offsetWidth + EDGE_PX <= innerWidth;
      const left = besides ? box.right + GAP_PX : side === "end" ? box.right - offsetWidth : box.left;
      const below = box.bottom + GAP_PX;
      // Where it does not fit below, it lies above.
      const top = besides ? box.top : below + offsetHeight + EDGE_PX <= innerHeight ? below : box.top - GAP_PX - offsetHeight;
      element.style.left = `${Math.max(EDGE_PX, Math.min(left, innerWidth - offsetWidth - EDGE_PX))}px`;
      element.style.top = `${Math.max(EDGE_PX, Math.min(top, innerHeight - offsetHeight - EDGE_PX))}px`;
    };
    place();
    const grown = new ResizeObserver(place);
    grown.observe(element);
    addEventListener("resize", place);
    // Whatever scrolls takes the anchor along.
    document.addEventListener("scroll", place, { capture: true, passive: true });
    return () => {
      grown.disconnect();
      removeEventListener("resize", place);
      document.removeEventListener("scroll", place, { capture: true });
    };
  }, [anchor, side]);
  const press = useEffectEvent((event: PointerEvent) => {
    const inside = [sheet.current, anchor.current].some((element) => event.target instanceof Node && element?.contains(event.target));
    if (!inside) {
      onPressElsewhere();
    }
  });
  useEffect(() => {
    const listener = (event: PointerEvent) => {
      press(event);
    };
    document.addEventListener("pointerdown", listener);
    return () => {
      document.removeEventListener("pointerdown", listener);
    };
  }, []);
  return (
    <div
      ref={sheet}
      id={id}
      popover="manual"
      role="group"
      aria-label={label}
      className={`fixed inset-auto m-0 max-h-[70dvh] overflow-y-auto overscroll-contain rounded-xl border border-rule bg-paper p-1.5 text-ink shadow-sheet ${className}`}
    >
      {children}
    </div>
  );
}
