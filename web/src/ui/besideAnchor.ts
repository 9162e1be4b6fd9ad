// Where a small sheet lies beside what it belongs to.
//
// Invariant: it lies in the window and never over its anchor: where it fits on no side, it is as high as the larger one.

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Below the anchor, or to its right where there is room; `end` lets their right edges meet. */
export type Side = "below" | "end" | "right";

export interface SheetPlace {
  readonly left: number;
  readonly top: number;
  readonly maxHeight: number;
}

const GAP_PX = 6;
const EDGE_PX = 8;

export function besideAnchor(anchor: Box, sheet: Size, view: Size, side: Side): SheetPlace {
  const within = (at: number, extent: number, all: number) => Math.max(EDGE_PX, Math.min(at, all - extent - EDGE_PX));
  if (side === "right" && anchor.right + GAP_PX + sheet.width + EDGE_PX <= view.width) {
    return { left: anchor.right + GAP_PX, top: within(anchor.top, sheet.height, view.height), maxHeight: view.height - 2 * EDGE_PX };
  }
  const left = within(side === "end" ? anchor.right - sheet.width : anchor.left, sheet.width, view.width);
  const below = view.height - EDGE_PX - (anchor.bottom + GAP_PX);
  const above = anchor.top - GAP_PX - EDGE_PX;
  if (sheet.height <= below || below >= above) {
    return { left, top: anchor.bottom + GAP_PX, maxHeight: below };
  }
  return { left, top: Math.max(EDGE_PX, anchor.top - GAP_PX - sheet.height), maxHeight: above };
}
