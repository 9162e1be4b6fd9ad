// A directory. Where it does not fit, its beginning gives way: the end tells directories apart.

interface PathTextProps {
  path: string;
  /** As much of its end as stands for it on a phone. */
  brief?: string;
}

export function PathText({ path, brief }: PathTextProps) {
  const cut = Math.max(path.lastIndexOf("/", path.length - 2), 0);
  const whole = (
    <span className={`min-w-0 font-mono text-[0.9em] ${brief === undefined ? "flex" : "hidden grow md:flex"}`} title={path}>
      {cut > 0 && <span className="min-w-[2ch] shrink-[9999] truncate">{path.slice(0, cut)}</span>}
      <span className="min-w-0 truncate">
        {cut > 0 && "/"}
        {path.slice(cut > 0 ? cut + 1 : 0)}
      </span>
    </span>
  );
  return brief === undefined ? (
    whole
  ) : (
    <>
      {whole}
      <span className="keeps-end font-mono text-[0.9em] md:hidden" title={path}>
        <bdi dir="ltr">{brief}</bdi>
      </span>
    </>
  );
}
