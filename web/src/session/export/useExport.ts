// A session as a file of the browser's: to read, to look at, or to take along.
//
// Invariant: the browser reads it by itself, from the address of a ticket: however long it is, the page holds none of it.
import type { Failure } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { SessionRow } from "../../wire/names";
import { fileName, saveFrom } from "./useMarkdown";

export type ExportFormat = "markdown" | "html" | "bundle";

const EXTENSIONS: Record<ExportFormat, string> = { markdown: "md", html: "html", bundle: "tar" };

/** Where it is said what came of it. */
interface Reporting {
  fail(failure: Failure): void;
  say(report: { kind: "done"; words: string }): void;
}

/** How to have the session kept; what came of it is reported. */
export function useExport(row: SessionRow, { fail, say }: Reporting): (format: ExportFormat) => Promise<void> {
  const http = useHttp();
  return async (format) => {
    const answer = await http.exportTicket(row.id, format);
    if (answer.ok) {
      saveFrom(answer.value.url, fileName(row.title, EXTENSIONS[format]));
      say({ kind: "done", words: "The browser saves the session as a file." });
    } else {
      fail(answer.failure);
    }
  };
}
