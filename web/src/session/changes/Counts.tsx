// How many lines came and went.

export function Counts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="shrink-0 whitespace-nowrap tabular-nums">
      <span className="count-added">+{added.toLocaleString("en")}</span> <span className="count-removed">−{removed.toLocaleString("en")}</span>
      <span className="sr-only"> lines</span>
    </span>
  );
}
