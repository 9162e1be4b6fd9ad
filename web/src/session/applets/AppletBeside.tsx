// The place of the open applet: beside the transcript, as wide as it was left, or over it where there is no room.
//
// Invariant: the element stays the same when the room changes, so that a frame is not loaded anew. What is drawn in it is loaded when
// it is first wanted.
import type { RefObject } from "react";
import { useEffect, useRef } from "react";

import type { Followed } from "../../state/followed";
import { PanelBoundary } from "../../ui/Boundary";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { latePart, useLatePart } from "../../ui/latePart";
import type { SessionRow } from "../../wire/names";
import { Edge } from "../side/SidePanel";
import { READING_PX } from "../side/useSide";
import type { OpenApplet } from "./useApplet";
import { USUAL_PX, useWidth } from "./useWidth";
import "./AppletBeside.css";

const PANEL = latePart(async () => (await import("./AppletPanel")).AppletPanel);

interface AppletBesideProps {
  row: SessionRow;
  followed: Followed;
  open: OpenApplet;
  writable: boolean;
  /** Of the transcript. */
  column: RefObject<HTMLElement | null>;
}

export function AppletBeside({ row, followed, open, writable, column }: AppletBesideProps) {
  const { address, beside, go, browse } = open;
  const sized = useWidth(column);
  const late = useLatePart(PANEL, address !== null);
  const isOver = address !== null && !beside;
  const panel = useRef<HTMLElement>(null);
  // What it lies over can not be used meanwhile.
  useEffect(() => {
    if (!isOver) {
      return undefined;
    }
    const before = document.activeElement;
    panel.current?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) {
        before.focus({ preventScroll: true });
      }
    };
  }, [isOver]);
  if (address === null) {
    return null;
  }
  return (
    <aside
      ref={panel}
      tabIndex={-1}
      aria-label="Applet"
      // A frame that goes while somebody types in it leaves the focus here, and no letter becomes an answer.
      data-own-keys
      className={`applet-panel safe-top outline-none ${beside ? "applet-beside" : "applet-over"}`}
      style={beside ? { width: sized.width, maxWidth: `calc(100% - ${READING_PX}px)` } : undefined}
    >
      {beside && <Edge side={sized} label="Width of the applet" usual={USUAL_PX} />}
      {late.kind === "ready" ? (
        <PanelBoundary name="The applet" of={`${address.applet} ${address.past?.output ?? ""}`}>
          <late.part
            key={`${row.id} ${address.applet} ${address.past?.output ?? ""}`}
            row={row}
            followed={followed}
            address={address}
            writable={writable}
            go={go}
            onBrowse={browse}
            isOver={isOver}
            fresh={open.fresh}
          />
        </PanelBoundary>
      ) : (
        <div className="flex items-center justify-between gap-3 p-3 text-soft">
          {late.kind === "failed" ? (
            <span role="alert">
              This part of the page did not come. <Button onClick={late.retry}>Try again</Button>
            </span>
          ) : (
            <span>Opening…</span>
          )}
          <IconButton label="Close the applet" onClick={() => go(null, "push")}>
            <Icon name="close" />
          </IconButton>
        </div>
      )}
    </aside>
  );
}
