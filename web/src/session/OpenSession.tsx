// One session: its header, its transcript and the composer, and what can be opened beside and over them.
import type { ReactNode } from "react";
import { useMemo, useRef, useState } from "react";

import { turnCount } from "../state/followed";
import { standingWords } from "../state/words";
import { DialogBoundary, PanelBoundary } from "../ui/Boundary";
import { useKeyPresses } from "../ui/keyPresses";
import type { SessionRow } from "../wire/names";
import type { Compose } from "./composer/ComposeContext";
import { ComposeContext } from "./composer/ComposeContext";
import { ContentsBeside, ContentsSheet } from "./contents/ContentsPanel";
import { useContentsShown } from "./contents/useContentsShown";
import { useTurnInView } from "./contents/useTurnInView";
import { ContextPanel } from "./context/ContextPanel";
import { FileViewer } from "./context/FileViewer";
import { useOpenFile } from "./context/useOpenFile";
import { FindBar } from "./find/FindBar";
import { FoundContext } from "./find/found";
import { useFindBar } from "./find/useFindBar";
import { NothingSaid } from "./NothingSaid";
import { SessionFoot } from "./SessionFoot";
import { SessionHeader } from "./SessionHeader";
import { standingOf } from "./standing";
import { Transcript } from "./transcript/Transcript";
import type { OpenChain } from "./transcript/useChain";

interface OpenSessionProps {
  row: SessionRow;
  chain: OpenChain;
  /** The next session of the thread is on its way: nothing more is written to this one. */
  leaving: boolean;
  fresh: boolean;
  picker: ReactNode;
}

/** Lives on when the next session of the thread is gone to: what belongs to one session alone has a key of its own. */
export function OpenSession({ row, chain, leaving, fresh, picker }: OpenSessionProps) {
  const { followed } = chain.open;
  const { transcript, agent } = followed;
  const standing = standingOf(row, followed);
  const { fence, writable, empty } = standing;

  const composer = useRef<Compose>(null);
  const compose = useMemo<Compose>(() => ({ edit: (prompt) => composer.current?.edit(prompt) }), []);
  const field = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState(0);
  const column = useRef<HTMLDivElement>(null);
  const read = useTurnInView(column, turnCount(followed));
  const contents = useContentsShown();
  const find = useFindBar(column, empty);
  const [file, openFile, closeFile] = useOpenFile();
  const [contextOpen, setContextOpen] = useState(false);
  const openContext = () => setContextOpen(true);
  const closeContext = () => setContextOpen(false);
  useKeyPresses({
    "/": (event) => {
      event.preventDefault();
      field.current?.focus();
    },
    c: openContext,
    t: contents.toggle,
  });

  return (
    <ComposeContext value={writable ? compose : null}>
      <div className="flex min-h-0 flex-1">
        {contents.beside && (
          <PanelBoundary key={`contents ${row.id}`} name="The contents" className="w-72 shrink-0 border-r border-rule">
            <ContentsBeside id={contents.id} row={row} followed={followed} read={read} fenced={fence !== null} />
          </PanelBoundary>
        )}
        <div ref={column} className="flex min-w-0 flex-1 flex-col">
          <PanelBoundary key={`header ${row.id}`} name="The header">
            <SessionHeader row={row} agent={agent} standing={standing} picker={picker} contents={contents} onOpenContext={openContext} onFind={find.open} />
          </PanelBoundary>
          {find.isOpen && (
            <PanelBoundary key={`find ${row.id}`} name="The search">
              <FindBar session={row.id} current={read?.past === null ? read.turn : null} around={column} field={find.field} onFound={find.setFound} onClose={find.close} />
            </PanelBoundary>
          )}
          {empty && chain.above.length === 0 ? (
            <NothingSaid row={row} agent={agent.state} newer={transcript.newer} />
          ) : (
            <FoundContext value={find.found}>
              <PanelBoundary name="The transcript">
                <Transcript chain={chain} sent={sent} />
              </PanelBoundary>
            </FoundContext>
          )}
          <p role="status" className="sr-only">
            {fence !== null ? "" : standingWords(row, agent.state)}
          </p>
          <SessionFoot
            row={row}
            chain={chain}
            standing={standing}
            leaving={leaving}
            fresh={fresh}
            composer={composer}
            field={field}
            onSent={() => setSent((count) => count + 1)}
            onOpenFile={openFile}
            onOpenContext={openContext}
          />
        </div>
      </div>
      {contents.sheet && (
        <DialogBoundary key={`contents ${row.id}`} name="Contents" onClose={contents.closeSheet}>
          <ContentsSheet row={row} followed={followed} read={read} fenced={fence !== null} onClose={contents.closeSheet} />
        </DialogBoundary>
      )}
      {contextOpen && followed.context !== null && (
        <DialogBoundary key={`context ${row.id}`} name="Context" onClose={closeContext}>
          <ContextPanel row={row} context={followed.context} writable={writable} onOpenFile={openFile} onClose={closeContext} />
        </DialogBoundary>
      )}
      {file !== null && (
        <DialogBoundary key={file} name="File" onClose={closeFile}>
          <FileViewer session={row.id} path={file} onClose={closeFile} />
        </DialogBoundary>
      )}
    </ComposeContext>
  );
}
