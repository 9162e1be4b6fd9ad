// One session: its header, its transcript and the composer, and what can be opened beside and over them.
import type { ReactNode } from "react";
import { useMemo, useRef, useState } from "react";

import { turnCount } from "../state/followed";
import { standingWords } from "../state/words";
import { DialogBoundary, PanelBoundary } from "../ui/Boundary";
import type { Late } from "../ui/latePart";
import { latePart, useLatePart } from "../ui/latePart";
import type { SessionRow } from "../wire/names";
import { AppletBeside } from "./applets/AppletBeside";
import { AppletsContext } from "./applets/AppletsContext";
import { useApplet } from "./applets/useApplet";
import type { Compose } from "./composer/ComposeContext";
import { ComposeContext } from "./composer/ComposeContext";
import { useTurnInView } from "./contents/useTurnInView";
import { ContentsTab } from "./contents/ContentsTab";
import { ContextTab } from "./context/ContextTab";
import { FileViewer } from "./context/FileViewer";
import { useOpenFile } from "./context/useOpenFile";
import { FindBar } from "./find/FindBar";
import { FoundContext } from "./find/found";
import { useFindBar } from "./find/useFindBar";
import type { ForkWish } from "./forking/ForkContext";
import { ForkContext } from "./forking/ForkContext";
import { ForkDialog } from "./forking/ForkDialog";
import { NothingSaid } from "./NothingSaid";
import { SessionFoot } from "./SessionFoot";
import { SessionHeader } from "./SessionHeader";
import { PlanTab } from "./side/PlanTab";
import { SideBeside, SideSheet, TAB_NAMES } from "./side/SidePanel";
import type { SideTab } from "./side/useSide";
import { useSide } from "./side/useSide";
import { standingOf } from "./standing";
import { Transcript } from "./transcript/Transcript";
import type { OpenChain } from "./transcript/useChain";
import { useReport } from "./useReport";
import { useSessionActions } from "./useSessionActions";

