// The few signs that the page uses, drawn with one stroke on a 20 px grid.

const PATHS = {
  back: "M12.5 4.5 7 10l5.5 5.5",
  open: "M5.5 8l4.5 4.5L14.5 8",
  picture: "M3 4h14v12H3zM3 13.5l4-4 3.5 3.5 2-2 4.5 4.5M12.75 7.75h.01",
  copy: "M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5z",
  handOver: "M3 7h12M11.5 3.5 15 7l-3.5 3.5M17 13H5M8.5 9.5 5 13l3.5 3.5",
  plus: "M10 4v12M4 10h12",
  trash: "M3.5 5.5h13M8 5.5V3.75h4V5.5M5 5.5l.75 10.75h8.5L15 5.5M8.5 8.5v5M11.5 8.5v5",
  send: "M10 16V4.5M5 9.5l5-5 5 5",
  down: "M10 4v11.5M5 10.5l5 5 5-5",
  close: "M5 5l10 10M15 5 5 15",
  pencil: "M4 16l.75-3.5L13 4.25 15.75 7 7.5 15.25zM11.25 6l2.75 2.75",
  keyboard: "M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.75h7",
} as const;

export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg
      viewBox="0 0 20 20"
      width="20"
      height="20"
      aria-hidden="true"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The sign for "stop": a filled square, as on every player. */
export function StopIcon() {
  return (
    <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" fill="currentColor">
      <rect x="4.5" y="4.5" width="11" height="11" rx="2" />
    </svg>
  );
}
