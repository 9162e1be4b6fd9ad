// The panel beside the transcript with its tabs, and the same as a sheet where there is no room beside it.
import type { KeyboardEvent, ReactNode } from "react";
import { useEffect, useRef } from "react";

import { IconButton } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { Icon } from "../../ui/Icon";
import type { Side, SideTab } from "./useSide";
import { clamp, READING_PX, SIDE_TABS, WIDTH } from "./useSide";
import "./SidePanel.css";

export const TAB_NAMES: Record<SideTab, string> = { contents: "Contents", shown: "Shown", context: "Context", changes: "Changes", plan: "Plan" };
/** How far a press of an arrow moves the edge. */
const STEP_PX = 32;

interface SideProps {
  side: Side;
  /** Where the panel stands says how it is drawn. */
  children(tab: SideTab, place: "beside" | "sheet"): ReactNode;
}

export function SideBeside({ side, children }: SideProps) {
  const { id, beside } = side;
  if (beside === null) {
    return null;
  }
  return (
    <aside id={id} aria-label={TAB_NAMES[beside]} className="side-panel safe-top" style={{ width: side.width, maxWidth: `calc(100% - ${READING_PX}px)` }}>
      <Edge side={side} label="Width of the side panel" usual={WIDTH.usual} />
      <div className="flex items-center gap-1 border-b border-rule pr-1 pl-2">
        <Tabs id={id} current={beside} onShow={side.show} />
        <IconButton label="Hide the side panel" className="ml-auto md:size-9!" onClick={side.close}>
          <Icon name="close" />
        </IconButton>
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${beside}`} className="flex min-h-0 flex-1 flex-col">
        {children(beside, "beside")}
      </div>
    </aside>
  );
}

export function SideSheet({ side, children }: SideProps) {
  const { id, sheet } = side;
  if (sheet === null) {
    return null;
  }
  return (
    <Dialog title={TAB_NAMES[sheet]} side onClose={side.close}>
      <div className="sticky top-16 z-10 -mx-2 -mt-2 mb-4 border-b border-rule bg-paper md:top-15">
        <Tabs id={`${id}-sheet`} current={sheet} onShow={side.show} />
      </div>
      <div role="tabpanel" id={`${id}-sheet-panel`} aria-labelledby={`${id}-sheet-${sheet}`}>
        {children(sheet, "sheet")}
      </div>
    </Dialog>
  );
}

function Tabs({ id, current, onShow }: { id: string; current: SideTab; onShow(tab: SideTab): void }) {
  const list = useRef<HTMLDivElement>(null);
  const press = (event: KeyboardEvent) => {
    const at = SIDE_TABS.indexOf(current);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: SIDE_TABS.length - 1 }[event.key];
    const tab = to === undefined ? undefined : SIDE_TABS[(to + SIDE_TABS.length) % SIDE_TABS.length];
    if (tab !== undefined) {
      event.preventDefault();
      onShow(tab);
      list.current?.querySelector<HTMLElement>(`[data-tab=${tab}]`)?.focus();
    }
  };
  // Where the panel is narrow not all of them fit, and the one that is shown is in sight.
  useEffect(() => {
    const tab = list.current?.querySelector<HTMLElement>(`[data-tab=${current}]`);
    if (list.current !== null && tab) {
      list.current.scrollLeft = tab.offsetLeft + tab.offsetWidth - list.current.clientWidth;
    }
  }, [current]);
  return (
    <div ref={list} role="tablist" aria-label="Side panel" className="side-tabs" onKeyDown={press}>
      {SIDE_TABS.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`${id}-${tab}`}
          data-tab={tab}
          aria-selected={tab === current}
          aria-controls={tab === current ? `${id}-panel` : undefined}
          tabIndex={tab === current ? 0 : -1}
          className="side-tab"
          onClick={() => onShow(tab)}
        >
          {TAB_NAMES[tab]}
        </button>
      ))}
    </div>
  );
}

/** The edge that makes the panel wider and narrower. While it is dragged only the panel's own width changes, and nothing is drawn anew. */
export function Edge({ side, label, usual }: { side: Pick<Side, "width" | "resize" | "drag">; label: string; usual: number }) {
  const drag = useRef<{ width: number; end(width: number): void } | null>(null);
  const leave = () => {
    drag.current?.end(drag.current.width);
    drag.current = null;
  };
  // It may be closed by a key meanwhile.
  useEffect(() => leave, []);
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={side.width}
      aria-valuemin={WIDTH.least}
      aria-valuemax={WIDTH.most}
      tabIndex={0}
      className="side-edge"
      onKeyDown={(event) => {
        const by = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX }[event.key];
        if (by !== undefined) {
          event.preventDefault();
          side.resize(side.width + by);
        }
      }}
      onDoubleClick={() => side.resize(usual)}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) {
          const panel = event.currentTarget.parentElement;
          const width = clamp((panel?.getBoundingClientRect().right ?? 0) - event.clientX);
          drag.current = { width, end: drag.current?.end ?? side.drag() };
          panel?.style.setProperty("width", `${width}px`);
        }
      }}
      onLostPointerCapture={leave}
    />
  );
}
