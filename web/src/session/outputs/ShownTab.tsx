// What was shown in the session, in the side panel or its sheet: one line each, newest first.
import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, useState } from "react";

import { failureWords } from "../../api/http";
import type { Followed } from "../../state/followed";
import { Alert } from "../../ui/Alert";
import { counted } from "../../ui/counted";
import { Icon } from "../../ui/Icon";
import { placeHref, seek } from "../../ui/place";
import type { OutputKind, SessionId } from "../../wire/names";
import { detailWords, endingWords, nameOf, TYPE_ICONS, wholeName } from "./outputWords";
import type { ShownOutput } from "./useShown";
import { useShown } from "./useShown";
import "./ShownTab.css";

interface ShownTabProps {
  session: SessionId;
  followed: Followed;
  place: "beside" | "sheet";
  /** The reader goes to a card. */
  onJump(): void;
}

const LINE_PX = { beside: 48, sheet: 56 };
const TYPES: readonly OutputKind[] = ["file", "terminal", "image", "embed", "applet", "raw"];
const TYPE_NAMES: Record<OutputKind, string> = { file: "Files", terminal: "Commands", image: "Pictures", embed: "Links", applet: "Applets", raw: "Other" };

export function ShownTab({ session, followed, place, onJump }: ShownTabProps) {
  const { outputs, reading, failure, retry } = useShown(session, followed);
  const [wanted, setWanted] = useState<OutputKind | null>(null);
  const present = TYPES.filter((type) => outputs.some(({ output }) => output.type === type));
  const type = wanted !== null && present.includes(wanted) ? wanted : null;
  const shown = type === null ? outputs : outputs.filter(({ output }) => output.type === type);
  if (outputs.length === 0) {
    return (
      <div className={`shown-empty ${place === "beside" ? "p-4" : ""}`}>
        {failure !== null ? <Failed words={failureWords(failure)} onRetry={retry} /> : reading ? <p className="text-soft">Reading…</p> : <Nothing />}
      </div>
    );
  }
  return (
    <div className={place === "beside" ? "flex min-h-0 flex-1 flex-col" : "flex h-[calc(88dvh-9.75rem-env(safe-area-inset-bottom))] flex-col md:h-[calc(100dvh-10rem)]"}>
      <p role="status" className={`text-xs text-soft tabular-nums ${place === "beside" ? "px-4 pt-3 pb-1" : "pb-1"}`}>
        {counted(shown.length, "output")}
        {reading && ", more are being read…"}
      </p>
      {failure !== null && <Failed words={failureWords(failure)} onRetry={retry} />}
      {present.length > 1 && (
        <div role="group" aria-label="What is listed" className={`shown-types ${place === "beside" ? "px-3" : "-mx-1"}`}>
          <Choice pressed={type === null} words="All" onClick={() => setWanted(null)} />
          {present.map((one) => (
            <Choice key={one} pressed={type === one} words={TYPE_NAMES[one]} onClick={() => setWanted(one)} />
          ))}
        </div>
      )}
      <Lines outputs={shown} linePx={LINE_PX[place]} className={place === "beside" ? "px-2" : "-mx-3"} onJump={onJump} />
    </div>
  );
}

function Lines({ outputs, linePx, className, onJump }: { outputs: readonly ShownOutput[]; linePx: number; className: string; onJump(): void }) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: outputs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => linePx,
    getItemKey: (index) => outputs[index]?.output.id ?? index,
    overscan: 8,
  });
  return (
    <div ref={scroller} className={`scrolls min-h-0 flex-1 overscroll-contain pb-3 ${className}`}>
      <ul aria-label="What was shown" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ key, index, start }) => {
          const one = outputs[index];
          return one === undefined ? null : (
            <li key={key} className="absolute inset-x-0 top-0" style={{ height: linePx, transform: `translateY(${start}px)` }}>
              <Line {...one} onJump={onJump} />
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Line({ turn, output, onJump }: ShownOutput & { onJump(): void }) {
  const place = { turn, tool: null, shown: { id: output.id, lines: null } };
  const ending = endingWords(output);
  return (
    <a
      href={placeHref(place)}
      className="shown-line"
      title={wholeName(output)}
      onClick={(event) => {
        event.preventDefault();
        onJump();
        seek(place);
      }}
    >
      <Icon name={TYPE_ICONS[output.type]} />
      <span className="min-w-0 flex-1">
        <span className={`shown-name ${output.type === "embed" || output.type === "applet" ? "" : "font-mono"}`}>{nameOf(output)}</span>
        <span className="shown-detail">
          {ending !== null && <span className={ending.failed ? "text-failed" : ""}>{ending.words} · </span>}
          {output.type === "embed" ? (output.provider ?? "Link") : output.type === "applet" ? (output.slug ?? "Applet") : detailWords(output)}
        </span>
      </span>
      <span className="text-xs text-soft tabular-nums">t{turn}</span>
    </a>
  );
}

function Choice({ pressed, words, onClick }: { pressed: boolean; words: string; onClick(): void }) {
  return (
    <button type="button" aria-pressed={pressed} className="shown-type" onClick={onClick}>
      {words}
    </button>
  );
}

function Nothing() {
  return (
    <>
      <p className="font-semibold">Nothing has been shown yet</p>
      <p className="mt-1 text-soft">
        Say “show me src/main.rs”, and the agent can put the file beside the conversation instead of reading it out. Files, pictures and what commands print are listed here, and stay as they were when they were
        shown.
      </p>
    </>
  );
}

function Failed({ words, onRetry }: { words: string; onRetry(): void }) {
  return (
    <Alert>
      {words}{" "}
      <button type="button" className="small-button mx-0!" onClick={onRetry}>
        Try again
      </button>
    </Alert>
  );
}
