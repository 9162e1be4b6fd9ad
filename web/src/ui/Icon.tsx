// The few signs that the page uses, drawn with one stroke on a 20 px grid.

const PATHS = {
  back: "M12.5 4.5 7 10l5.5 5.5",
  open: "M5.5 8l4.5 4.5L14.5 8",
  picture: "M3 4h14v12H3zM3 13.5l4-4 3.5 3.5 2-2 4.5 4.5M12.75 7.75h.01",
  copy: "M7 7V3.5h9.5V13H13M3.5 7H13v9.5H3.5z",
  check: "M4 10.5l4 4 8-9",
  select: "M3 4h4.5v4.5H3zM3 11.5h4.5V16H3zM11 6.25h6M11 13.75h6",
  handOver: "M3 7h12M11.5 3.5 15 7l-3.5 3.5M17 13H5M8.5 9.5 5 13l3.5 3.5",
  mark: "M6 3.5h8v13l-4-3-4 3z",
  plus: "M10 4v12M4 10h12",
  minus: "M4 10h12",
  trash: "M3.5 5.5h13M8 5.5V3.75h4V5.5M5 5.5l.75 10.75h8.5L15 5.5M8.5 8.5v5M11.5 8.5v5",
  send: "M10 16V4.5M5 9.5l5-5 5 5",
  down: "M10 4v11.5M5 10.5l5 5 5-5",
  close: "M5 5l10 10M15 5 5 15",
  pencil: "M4 16l.75-3.5L13 4.25 15.75 7 7.5 15.25zM11.25 6l2.75 2.75",
  keyboard: "M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.75h7",
  fork: "M6 7v6M6 7a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM6 17a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM14 7a2 2 0 1 1 0-4 2 2 0 0 1 0 4zM14 7c0 4-8 2-8 6",
  file: "M5.5 2.75h6l3.5 3.5v11h-9.5zM11.25 3v3.5h3.5",
  terminal: "M2.75 4h14.5v12H2.75zM5.5 8l2.25 2-2.25 2M9.5 12.5h4",
  search: "M9 14a5 5 0 1 1 0-10 5 5 0 0 1 0 10zM12.75 12.75 16.5 16.5",
  applet: "M3 4h14v12H3zM3 7.5h14M5.25 5.75h.01M7.5 5.75h.01M7 13.5v-3M10 13.5V10M13 13.5v-2",
  globe: "M10 17a7 7 0 1 1 0-14 7 7 0 0 1 0 14zM3.25 10h13.5M10 3c2.5 2.5 2.5 11.5 0 14M10 3c-2.5 2.5-2.5 11.5 0 14",
  move: "M3 10h13M12 6l4 4-4 4",
  thought: "M4 5.5h12M4 10h8.5M4 14.5h5",
  switch: "M4 7h11M12.5 4 15.5 7l-3 3M16 13.5H5M7.5 10.5l-3 3 3 3",
  tool: "M12.5 3.5a4 4 0 0 0-4 5.5L3.5 14 6 16.5l5-5a4 4 0 0 0 5.5-4l-2.5 2-3-3 2-2.5z",
  changes: "M10 3.5v7M6.5 7h7M6.5 15.5h7",
  contents: "M5 3v14M5 5.5h.01M5 10h.01M5 14.5h.01M9 5.5h8M9 10h8M9 14.5h5.5",
  filter: "M3.5 5h13M6 10h8M8.5 15h3",
  archive: "M3 4h14v3.5H3zM4.5 7.5V16h11V7.5M8 10.5h4",
  tag: "M3.5 3.5h6l7 7-6 6-7-7zM7 7h.01",
  pin: "M7 3.5h6M8 3.5v5L5.5 11.5h9L12 8.5v-5M10 11.5V17",
  link: "M8.5 11.5a3 3 0 0 0 4.25 0l3-3a3 3 0 0 0-4.25-4.25l-1 1M11.5 8.5a3 3 0 0 0-4.25 0l-3 3a3 3 0 0 0 4.25 4.25l1-1",
  more: "M4.4 10a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM9.5 10a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0zM14.6 10a.5.5 0 1 0 1 0 .5.5 0 1 0-1 0z",
  history: "M10 17a7 7 0 1 0-6.6-9.3M3.25 3.75V7.75h4M10 6.25V10l2.75 1.75",
  up: "M10 16V4.5M5 9.5l5-5 5 5",
  settings: "M3 5.5h7M14 5.5h3M3 14.5h3M10 14.5h7M12 3.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM8 12.5a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
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
