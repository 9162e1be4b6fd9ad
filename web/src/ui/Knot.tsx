// A knot on the thread, 14 px square. Its shape tells what its colour alone must not. What lies inside a ring is the
// colour of the ground, `--ground`, so that the thread does not show through.

export type KnotShape =
  /** Tied, at rest. */
  | "solid"
  /** Alive: it breathes. */
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
  | "ahead";

export function Knot({ shape, quiet = false }: { shape: KnotShape; quiet?: boolean }) {
  return (
    <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" className={`overflow-visible ${quiet ? "text-edge" : "text-thread"}`}>
      {shape === "breathing" && (
        <circle cx="7" cy="7" r="6" fill="currentColor" opacity="0.3" className="origin-center animate-breathe" />
      )}
      <Shape shape={shape} />
    </svg>
  );
}

function Shape({ shape }: { shape: KnotShape }) {
  const ring = { fill: "var(--ground)", stroke: "currentColor", strokeWidth: 1.75 };
  switch (shape) {
    case "solid":
    case "breathing":
      return <circle cx="7" cy="7" r="4" fill="currentColor" />;
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
