// The session's title, which can be clicked to change it, how and where it stands, and what can be done with it.
import type { KeyboardEvent, ReactNode } from "react";
import { use, useId, useRef, useState } from "react";

import type { Failure } from "../api/http";
import { useActions } from "../app/actions";
import { useHttp } from "../app/AppContext";
import { ConnectionNotice, useFrame } from "../app/FrameContext";
import type { AgentView } from "../state/agent";
import { baseName } from "../state/context";
import { stateColour } from "../state/stateColour";
import { FENCE_WORDS, stateWord, titleOf } from "../state/words";
import { pinnedName, TitleCard } from "../titles/TitleCard";
import { Alert } from "../ui/Alert";
import { Anchored } from "../ui/Anchored";
import { Button, IconButton } from "../ui/Button";
import { useHovering } from "../ui/hovering";
import type { IconName } from "../ui/Icon";
import { Icon } from "../ui/Icon";
import { Link } from "../ui/Link";
import { navigate, stillHere } from "../ui/navigation";
import { PathText } from "../ui/PathText";
import { inOneLine } from "../ui/shown";
import type { SessionRow } from "../wire/names";
import { Agents, HandOver } from "./agent/HandOver";
import { HeaderMenu } from "./HeaderMenu";
import type { Side, SideTab } from "./side/useSide";
import type { Standing } from "./standing";
import type { Reporting } from "./useReport";
import { StopButton } from "./composer/StopButton";
import { UsageLine, UsageMeter } from "./agent/UsageMeter";
import { SessionUsageLine, SessionUsageWarning } from "./used/SessionUsageLine";
import "./SessionHeader.css";

/** For what is in the menu where there is no room. */
const ROOMY = "@max-[40rem]:hidden";

interface SessionHeaderProps {
  row: SessionRow;
  agent: AgentView;
  standing: Standing;
  /** Chooses another session or piece of work. */
  picker: ReactNode;
  /** In this session. */
  onFind(): void;
  side: Side;
  /** What is to be said of what was just done. */
  reporting: Reporting;
}

export function SessionHeader({ row, agent, standing, picker, side, reporting, onFind }: SessionHeaderProps) {
  const { fence, writable, running, empty } = standing;
  // A turn that runs has not been counted yet; of a damaged session nothing is.
  const ended = fence === null ? row.turns - (running ? 1 : 0) : 0;
  const frame = useFrame();
  const notice = use(ConnectionNotice);
  const http = useHttp();
  const { report, fail: setFailure } = reporting;
  const [asking, setAsking] = useState(false);
  const menu = useRef<HTMLDivElement>(null);
  const remove = async () => {
    if (fence !== null) {
      setAsking(true);
    } else {
      setFailure(await frame.remove(row));
    }
  };
  const removeForGood = async () => {
    setAsking(false);
    const isHere = stillHere();
    const answer = await http.removeSessionForGood(row.id);
    if (answer.ok) {
      if (isHere()) {
        navigate("/");
      }
    } else {
      setFailure(answer.failure);
    }
  };
  useActions({ "delete-session": () => void remove() });
  return (
    <header className="safe-top relative border-b border-rule">
      <div className="beside-scrollbar @container md:px-8">
        <div className="reading session-header py-1 pr-2 pl-1 max-md:pb-2 md:py-3 md:pr-0 md:pl-9">
          <Link
            href="/"
            data-part="back"
            aria-label="Back to the sessions"
            className="inline-flex size-11 shrink-0 items-center justify-center rounded-lg text-soft active:bg-press md:hidden"
          >
            <Icon name="back" />
          </Link>
          <div data-part="picker" className="flex min-w-0">
            {picker}
          </div>
          <div data-part="title" className="min-w-0 max-md:pl-3">
            <Title key={row.id} row={row} writable={fence === null} onFailure={setFailure} />
          </div>
          <div data-part="status" className="min-w-0 text-[0.8125rem] max-md:px-3">
            <div role="status">{notice}</div>
            {notice === null && (
              <div className="flex min-w-0 items-baseline gap-1.5 overflow-hidden whitespace-nowrap text-soft">
                <span className={`shrink-0 font-medium ${fence === null ? stateColour(row.state) : fence === "damaged" ? "text-failed" : ""}`}>{fence === null ? stateWord(row.state) : FENCE_WORDS[fence]}</span>
                <span aria-hidden="true">·</span>
                <span className="max-w-32 shrink-0 truncate" title={agent.program === null ? undefined : inOneLine(agent.program)}>
                  {inOneLine(row.agent)}
                </span>
                <span aria-hidden="true">·</span>
                <PathText path={inOneLine(row.cwd)} brief={inOneLine(baseName(row.cwd))} />
                <span className="ml-auto flex shrink-0 items-baseline gap-3 pl-3">
                  {agent.usage !== null && <UsageMeter usage={agent.usage} />}
                  <SessionUsageLine session={row.id} ended={ended} />
                </span>
              </div>
            )}
          </div>
          <div data-part="actions" className="flex items-center gap-1">
            {running && <StopButton session={row.id} look="words" className="max-md:hidden" />}
            <SideButton side={side} tab="contents" label="Contents" icon="contents" />
            {!empty && (
              <IconButton label="Find in this session" aria-keyshortcuts="Control+F Meta+F" onClick={onFind}>
                <Icon name="search" />
              </IconButton>
            )}
            <SideButton side={side} tab="context" label="Context" icon="mark" className={ROOMY} />
            <SideButton side={side} tab="changes" label="Changes" icon="changes" className={ROOMY} />
            {writable && <HandOver row={row} running={running} className={ROOMY} />}
            <HeaderMenu
              ref={menu}
              row={row}
              className="md:-mr-2.5"
              onShow={side.show}
              reporting={reporting}
              onDelete={() => void remove()}
              handOver={writable ? (onDone) => <Agents row={row} running={running} onDone={onDone} /> : null}
            />
          </div>
        </div>
      </div>
      {agent.usage !== null && <UsageLine usage={agent.usage} />}
      <div className="beside-scrollbar px-4 md:px-8">
        <div className="reading md:pl-9">
          {report?.kind === "failed" && <Alert className="mb-3">{report.words}</Alert>}
          <p role="status" className={`text-[0.8125rem] text-soft ${report?.kind === "done" ? "mb-2" : ""}`}>
            {report?.kind === "done" && report.words}
          </p>
          <SessionUsageWarning key={row.id} session={row.id} ended={ended} />
          {asking && (
            <div className="mb-3 flex flex-wrap items-center gap-3">
              <Alert>{fence === "newer" ? "What a newer version wrote can only be removed for good here." : "A damaged session can only be removed for good."}</Alert>
              <Button onClick={() => void removeForGood()}>Remove for good</Button>
              <Button
                autoFocus
                onClick={() => {
                  setAsking(false);
                  menu.current?.querySelector("button")?.focus();
                }}
              >
                Keep it
              </Button>
            </div>
          )}
        </div>
      </div>
    </header>
  );
}

