// The name, with its knot on a piece of thread.

export function Wordmark() {
  return (
    <span className="flex items-center gap-2.5 text-[1.0625rem] font-semibold tracking-tight">
      <svg viewBox="0 0 10 26" width="10" height="26" aria-hidden="true" className="text-thread">
        <path d="M5 0v26" stroke="currentColor" strokeWidth="2" />
        <circle cx="5" cy="13" r="4" fill="currentColor" />
      </svg>
      Throughline
    </span>
  );
}
