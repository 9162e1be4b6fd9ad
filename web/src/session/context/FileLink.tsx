// A file as a link: as much of its path is shown as tells it apart, its whole path is said and shown on hovering.
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import type { SessionId } from "../../wire/names";
import { editorHref, fileHref } from "./footer";

interface FileLinkProps {
  session: SessionId;
  path: string;
  /** What is known of it beside its path. */
  note?: string;
  className?: string;
  /** What is shown of its path. */
  words: string;
  /** Opens it in the applet that shows files, if it lies in this directory. */
  editorIn?: string;
  onOpen(path: string): void;
}

export function FileLink({ session, path, note, className = "", words, editorIn, onOpen }: FileLinkProps) {
  const whole = inOneLine(path) + (note === undefined ? "" : `, ${note}`);
  const editor = editorIn === undefined ? null : editorHref(session, path, editorIn);
  return (
    <Link
      href={editor ?? fileHref(session, path)}
      aria-label={whole}
      title={whole}
      className={`rounded underline decoration-rule underline-offset-3 hover:decoration-current ${className}`}
      onClick={(event) => {
        if (editor === null && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey) {
          event.preventDefault();
          onOpen(path);
        }
      }}
    >
      {words}
    </Link>
  );
}