const CHANGES_TAB = latePart(async () => (await import("./changes/ChangesTab")).ChangesTab);
const SHOWN_TAB = latePart(async () => (await import("./outputs/ShownTab")).ShownTab);

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
  const compose = useMemo<Compose>(() => ({ edit: (prompt) => composer.current?.edit(prompt), add: (text) => composer.current?.add(text) }), []);
  const field = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState(0);
  const column = useRef<HTMLDivElement>(null);
  const read = useTurnInView(column, turnCount(followed));
  const applet = useApplet(row, followed, standing.running, writable);
  const { address, fresh: freshApplet } = applet;
  const isOver = address !== null && !applet.beside;
  const past = address?.past?.output ?? null;
  const { newestApplet } = followed;
  const appletsBeside = useMemo(() => ({ session: row.id, newest: newestApplet, fresh: freshApplet, past }), [row.id, newestApplet, freshApplet, past]);
  const side = useSide(column, address !== null);
  const find = useFindBar(column, empty);
  const [file, openFile, closeFile] = useOpenFile();
  const [forking, setForking] = useState<ForkWish | null>(null);
  const reporting = useReport(row);
  const stopsNext = useSessionActions({
    row,
    followed,
    running: standing.running,
    fenced: fence !== null,
    read,
    field,
    onFork: setForking,
    onTab: side.toggle,
    onApplets: applet.browse,
    onFind: empty ? undefined : find.open,
    onFailure: reporting.fail,
  });
  const isShown = (tab: SideTab) => side.beside === tab || side.sheet === tab;
  const changesTab = useLatePart(CHANGES_TAB, isShown("changes"));
  const shownTab = useLatePart(SHOWN_TAB, isShown("shown"));
  const showTab = (tab: SideTab, place: "beside" | "sheet") => {
    // Beside the transcript it stays; over it, it gives the transcript free.
    const onJump = place === "sheet" ? side.close : () => undefined;
    const padded = (inside: ReactNode) => (place === "sheet" ? inside : <div className="scrolls min-h-0 flex-1 overscroll-contain p-4">{inside}</div>);
    const late = <P,>(part: Late<P>, inside: (Part: P) => ReactNode) => (part.kind === "ready" ? inside(part.part) : part.kind === "failed" && padded(<NotCome onRetry={part.retry} />));
    const draw = () => {
      switch (tab) {
        case "contents":
          return <ContentsTab row={row} followed={followed} read={read} fenced={fence !== null} place={place} onJump={onJump} />;
        case "shown":
          return late(shownTab, (Shown) => <Shown session={row.id} followed={followed} place={place} onJump={onJump} />);
        case "context":
          return followed.context === null ? null : padded(<ContextTab row={row} context={followed.context} writable={writable} onOpenFile={openFile} onJump={onJump} />);
        case "changes":
          return late(changesTab, (Changes) => padded(<Changes row={row} followed={followed} read={read?.past === null ? read.turn : null} onJump={onJump} />));
        case "plan":
          return padded(<PlanTab session={row.id} followed={followed} onJump={onJump} />);
      }
    };
    return (
      <PanelBoundary key={`${tab} ${row.id}`} name={TAB_NAMES[tab]}>
        {draw()}
      </PanelBoundary>
    );
  };

  return (
    <ForkContext value={fence === null ? setForking : null}>
    <ComposeContext value={writable ? compose : null}>
      <div className="relative flex min-h-0 flex-1">
        <div ref={column} inert={isOver} className="flex min-w-0 flex-1 flex-col">
          <PanelBoundary key={`header ${row.id}`} name="The header">
            <SessionHeader row={row} agent={agent} standing={standing} picker={picker} side={side} reporting={reporting} onFind={find.open} />
          </PanelBoundary>
          {find.isOpen && (
            <PanelBoundary key={`find ${row.id}`} name="The search">
              <FindBar session={row.id} current={read?.past === null ? read.turn : null} around={column} field={find.field} onFound={find.setFound} onClose={find.close} />
            </PanelBoundary>
          )}
          {empty && chain.above.length === 0 ? (
            <NothingSaid row={row} agent={agent.state} forkedFrom={followed.forkedFrom} newer={transcript.newer} />
          ) : (
            <FoundContext value={find.found}>
              <AppletsContext value={appletsBeside}>
                <PanelBoundary name="The transcript">
                  <Transcript chain={chain} sent={sent} read={read} />
                </PanelBoundary>
              </AppletsContext>
            </FoundContext>
          )}
          <p role="status" className="sr-only">
            {fence !== null ? "" : standingWords(row, agent.state)}
          </p>
          <p role="status" className={stopsNext ? "beside-scrollbar px-4 text-center text-[0.8125rem] font-medium text-warning md:px-8" : "sr-only"}>
            {stopsNext ? "Press Esc again to stop the turn" : ""}
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
            onOpenContext={() => side.show("context")}
          />
        </div>
        <SideBeside side={side}>{showTab}</SideBeside>
        <AppletBeside row={row} followed={followed} open={applet} writable={writable} column={column} />
      </div>
      {side.sheet !== null && (
        <DialogBoundary key={`side ${row.id}`} name={TAB_NAMES[side.sheet]} onClose={side.close}>
          <SideSheet side={side}>{showTab}</SideSheet>
        </DialogBoundary>
      )}
      {file !== null && (
        <DialogBoundary key={file} name="File" onClose={closeFile}>
          <FileViewer session={row.id} path={file} onClose={closeFile} />
        </DialogBoundary>
      )}
      {forking !== null && (
        <DialogBoundary key={`fork ${row.id}`} name="Fork" onClose={() => setForking(null)}>
          <ForkDialog row={row} wish={forking} onClose={() => setForking(null)} />
        </DialogBoundary>
      )}
    </ComposeContext>
    </ForkContext>
  );
}

function NotCome({ onRetry }: { onRetry(): void }) {
  return (
    <p role="alert" className="text-soft">
      This part of the page did not come.{" "}
      <button type="button" className="small-button mx-0!" onClick={onRetry}>
        Try again
      </button>
    </p>
  );
}
