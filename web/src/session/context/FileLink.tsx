// A file as a link: as much of its path is shown as tells it apart, its whole path is said and shown on hovering.
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import type { SessionId } from "../../wire/names";
import { fileHref } from "./footer";

interface FileLinkProps {
  session: SessionId;
  path: string;
  /** What is known of it beside its path. */
  note?: string;
  className?: string;
  /** What is shown of its path. */
  words: string;
  onOpen(path: string): void;
}

export function FileLink({ session, path, note, className = "", words, onOpen }: FileLinkProps) {
  const whole = inOneLine(path) + (note === undefined ? "" : `, ${note}`);
  return (
    <Link
      href={fileHref(session, path)}
      aria-label={whole}
      title={whole}
      className={`rounded underline decoration-rule underline-offset-3 hover:decoration-current ${className}`}
      onClick={(event) => {
        if (!event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
          event.preventDefault();
          onOpen(path);
        }
      }}
    >
      {words}
    </Link>
  );
}
