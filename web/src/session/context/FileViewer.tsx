// A file of the session, to be read.
//
// Invariant: whatever is in it is text on the page and nothing else. A file outside of the session's directories is not
// shown before the person has said, once, that they mean it.
import { useEffect, useState } from "react";

import type { Answer } from "../../api/http";
import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { baseName } from "../../state/context";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import { Exact } from "../../ui/Exact";
import { inOneLine, shown } from "../../ui/shown";
import type { SessionId, StoredFile } from "../../wire/names";
import { Pieces } from "../items/CodeBlock";
import { useCodeTokens } from "../items/useCodeTokens";
import { isConfirmed, rememberConfirmed } from "./confirmed";
import "../items/CodeBlock.css";

interface FileViewerProps {
  session: SessionId;
  path: string;
  onClose(): void;
}

export function FileViewer({ session, path, onClose }: FileViewerProps) {
  const http = useHttp();
  const [confirmed, setConfirmed] = useState(() => isConfirmed(session, path));
  const [answer, setAnswer] = useState<Answer<StoredFile> | null>(null);
  useEffect(() => {
    let wanted = true;
    void http.readFile(session, path, confirmed).then((file) => {
      if (wanted) {
        setAnswer(file);
      }
    });
    return () => {
      wanted = false;
    };
  }, [http, session, path, confirmed]);
  return (
    <Dialog title={inOneLine(baseName(path))} wide onClose={onClose}>
      <p className="-mt-3 mb-3 max-w-full font-mono text-[0.8125rem] wrap-anywhere text-soft">
        <Exact text={path} />
      </p>
      {answer === null ? (
        <p className="text-soft">Reading…</p>
      ) : answer.ok ? (
        <Content file={answer.value} />
      ) : answer.failure.kind === "refused" && answer.failure.code === "outside_needs_confirm" ? (
        <div className="max-w-prose space-y-4">
          <p>This file lies outside of the session’s directory. It is only read, and shown to you alone.</p>
          <div className="flex flex-wrap gap-2">
            <Button
              look="primary"
              data-first-focus=""
              onClick={() => {
                rememberConfirmed(session, path);
                setAnswer(null);
                setConfirmed(true);
              }}
            >
              Open it
            </Button>
            <Button onClick={onClose}>Cancel</Button>
          </div>
        </div>
      ) : (
        <Alert>{answer.failure.kind === "refused" && answer.failure.code === "file_not_found" ? "There is nothing at this path." : failureWords(answer.failure)}</Alert>
      )}
    </Dialog>
  );
}

function Content({ file }: { file: StoredFile }) {
  const { content, encoding, bytes, cut } = file;
  if (encoding !== "utf-8") {
    return <p>This is not a text file, so it is not shown. It has {bytesWords(bytes)}.</p>;
  }
  if (content === "") {
    return <p className="text-soft">The file is empty.</p>;
  }
  return (
    <>
      {cut && <p className="mb-2 text-[0.9375rem]">Only the beginning is shown. The whole file has {bytesWords(bytes)}.</p>}
      <Lines text={shown(content)} language={/\.([^./\\]+)$/.exec(file.path)?.[1] ?? null} />
    </>
  );
}

function Lines({ text, language }: { text: string; language: string | null }) {
  const coloured = useCodeTokens(text, language);
  const lines = text.replace(/\n$/, "").split("\n").length;
  const numbers = Array.from({ length: lines }, (_, index) => index + 1).join("\n");
  return (
    <figure className="code-block" aria-label={`${lines} ${lines === 1 ? "line" : "lines"}`}>
      <figcaption>
        <span>
          {lines} {lines === 1 ? "line" : "lines"}
        </span>
        <CopyButton text={text} what="the file" />
      </figcaption>
      <pre tabIndex={0} dir="ltr" role="region" aria-label="The file" className="max-h-[calc(100dvh-13rem)] overflow-auto">
        <span className="flex w-max min-w-full">
          <span aria-hidden="true" data-numbers="" className="sticky left-0 shrink-0 bg-(--ground) pr-4 text-right text-soft select-none">
            {numbers}
          </span>
          <code className="min-w-0">
            {coloured !== null && <Pieces tokens={coloured.tokens} />}
            {coloured === null ? text : text.slice(coloured.code.length)}
          </code>
        </span>
      </pre>
    </figure>
  );
}

function bytesWords(bytes: number): string {
  if (bytes < 1024) {
    return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  }
  const [size, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KiB"] : bytes < 1024 ** 3 ? [bytes / 1024 ** 2, "MiB"] : [bytes / 1024 ** 3, "GiB"];
  return `${size.toFixed(1)} ${unit}`;
}
