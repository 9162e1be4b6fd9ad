// What the agent said and did in a turn, in order.
import { memo, use, useMemo, useState } from "react";

import type { Block, Item, ToolCall } from "../../state/transcript";
import { Fold } from "../../ui/Fold";
import type { Place } from "../../ui/place";
import { SoughtContext } from "../../ui/place";
import type { SessionId, Timestamp } from "../../wire/names";
import { AppletCard, AppletSaved } from "../applets/AppletCard";
import type { TurnBlocks } from "../blocks/turnBlocks";
import { turnBlocks } from "../blocks/turnBlocks";
import { Words } from "../blocks/Words";
import type { FoundWords } from "../find/found";
import { callsHolding, FoundContext } from "../find/found";
import { LiveOutput } from "../outputs/LiveOutput";
import { OutputCard } from "../outputs/OutputCard";
import type { Actions } from "./actions";
import { AskedElsewhere, Compaction, Notice } from "./Asides";
import { ItemBoundary } from "./ItemBoundary";
import { LargeEntry } from "./LargeEntry";
import { MadeByNewer } from "./MadeByNewer";
import { PermissionCard } from "./PermissionCard";
import { Plan } from "./Plan";
import type { Segment } from "./segments";
import { layoutOf, runWords } from "./segments";
import { Step } from "./Step";
import { Thought } from "./Thought";
import { ToolCard } from "./ToolCard";

interface ItemsProps {
  turn: number;
  /** The session that it is of. */
  session: SessionId;
  /** The same, if that is not the open one: then nothing is answered here. */
  past: SessionId | null;
  items: readonly Item[];
  /** Which of its words are more than words. */
  blocks: readonly Block[];
  /** The turn runs. */
  running: boolean;
  answeredAt: ReadonlyMap<number, Timestamp>;
  actions: Actions;
  now: number;
}

const NONE: ReadonlySet<number> = new Set();

export function Items({ turn, items, blocks: told, ...rest }: ItemsProps) {
  const blocks = useMemo(() => turnBlocks(told), [told]);
  const { past } = rest;
  const sought = use(SoughtContext);
  const place = sought?.turn === turn && (sought.tool !== null || sought.shown !== undefined) ? sought : null;
  const looked = use(FoundContext);
  const found = looked?.turn === turn && past === null ? looked : null;
  const holding = useMemo(() => (found === null ? NONE : callsHolding(items, found)), [items, found]);
  /** What asks for a call or an output to be in sight, if anything does. */
  const askedFor = (item: Item): Place | FoundWords | null =>
    item.type === "output" ? (item.output.id === place?.shown?.id ? place : null) : item.type !== "tool" ? null : item.tool === place?.tool ? place : holding.has(item.tool) ? found : null;
  const firstAsk = (some: readonly Item[]) => some.map(askedFor).find((ask) => ask !== null) ?? null;
  const { calls, asking } = useMemo(() => askedAbout(items), [items]);
  const [layout] = useState(() => layoutOf(items));
  const [left, setHidden] = useState(layout.hidden);
  const soughtAt = place === null && holding.size === 0 ? -1 : layout.segments.findIndex(({ from, to }) => firstAsk(items.slice(from, to)) !== null);
  const hidden = soughtAt < 0 ? left : Math.min(left, soughtAt);
  const later: Segment[] = items.slice(layout.known).map((_, index) => {
    const from = layout.known + index;
    return { kind: "item", from, to: from + 1 };
  });
  const show = ({ from }: Segment) => {
    const item = items[from];
    return item === undefined ? null : (
      <ItemBoundary key={keyOf(item, from)} item={item}>
        <OneItem
          turn={turn}
          item={item}
          blocks={blocks}
          asked={askedFor(item)}
          call={item.type === "permission" ? (calls.get(item.tool ?? 0) ?? null) : null}
          waits={item.type === "tool" && asking.has(item.tool) && rest.running && past === null}
          last={from === items.length - 1}
          {...rest}
        />
      </ItemBoundary>
    );
  };
  return (
    <>
      {hidden > 0 && (
        <div>
          <button type="button" className="small-button" onClick={() => setHidden(Math.max(0, hidden - 100))}>
            Show {hidden} earlier {hidden === 1 ? "part" : "parts"} of this turn
          </button>
        </div>
      )}
      {[...layout.segments, ...later].slice(hidden).map((segment) =>
        segment.kind === "run" ? (
          <Run key={`run-${segment.from}`} asked={firstAsk(items.slice(segment.from, segment.to))} items={items.slice(segment.from, segment.to)}>
            {() => singles(segment).map(show)}
          </Run>
        ) : (
          show(segment)
        ),
      )}
    </>
  );
}

