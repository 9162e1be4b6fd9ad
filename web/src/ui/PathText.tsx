// A directory. Where it does not fit, its beginning gives way: the end tells directories apart.

interface PathTextProps {
  path: string;
  /** On a phone its last part is all there is room for. */
  brief?: boolean;
}

export function PathText({ path, brief = false }: PathTextProps) {
  const cut = Math.max(path.lastIndexOf("/", path.length - 2), 0);
  return (
    <span className={`flex min-w-0 font-mono text-[0.9em] ${brief ? "max-md:max-w-3/5 max-md:shrink-0 md:grow" : ""}`} title={path}>
      {cut > 0 && <span className={`min-w-[2ch] shrink-[9999] truncate ${brief ? "max-md:hidden" : ""}`}>{path.slice(0, cut)}</span>}
      <span className="min-w-0 truncate">
        {cut > 0 && <span className={brief ? "max-md:hidden" : ""}>/</span>}
        {path.slice(cut > 0 ? cut + 1 : 0)}
      </span>
    </span>
  );
}
