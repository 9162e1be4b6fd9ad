// What is said of a change of the marks, below what was changed.
import { Alert } from "../../ui/Alert";
import type { ChangeNote } from "./changeNote";

export function ChangeWords({ note, className = "" }: { note: ChangeNote | null; className?: string }) {
  return note?.kind === "failure" ? (
    <Alert className={className}>{note.words}</Alert>
  ) : (
    <p role="status" className={`text-[0.8125rem] text-soft ${note === null ? "" : className}`}>
      {note?.words}
    </p>
  );
}
