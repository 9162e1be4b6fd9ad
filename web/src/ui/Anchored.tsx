// A small sheet beside what it belongs to, above everything else of the page; what it lies over clips it nowhere.
//
// Invariant: it is in the browser's top layer, stays inside the window, covers its anchor nowhere, and comes right after it in
// the order of the focus, so that Tab leads into it. Whoever is in it when it closes is on its anchor's button afterwards.
import type { ReactNode, RefObject } from "react";
import { useEffect, useEffectEvent, useLayoutEffect, useRef } from "react";

import type { Side } from "./besideAnchor";
import { besideAnchor } from "./besideAnchor";

interface AnchoredProps {
  anchor: RefObject<HTMLElement | null>;
  label: string;
  side: Side;
  className?: string;
  id?: string;
  /** A press outside of it and of its anchor, be it in a frame. */
  onPressElsewhere(): void;
  children: ReactNode;
}

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
      // As high as it would be by itself: what was set before may not fit any more.
      element.style.maxHeight = "";
      const { left, top, maxHeight } = besideAnchor(box, { width: element.offsetWidth, height: element.offsetHeight }, { width: innerWidth, height: innerHeight }, side);
      element.style.left = `${left}px`;
      element.style.top = `${top}px`;
      if (element.offsetHeight > maxHeight) {
        element.style.maxHeight = `${maxHeight}px`;
      }
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
  // While it is still part of the page: what is gone has lost the focus already.
  useLayoutEffect(() => {
    const element = sheet.current;
    const opener = anchor.current?.querySelector<HTMLElement>("button, a[href]");
    return () => {
      if (element?.contains(document.activeElement)) {
        opener?.focus({ preventScroll: true });
      }
    };
  }, [anchor]);
  const press = useEffectEvent((event: PointerEvent) => {
    const inside = [sheet.current, anchor.current].some((element) => event.target instanceof Node && element?.contains(event.target));
    if (!inside) {
      onPressElsewhere();
    }
  });
  const leave = useEffectEvent(() => {
    if (document.activeElement instanceof HTMLIFrameElement) {
      onPressElsewhere();
    }
  });
  useEffect(() => {
    const listener = (event: PointerEvent) => {
      press(event);
    };
    // The page hears nothing of a press in a frame but that the focus goes there; Firefox names the frame only after that.
    let left: ReturnType<typeof setTimeout> | undefined;
    const blur = () => {
      left = setTimeout(() => leave());
    };
    document.addEventListener("pointerdown", listener);
    window.addEventListener("blur", blur);
    return () => {
      document.removeEventListener("pointerdown", listener);
      window.removeEventListener("blur", blur);
      clearTimeout(left);
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
