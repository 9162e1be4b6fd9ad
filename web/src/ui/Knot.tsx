// A knot on the thread, 14 px square. Its shape tells what its colour alone must not. What lies inside a ring is the
// colour of the ground, `--ground`, so that the thread does not show through.
//
// Invariant: what moves is a picture of its own. The browser then moves it by itself; a shape within a picture would have
// the page drawn anew for every step, sixty times a second while words arrive.
import type { ReactNode } from "react";

export type KnotShape =
  /** Tied, at rest. */
  | "solid"
  /** Alive: an open ring that turns and breathes. */
  | "breathing"
  /** Was let go before its end. */
  | "hollow"
  /** The thread broke here. */
  | "cut"
  /** Went wrong. */
  | "crossed"
  /** The thread was broken above and goes on from here. */
  | "retied"
  /** Still to come. */
  | "ahead"
  /** Waits for the person: it glows. */
  | "asking"
  /** Alive, but silent for too long. */
  | "stalled"
  /** Several small ones, drawn as one. */
  | "run"
  /** A loose end that can be taken up. */
  | "offered"
  /** A loose end that was taken up. */
  | "taken";

/** What runs, failed or broke off has a colour of its own; the rest is of the thread's. */
const COLOURS: Partial<Record<KnotShape, string>> = {
  breathing: "text-running",
  crossed: "text-failed",
  cut: "text-warning",
  stalled: "text-warning",
};

export function Knot({ shape, quiet = false, colour = COLOURS[shape] ?? "text-thread" }: { shape: KnotShape; quiet?: boolean; colour?: string }) {
  return (
    <span aria-hidden="true" className={`relative block size-3.5 ${quiet ? "text-edge" : colour}`}>
      {shape === "breathing" && (
        <Layer className="animate-breathe opacity-30">
          <circle cx="7" cy="7" r="6" fill="currentColor" />
        </Layer>
      )}
      {shape === "asking" && (
        <>
          <Layer>
            <circle cx="7" cy="7" r="11" fill="currentColor" opacity="0.16" />
          </Layer>
          <Layer className="animate-glow opacity-20">
            <circle cx="7" cy="7" r="8" fill="currentColor" />
          </Layer>
        </>
      )}
      <Layer className={shape === "breathing" ? "animate-turn" : ""}>
        <Shape shape={shape} />
      </Layer>
    </span>
  );
}

function Layer({ className = "", children }: { className?: string; children: ReactNode }) {
  return (
    <svg viewBox="0 0 14 14" className={`absolute inset-0 size-full overflow-visible ${className}`}>
      {children}
    </svg>
  );
}

/** A small knot for a step between two knots, on the same 14 px. */
export function Bead({ shape }: { shape: KnotShape }) {
  return (
    <span aria-hidden="true" className="flex size-3.5 items-center justify-center [&>span]:size-2.5">
      <Knot shape={shape} />
    </span>
  );
}

function Shape({ shape }: { shape: KnotShape }) {
  const ring = { fill: "var(--ground)", stroke: "currentColor", strokeWidth: 1.75 };
  switch (shape) {
    case "solid":
      return <circle cx="7" cy="7" r="4" fill="currentColor" />;
    case "breathing":
      return (
        <>
          <circle cx="7" cy="7" r="5" fill="var(--ground)" />
          <path
            d="M7 2.25A4.75 4.75 0 1 1 2.25 7"
            fill="none"
            stroke="currentColor"
            strokeWidth="2"
            strokeLinecap="round"
          />
        </>
      );
    case "hollow":
      return <circle cx="7" cy="7" r="3.75" {...ring} />;
    case "cut":
      return (
        <>
          <circle cx="7" cy="7" r="3.75" {...ring} />
          <path d="M7 3.25a3.75 3.75 0 0 0 0 7.5z" fill="currentColor" />
        </>
      );
    case "crossed":
      return (
        <>
          <circle cx="7" cy="7" r="5.25" fill="var(--ground)" />
          <path d="M3.75 3.75l6.5 6.5M10.25 3.75l-6.5 6.5" stroke="currentColor" strokeWidth="2" strokeLinecap="round" />
        </>
      );
    case "retied":
      return (
        <>
          <circle cx="7" cy="7" r="6" {...ring} strokeWidth={1.5} />
          <circle cx="7" cy="7" r="3" fill="currentColor" />
        </>
      );
    case "asking":
      return <path d="M7 .75 13.25 7 7 13.25.75 7z" fill="currentColor" stroke="var(--ground)" strokeWidth="1" strokeLinejoin="round" />;
    case "offered":
      return <path d="M7 1.5 12.5 7 7 12.5 1.5 7z" {...ring} strokeLinejoin="round" />;
    case "taken":
      return <path d="M7 1.5 12.5 7 7 12.5 1.5 7z" fill="currentColor" />;
    case "run":
      return (
        <>
          <circle cx="7" cy="7" r="7" fill="var(--ground)" />
          <path d="M7 1v.01M7 7v.01M7 13v.01" stroke="currentColor" strokeWidth="4" strokeLinecap="round" />
        </>
      );
    case "stalled":
      return (
        <>
          <circle cx="7" cy="7" r="5" {...ring} />
          <path d="M4.75 7h4.5" stroke="currentColor" strokeWidth="1.75" strokeLinecap="round" />
        </>
      );
    case "ahead":
      return <circle cx="7" cy="7" r="3.75" {...ring} strokeDasharray="2.2 1.75" />;
  }
}

/** One of the two ends of a broken thread, 14 by 18 px: its strands come apart. */
export function BrokenEnd({ side }: { side: "above" | "below" }) {
  return (
    <svg
      viewBox="0 0 14 18"
      width="14"
      height="18"
      aria-hidden="true"
      className={`overflow-visible text-thread ${side === "below" ? "-scale-100" : ""}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.1"
      strokeLinecap="round"
    >
      <path d="M6.6 0C6.6 6 5.4 8 1.5 13.5M6.9 0C7 8 6.2 10.5 6 17.5M7.1 0c.1 7 1 9.5 2.6 14.5M7.4 0c0 5 1.6 7.5 5.3 10.5" />
    </svg>
  );
}
