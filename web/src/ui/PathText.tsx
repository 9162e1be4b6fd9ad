// A directory. Where it does not fit, its beginning gives way: the end tells directories apart.

export function PathText({ path }: { path: string }) {
  const cut = Math.max(path.lastIndexOf("/", path.length - 2), 0);
  return (
    <span className="flex min-w-0 font-mono text-[0.9em]" title={path}>
      {cut > 0 && <span className="min-w-[2ch] shrink-[9999] truncate">{path.slice(0, cut)}</span>}
      <span className="min-w-0 truncate">{path.slice(cut)}</span>
    </span>
  );
}
