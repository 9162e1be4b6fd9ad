// The filter above the list, the sheet that chooses what is listed and in which groups, and what is asked for now.
import { useEffect, useState } from "react";

import { useAppState, useHttp } from "../app/AppContext";
import { baseName } from "../state/context";
import { stateWord } from "../state/words";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { MenuRow } from "../ui/MenuRow";
import { Popup } from "../ui/Popup";
import { Select } from "../ui/Select";
import type { SessionState } from "../wire/names";
import { FilterField } from "./FilterField";
import type { Grouping } from "./lines";
import type { ListView, Shelf } from "./view";
import { keepGrouping } from "./view";

const GROUPING_WORDS: Record<Grouping, string> = { day: "Day", project: "Project", work: "Work", agent: "Agent" };
const SHELF_WORDS: Record<Shelf, string> = { listed: "All sessions", archived: "Archived", deleted: "Deleted" };
const STATES: readonly (SessionState | "unseen")[] = ["needs_you", "running", "unseen", "failed", "interrupted", "idle"];

interface ListToolsProps {
  view: ListView;
  onView(change: Partial<ListView>): void;
  onSelect(): void;
}

export function ListTools({ view, onView, onSelect }: ListToolsProps) {
  return (
    <div className="px-3 pb-1">
      <div className="relative flex items-center gap-1">
        <FilterField text={view.text} disabled={view.shelf === "deleted"} onText={(text) => onView({ text })} />
        <Popup
          label="What the list shows"
          sheetClass="top-full right-0 mt-1 w-72 max-w-[calc(100vw-1.5rem)]"
          button={(props) => (
            <IconButton {...props} label="What the list shows" className="md:size-9!">
              <Icon name="filter" />
            </IconButton>
          )}
        >
          {(close) => <Sheet view={view} onView={onView} onSelect={() => (close(), onSelect())} />}
        </Popup>
      </div>
      <Asked view={view} onView={onView} />
    </div>
  );
}

function Sheet({ view, onView, onSelect }: ListToolsProps) {
  const http = useHttp();
  const rows = useAppState((state) => state.list.rows);
  const [tags, setTags] = useState<readonly string[]>([]);
  useEffect(() => {
    let wanted = true;
    void http.tags().then((answer) => {
      if (wanted && answer.ok) {
        setTags(answer.value.tags.map(({ tag }) => tag));
      }
    });
    return () => {
      wanted = false;
    };
  }, [http]);
  const agents = [...new Set([...rows.values()].map(({ agent }) => agent))].toSorted();
  const projects = [...new Set([...rows.values()].map(({ project }) => project))].toSorted();
  const choice = (value: string) => (value === "" ? null : value);
  return (
    <div className="space-y-2 p-1.5">
      <Choice label="Show" value={view.shelf} onChange={(shelf) => onView({ shelf: shelf as Shelf })} options={Object.entries(SHELF_WORDS)} />
      {view.shelf !== "deleted" && (
        <>
          <Choice
            label="Group by"
            value={view.grouping}
            options={Object.entries(GROUPING_WORDS)}
            onChange={(grouping) => {
              keepGrouping(grouping as Grouping);
              onView({ grouping: grouping as Grouping });
            }}
          />
          <Choice label="State" value={view.state ?? ""} options={[["", "Any"], ...STATES.map((state): [string, string] => [state, stateWords(state)])]} onChange={(state) => onView({ state: choice(state) as ListView["state"] })} />
          <Choice label="Agent" value={view.agent ?? ""} options={[["", "Any"], ...agents.map((agent): [string, string] => [agent, agent])]} onChange={(agent) => onView({ agent: choice(agent) })} />
          <Choice label="Project" value={view.project ?? ""} options={[["", "Any"], ...projects.map((project): [string, string] => [project, baseName(project)])]} onChange={(project) => onView({ project: choice(project) })} />
          <Choice label="Tag" value={view.tag ?? ""} options={[["", "Any"], ...tags.map((tag): [string, string] => [tag, `#${tag}`])]} onChange={(tag) => onView({ tag: choice(tag) })} />
          <div className="border-t border-rule pt-1.5">
            <MenuRow icon="select" className="-mx-1.5 w-auto!" onClick={onSelect}>
              Select several
            </MenuRow>
          </div>
        </>
      )}
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  /** [value, words] */
  options: readonly (readonly [string, string])[];
  onChange(value: string): void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label className="flex items-center justify-between gap-3 px-1 text-[0.9375rem]">
      <span className="whitespace-nowrap text-soft">{label}</span>
      <Select boxClass="w-40 min-w-0" className="min-h-11 text-[0.9375rem] md:min-h-9 pointer-coarse:min-h-11" value={value} onChange={(event) => onChange(event.target.value)}>
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </Select>
    </label>
  );
}

/** Each of them can be taken away. */
function Asked({ view, onView }: Pick<ListToolsProps, "view" | "onView">) {
  const asked: [string, Partial<ListView>][] = [];
  if (view.shelf !== "listed") {
    asked.push([SHELF_WORDS[view.shelf], { shelf: "listed" }]);
  }
  if (view.state !== null) {
    asked.push([stateWords(view.state), { state: null }]);
  }
  if (view.agent !== null) {
    asked.push([view.agent, { agent: null }]);
  }
  if (view.project !== null) {
    asked.push([baseName(view.project), { project: null }]);
  }
  if (view.tag !== null) {
    asked.push([`#${view.tag}`, { tag: null }]);
  }
  return asked.length === 0 ? null : (
    <ul aria-label="Filters" className="mt-1.5 flex flex-wrap gap-1.5">
      {asked.map(([words, without]) => (
        <li key={words}>
          <button type="button" aria-label={`Remove filter ${words}`} className="inline-flex min-h-8 max-w-full items-center gap-1 rounded-full border border-edge bg-paper pr-1.5 pl-3 text-[0.8125rem] hover:bg-press md:min-h-7" onClick={() => onView(without)}>
            <span className="truncate">{words}</span>
            <span className="[&>svg]:size-3.5">
              <Icon name="close" />
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function stateWords(state: SessionState | "unseen"): string {
  return state === "unseen" ? "Unseen" : stateWord(state);
}