/** The calls by their numbers, and those that a question without an answer is about. */
function askedAbout(items: readonly Item[]): { calls: ReadonlyMap<number, ToolCall>; asking: ReadonlySet<number> } {
  const calls = new Map(items.flatMap((item) => (item.type === "tool" ? [[item.tool, item] as const] : [])));
  const asking = new Set(items.flatMap((item) => (item.type === "permission" && item.answer === null && item.tool ? [item.tool] : [])));
  return { calls, asking };
}

function Run({ items, asked, children }: { items: readonly Item[]; asked: object | null; children(): React.ReactNode }) {
  const { count, kinds, failed } = runWords(items);
  return (
    <Step bead="run">
      <Fold
        asked={asked}
        line={
          <>
            <span className="shrink-0 font-medium">{count}</span>
            <span className="min-w-0 truncate text-[0.8125rem] text-soft">{kinds}</span>
            {failed !== null && <span className="ml-auto shrink-0 text-[0.8125rem] font-semibold text-failed">{failed}</span>}
          </>
        }
      >
        {() => <div className="space-y-1.5 pt-1.5">{children()}</div>}
      </Fold>
    </Step>
  );
}

function singles({ from, to }: Segment): Segment[] {
  return Array.from({ length: to - from }, (_, index) => ({ kind: "item", from: from + index, to: from + index + 1 }));
}

interface OneItemProps extends Omit<ItemsProps, "items" | "blocks"> {
  item: Item;
  blocks: TurnBlocks;
  /** What asks for it to be in sight, if it is a call. */
  asked: Place | FoundWords | null;
  /** The call that it asks about, if it is a question. */
  call: ToolCall | null;
  /** It is a call, and what it waits for is asked below. */
  waits: boolean;
  /** Nothing has come after it. */
  last: boolean;
}

const OneItem = memo(function OneItem({ turn, session, past, item, blocks, asked, call, waits, last, running, answeredAt, actions, now }: OneItemProps) {
  const growing = running && last;
  switch (item.type) {
    case "text":
      return <Words turn={turn} item={item} blocks={blocks} running={running} last={last} />;
    case "thought":
      return <Thought text={item.text} growing={growing} />;
    case "tool":
      // The question about it shows all that is known of it.
      return waits ? null : <ToolCard call={item} asked={asked} />;
    case "plan":
      return <Plan steps={item.steps} />;
    case "permission":
      if (past !== null && running && item.answer === null) {
        return <AskedElsewhere session={past} turn={turn} title={item.title} />;
      }
      return <PermissionCard permission={item} call={call} open={running} answeredAt={answeredAt.get(item.request) ?? null} actions={actions} now={now} />;
    case "notice":
      return <Notice severity={item.severity} title={item.title} description={item.description ?? null} />;
    case "compaction":
      return <Compaction summary={item.summary} />;
    case "output":
      if (item.output.type === "applet" && !item.removed) {
        return <AppletCard session={session} turn={turn} output={item.output} applet={item.applet} />;
      }
      return <OutputCard session={session} turn={turn} isPast={past !== null} output={item.output} removed={item.removed} />;
    case "applet_saved":
      return <AppletSaved session={session} slug={item.slug} name={item.name} />;
    case "live_output":
      return <LiveOutput item={item} />;
    case "large":
      return <LargeEntry item={item} actions={actions} />;
    case "newer":
      return <MadeByNewer item={item} />;
  }
});

/** An item keeps its place by what it is: words that are not durable yet may move down by one when an entry comes. */
function keyOf(item: Item, index: number): string {
  switch (item.type) {
    case "text":
    case "thought":
      return `${item.type}-${item.block}`;
    case "tool":
      return `tool-${item.tool}`;
    case "permission":
      return `permission-${item.request}`;
    case "plan":
      return "plan";
    case "output":
      return item.output.id;
    case "live_output":
      return item.id;
    case "large":
      return `large-${item.seq}`;
    case "notice":
    case "compaction":
    case "applet_saved":
    case "newer":
      return `${item.type}-${index}`;
  }
}
