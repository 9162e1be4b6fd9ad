// A picture that fills the window: fitted to it or at its true size, larger and smaller, moved by scrolling.
import type { KeyboardEvent, ReactNode } from "react";
import { useEffect, useRef, useState } from "react";

import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";

/** Null fits the window. */
type Zoom = number | null;

const STEPS = [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8];

interface PictureZoomProps {
  source: string;
  name: string;
  /** Where what changes the size stands: in the window's head. */
  onControls(controls: ReactNode): void;
}

export function PictureZoom({ source, name, onControls }: PictureZoomProps) {
  const region = useRef<HTMLDivElement>(null);
  const picture = useRef<HTMLImageElement>(null);
  const [zoom, setZoom] = useState<Zoom>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const step = (by: 1 | -1) => {
      // From what is seen now.
      const now = zoom ?? (width > 0 ? (picture.current?.clientWidth ?? width) / width : 1);
      const next = by > 0 ? STEPS.find((one) => one > now + 0.01) : STEPS.findLast((one) => one < now - 0.01);
      setZoom(next ?? now);
    };
    onControls(
      <ZoomControls zoom={zoom} onFit={() => setZoom(null)} onTrue={() => setZoom(1)} onLarger={() => step(1)} onSmaller={() => step(-1)} />,
    );
    const element = region.current;
    const press = (event: globalThis.KeyboardEvent) => {
      const act = { "+": () => step(1), "=": () => step(1), "-": () => step(-1), "0": () => setZoom(null), "1": () => setZoom(1) }[event.key];
      if (act !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        act();
      }
    };
    const dialog = element?.closest("dialog");
    dialog?.addEventListener("keydown", press);
    return () => dialog?.removeEventListener("keydown", press);
  }, [zoom, width, onControls]);
  const keepKeys = (event: KeyboardEvent) => {
    // Arrows move the picture; the page has no other use for them here.
    if (event.key.startsWith("Arrow")) {
      event.stopPropagation();
    }
  };
  return (
    <div ref={region} tabIndex={0} data-first-focus="" role="region" aria-label={`${name}: + and − change the size, 0 fits it, 1 shows its true size`} className={`picture-zoom ${zoom === null ? "picture-fits" : ""}`} onKeyDown={keepKeys}>
      <img
        ref={picture}
        src={source}
        alt={name}
        style={zoom === null || width === 0 ? undefined : { width: width * zoom }}
        onLoad={({ currentTarget }) => setWidth(currentTarget.naturalWidth)}
        onClick={() => setZoom(zoom === null ? 1 : null)}
      />
    </div>
  );
}

interface ZoomControlsProps {
  zoom: Zoom;
  onFit(): void;
  onTrue(): void;
  onLarger(): void;
  onSmaller(): void;
}

function ZoomControls({ zoom, onFit, onTrue, onLarger, onSmaller }: ZoomControlsProps) {
  const look = (pressed: boolean) => `min-h-9 rounded-md px-2.5 text-[0.8125rem] max-md:min-h-11 ${pressed ? "bg-press font-medium" : "text-soft hover:text-ink"}`;
  return (
    <div role="group" aria-label="Size" className="flex shrink-0 items-center">
      <IconButton label="Smaller" className="max-sm:hidden md:size-9!" onClick={onSmaller}>
        <Icon name="minus" />
      </IconButton>
      <button type="button" aria-pressed={zoom === null} className={look(zoom === null)} onClick={onFit}>
        Fit
      </button>
      <button type="button" aria-pressed={zoom === 1} className={look(zoom === 1)} onClick={onTrue}>
        {zoom === null || zoom === 1 ? "100 %" : `${Math.round(zoom * 100)} %`}
      </button>
      <IconButton label="Larger" className="max-sm:hidden md:size-9!" onClick={onLarger}>
        <Icon name="plus" />
      </IconButton>
    </div>
  );
}
