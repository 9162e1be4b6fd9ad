// The list of the palette, in groups. The focus stays in the field, which names the chosen one.
import { useEffect, useRef } from "react";

import { stateColour } from "../state/stateColour";
import { stateWord, titleOf } from "../state/words";
import { Icon } from "../ui/Icon";
import { Bead } from "../ui/Knot";
import { Marked } from "../ui/Marked";
import { inOneLine } from "../ui/shown";
import type { Suggesting } from "../ui/suggestions";
import { optionId } from "../ui/suggestions";
import { ago, inFull } from "../ui/time";
import type { SearchResult, SessionRow } from "../wire/names";
import type { Group, Item } from "./items";

interface PaletteListProps {
  groups: readonly Group[];
  suggesting: Suggesting;
  now: number;
  /** A newer answer is on its way. */
  stale: boolean;
  onTake(item: Item, elsewhere: boolean): void;
}

export function PaletteList({ groups, suggesting, now, stale, onTake }: PaletteListProps) {
  const { listId, chosen } = suggesting;
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (chosen !== null) {
      element.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
    }
  }, [chosen]);
  const starts = groups.map((_, at) => groups.slice(0, at).reduce((count, { items }) => count + items.length, 0));
  return (
    <div
      ref={element}
      id={listId}
      role="listbox"
      aria-label="Found"
      aria-busy={stale}
      // Pressing here must not take the focus from the field.
      onMouseDown={(event) => {
        event.preventDefault();
      }}
      className={`min-h-0 flex-1 overflow-y-auto overscroll-contain px-2 pb-2 transition-opacity ${stale ? "opacity-70" : ""}`}
    >
      {groups.map(({ key, name, about, items }, at) => {
        const first = starts[at] ?? 0;
        return (
          <div key={key} role="group" aria-label={name === "" ? "Further" : name}>
            {name !== "" && (
              <p aria-hidden="true" className="flex items-baseline gap-2 px-2.5 pt-3 pb-1 text-xs text-soft">
                <span dir="auto" className="truncate font-medium text-ink">
                  {inOneLine(name)}
                </span>
                {about !== null && <span className="shrink-0">{inOneLine(about)}</span>}
              </p>
            )}
            {items.map((item, offset) => {
              const index = first + offset;
              return (
                <div
                  key={keyOf(item, index)}
                  id={optionId(listId, index)}
                  role="option"
                  aria-selected={index === chosen}
                  className={`flex min-h-11 cursor-pointer items-center gap-3 rounded-lg px-2.5 py-1.5 text-[0.9375rem] md:min-h-9 ${index === chosen ? "bg-press" : "hover:bg-press/60"}`}
                  onClick={(event) => onTake(item, event.ctrlKey || event.metaKey)}
                >
                  <Content item={item} now={now} />
                </div>
              );
            })}
          </div>
        );
      })}
    </div>
  );
}

function keyOf(item: Item, index: number): string {
  switch (item.kind) {
    case "completion":
      return `completion ${item.completion.label}`;
    case "recent":
      return `recent ${item.query}`;
    case "command":
      return `command ${item.command.name}`;
    case "session":
      return `session ${item.row.id}`;
    case "result":
      return `result ${item.result.session_id} ${item.result.turn} ${item.result.tool ?? item.result.role} ${index}`;
    case "more":
      return "more";
  }
}

function Content({ item, now }: { item: Item; now: number }) {
  switch (item.kind) {
    case "completion":
      return (
        <>
          <span className="max-w-[70%] shrink-0 truncate font-mono text-sm">{inOneLine(item.completion.label)}</span>
          <Hint words={inOneLine(item.completion.hint)} />
        </>
      );
    case "recent":
      return (
        <>
          <span className="shrink-0 text-soft [&>svg]:size-4">
            <Icon name="history" />
          </span>
          <span dir="auto" className="min-w-0 truncate">
            {inOneLine(item.query)}
          </span>
        </>
      );
    case "command":
      return (
        <>
          <span className="min-w-0 flex-1 truncate">{item.command.name}</span>
          {item.command.keys !== "" && <kbd className="pointer-coarse:hidden">{item.command.keys}</kbd>}
        </>
      );
    case "session":
      return <Session row={item.row} now={now} />;
    case "result":
      return <Result result={item.result} now={now} />;
    case "more":
      return <span className="text-soft">More…</span>;
  }
}

/** Of a path the end stays in sight. */
function Hint({ words }: { words: string }) {
  return words.startsWith("/") ? (
    <span className="keeps-end text-sm text-soft">
      <bdi dir="ltr">{words}</bdi>
    </span>
  ) : (
    <span className="min-w-0 truncate text-sm text-soft">{words}</span>
  );
}

function Session({ row, now }: { row: SessionRow; now: number }) {
  return (
    <>
      <span dir="auto" className="min-w-0 flex-1 truncate">
        {titleOf(row)}
      </span>
      <span className={`shrink-0 text-xs ${stateColour(row.state)}`}>{row.state === "idle" ? row.agent : stateWord(row.state)}</span>
      <time className="w-14 shrink-0 text-right text-xs text-soft tabular-nums" dateTime={row.activeAt} title={inFull(row.activeAt)}>
        {ago(row.activeAt, now)}
      </time>
    </>
  );
}

const ROLE_WORDS: Partial<Record<string, string>> = {
  prompt: "you",
  answer: "answer",
  thought: "thought",
  tool: "tool",
  summary: "summary",
  title: "title",
};

/** A knot on its session's thread, where the words were found, and the words. */
function Result({ result, now }: { result: SearchResult; now: number }) {
  const { turn, tool, role, snippet, created } = result;
  return (
    <>
      <span className="w-10 shrink-0 self-start pt-0.5 text-xs text-soft tabular-nums">
        <span className="flex items-center gap-1.5">
          <Bead shape={role === "prompt" ? "hollow" : "solid"} />
          {turn === 0 ? "" : `t${turn}`}
        </span>
      </span>
      <span dir="auto" className="line-clamp-2 min-w-0 flex-1 self-start text-sm leading-snug wrap-anywhere">
        <Marked text={snippet.text} ranges={snippet.highlights} />
      </span>
      <span className="flex shrink-0 flex-col items-end self-start text-xs text-soft">
        <span>{tool ?? ROLE_WORDS[role] ?? role}</span>
        <time className="tabular-nums" dateTime={created} title={inFull(created)}>
          {ago(created, now)}
        </time>
      </span>
    </>
  );
}