interface SideButtonProps {
  side: Side;
  tab: SideTab;
  label: string;
  icon: IconName;
  className?: string;
}

function SideButton({ side, tab, label, icon, className = "" }: SideButtonProps) {
  const shown = side.beside === tab;
  return (
    <IconButton
      label={label}
      aria-expanded={shown}
      aria-controls={shown ? side.id : undefined}
      className={`${className} ${shown ? "bg-press text-ink" : ""}`}
      onClick={() => side.toggle(tab)}
    >
      <Icon name={icon} />
    </IconButton>
  );
}

interface TitleProps {
  row: SessionRow;
  writable: boolean;
  onFailure(failure: Failure | null): void;
}

function Title({ row, writable, onFailure }: TitleProps) {
  const http = useHttp();
  const anchor = useRef<HTMLDivElement>(null);
  const cardId = useId();
  const hovering = useHovering();
  const [name, setName] = useState<string | null>(null);

  const save = async () => {
    if (name === null) {
      return;
    }
    setName(null);
    const wanted = name.trim();
    // The title may be the first prompt's words; leaving them alone does not make them a name.
    if (wanted === (row.meta.name || titleOf(row))) {
      return;
    }
    const answer = await http.renameSession(row.id, wanted);
    onFailure(answer.ok ? null : answer.failure);
  };
  useActions({ rename: writable ? () => setName(row.meta.name || titleOf(row)) : undefined });
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      void save();
    } else if (event.key === "Escape") {
      setName(null);
    }
  };

  if (name !== null) {
    return (
      <input
        aria-label="Name of the session"
        className="-my-px -ml-1.5 block w-full max-w-2xl rounded border border-edge bg-paper px-1.25 text-lg leading-7 font-semibold tracking-tight"
        dir="auto"
        value={name}
        maxLength={200}
        autoFocus
        onFocus={(event) => {
          event.target.select();
        }}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={press}
        onBlur={() => void save()}
      />
    );
  }
  return (
    <div ref={anchor} className="flex min-w-0 items-center" {...hovering.props}>
      <h1 className="flex min-w-0 text-lg leading-7 font-semibold tracking-tight">
        <button
          type="button"
          aria-description="Rename"
          dir="auto"
          className="-ml-1.5 min-w-0 rounded px-1.5 text-left hover:bg-press"
          onClick={() => {
            hovering.hide();
            setName(row.meta.name || titleOf(row));
          }}
        >
          <span className="session-title">{titleOf(row)}</span>
        </button>
      </h1>
      <button
        type="button"
        aria-label={pinnedName(row) === null ? "Earlier titles" : "Earlier titles; this name is pinned"}
        aria-expanded={hovering.shown}
        aria-controls={hovering.shown ? cardId : undefined}
        className="-my-2 -ml-1.5 inline-flex size-11 shrink-0 items-center justify-center rounded-md text-soft hover:bg-press hover:text-ink md:pointer-fine:my-0 md:pointer-fine:ml-0 md:pointer-fine:h-7 md:pointer-fine:w-8 [&>svg]:size-4"
        onClick={() => (hovering.shown ? hovering.hide() : hovering.show())}
      >
        <Icon name="open" />
      </button>
      {hovering.shown && (
        <Anchored id={cardId} anchor={anchor} side="below" label="Titles of this session" className="w-96 max-w-[calc(100vw-1rem)]" onPressElsewhere={hovering.hide}>
          <TitleCard row={row} writable={writable} onGone={hovering.hide} />
        </Anchored>
      )}
    </div>
  );
}
