// The event model of a turn, drawn: a column a slice, from the screen down to what happens elsewhere.
//
// Invariant: all that the drawing shows is said in words as well; every node can be reached and opened by key.
import { memo, useId, useMemo, useRef, useState } from "react";

import { Anchored } from "../../ui/Anchored";
import { Breakable } from "../../ui/Breakable";
import { inOneLine } from "../../ui/shown";
import type { Slice } from "../../wire/blocks";
import type { EventModelLayout, PlacedNode } from "./eventModelLayout";
import { COLUMN, layOut, TIER_NAMES } from "./eventModelLayout";
import "./EventModel.css";

interface EventModelProps {
  /** By which links find it. */
  id: string;
  slices: readonly Slice[];
}

export const EventModel = memo(function EventModel({ id, slices }: EventModelProps) {
  const layout = useMemo(() => layOut(slices), [slices]);
  const { columns, head, tiers, nodes, arrows, width, height } = layout;
  return (
    <figure className="event-model" aria-label="Event model">
      <div id={id} role="region" aria-label="Event model, drawn" tabIndex={0} className="event-model-scroll">
        <div className="relative" style={{ width: `${width}rem`, height: `${height}rem` }}>
          {tiers.map(({ tier, y, height: tall }) => (
            <div key={tier} className="event-model-tier" style={{ top: `${y}rem`, height: `${tall}rem` }}>
              <span aria-hidden="true">{TIER_NAMES[tier].all}</span>
            </div>
          ))}
          <svg aria-hidden="true" viewBox={`0 0 ${width} ${height}`} className="event-model-arrows" style={{ width: `${width}rem`, height: `${height}rem` }}>
            {arrows.map(({ kind, from, to, path, head: tip }) => (
              <g key={`${from} ${to} ${kind}`} data-kind={kind}>
                <path d={path} className="event-model-path" />
                <path d={tip} />
              </g>
            ))}
          </svg>
          {columns.map(({ slice, label, x, lines }, index) => (
            <div key={index} className="event-model-column" style={{ left: `${x}rem`, width: `${COLUMN}rem`, height: `${head}rem` }}>
              <p className="event-model-name font-semibold" style={{ WebkitLineClamp: lines }} title={inOneLine(label || slice)}>
                <Breakable name={inOneLine(label || slice)} />
              </p>
              {label !== "" && label !== slice && <p className="truncate text-xs text-soft">{inOneLine(slice)}</p>}
            </div>
          ))}
          {nodes.map((placed) => (
            <NodeButton key={placed.id} placed={placed} slice={inOneLine(columns[placed.column]?.slice ?? "")} />
          ))}
        </div>
      </div>
      <InWords layout={layout} />
    </figure>
  );
});

function NodeButton({ placed, slice }: { placed: PlacedNode; slice: string }) {
  const { tier, node, x, y, height, lines } = placed;
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLSpanElement>(null);
  const id = useId();
  const name = inOneLine(node.name);
  const fields = node.fields ?? [];
  const feeds = node.feeds ?? [];
  return (
    <span
      ref={anchor}
      className="absolute"
      style={{ left: `${x}rem`, top: `${y}rem`, width: `${COLUMN}rem`, height: `${height}rem` }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.stopPropagation();
          setOpen(false);
        }
      }}
      onBlur={(event) => {
        if (event.relatedTarget instanceof Node && !event.currentTarget.contains(event.relatedTarget)) {
          setOpen(false);
        }
      }}
    >
      <button
        type="button"
        className="event-model-node"
        data-tier={tier}
        data-new={node.new || undefined}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <span className="sr-only">{TIER_NAMES[tier].one} </span>
        <span className="event-model-name" style={{ WebkitLineClamp: lines }}>
          <Breakable name={name} />
        </span>
        {node.new && (
          <>
            {" "}
            <span className="event-model-new">new</span>
          </>
        )}
      </button>
      {open && (
        <Anchored id={id} anchor={anchor} side="below" label={name} className="w-72 max-w-[calc(100vw-1rem)] p-3!" onPressElsewhere={() => setOpen(false)}>
          <p className="text-xs text-soft">
            {TIER_NAMES[tier].one} of {slice}
            {node.new && " · new"}
          </p>
          <p className="font-semibold wrap-anywhere" dir="auto">
            <Breakable name={name} />
          </p>
          {fields.length === 0 ? (
            <p className="mt-1.5 text-sm text-soft">No fields are given.</p>
          ) : (
            <dl className="event-model-fields">
              {fields.map((field, index) => (
                <div key={index} className="contents">
                  <dt>
                    <Breakable name={inOneLine(field.name)} />
                  </dt>
                  <dd>
                    <Breakable name={inOneLine(field.type)} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
          {feeds.length > 0 && <p className="mt-2 text-sm wrap-anywhere text-soft">Feeds {feeds.map(inOneLine).join(", ")}</p>}
        </Anchored>
      )}
    </span>
  );
}

/** The same for those who do not see it: a line a slice. */
function InWords({ layout: { columns, nodes } }: { layout: EventModelLayout }) {
  return (
    <ul className="sr-only">
      {columns.map(({ slice, label }, column) => (
        <li key={column}>
          {inOneLine(label === "" ? slice : `${slice}, ${label}`)}:{" "}
          {nodes
            .filter((placed) => placed.column === column)
            .map(({ tier, node }) => {
              const feeds = (node.feeds ?? []).length === 0 ? "" : `, feeds ${node.feeds.join(" and ")}`;
              return inOneLine(`${TIER_NAMES[tier].one} ${node.name}${node.new ? " (new)" : ""}${feeds}`);
            })
            .join("; ")}
          .
        </li>
      ))}
    </ul>
  );
}
