// The sets of marks, and how they are changed.
import type { FormEvent } from "react";
import { useId, useState } from "react";

import { useHttp } from "../../app/AppContext";
import type { SessionContext } from "../../state/context";
import { absolutePath } from "../../state/context";
import { Button, IconButton } from "../../ui/Button";
import { Exact } from "../../ui/Exact";
import { FIELD } from "../../ui/Field";
import { Icon } from "../../ui/Icon";
import { relativePath } from "../../ui/paths";
import { inOneLine } from "../../ui/shown";
import type { SessionRow, SetContext } from "../../wire/names";
import type { ChangeNote } from "./changeNote";
import { changeNote } from "./changeNote";
import { ChangeWords } from "./ChangeWords";
import { FileLink } from "./FileLink";

interface MarksProps {
  row: SessionRow;
  context: SessionContext;
  writable: boolean;
  onOpenFile(path: string): void;
}

const KNOWN: readonly (readonly [set: string, hint: string])[] = [
  ["files", "Such as src/shuttle.rs"],
  ["applet", "Its name, then key=value"],
  ["endpoints", "Such as http://localhost:3000/api"],
  ["ports", "Such as 8080"],
];

export function Marks({ row, context, writable, onOpenFile }: MarksProps) {
  const heading = useId();
  const changing = useChanging(row);
  const known = KNOWN.map(([set]) => set);
  const sets = [...known.filter((set) => set in context.sets || set === "files"), ...Object.keys(context.sets).filter((set) => !known.includes(set))];
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading} className="font-semibold">
        Pinned
      </h3>
      <div className="mt-2 space-y-4">
        {sets.map((set) => (
          <OneSet key={set} changing={changing} row={row} set={set} items={context.sets[set] ?? []} writable={writable} onOpenFile={onOpenFile} />
        ))}
        {writable && <NewSet changing={changing} />}
      </div>
    </section>
  );
}

/** What changes the marks, and what is to be said of the last change: where it was made, and until the next. */
interface Changing {
  busy: boolean;
  noteAt(place: string): ChangeNote | null;
  /** Whether all of it was done. */
  change(place: string, wish: SetContext, added: readonly string[]): Promise<boolean>;
}

/** The place of a change that no set has: the form for a new one. */
const NEW_SET = "";

function useChanging(row: SessionRow): Changing {
  const http = useHttp();
  const [last, setLast] = useState<{ place: string; note: ChangeNote | null } | null>(null);
  const [busy, setBusy] = useState(false);
  return {
    busy,
    noteAt: (place) => (last?.place === place ? last.note : null),
    change: async (place, wish, added) => {
      setLast(null);
      setBusy(true);
      const answer = await http.setContext(row.id, wish);
      setBusy(false);
      const note = changeNote(answer, added);
      setLast({ place, note });
      return note?.kind !== "failure";
    },
  };
}

interface OneSetProps extends Omit<MarksProps, "http" | "context"> {
  changing: Changing;
  set: string;
  items: readonly string[];
}

function OneSet({ changing, row, set, items, writable, onOpenFile }: OneSetProps) {
  const { busy, noteAt, change } = changing;
  const [written, setWritten] = useState("");
  const name = inOneLine(set);
  const add = async (event: FormEvent) => {
    event.preventDefault();
    const item = written.trim();
    if (item !== "" && (await change(set, { setName: set, items: [item], mode: "merge" }, [item]))) {
      setWritten("");
    }
  };
  return (
    <div role="group" aria-label={`Pinned ${name}`}>
      <h4 className="text-[0.8125rem] font-medium text-soft first-letter:uppercase">
        {name} {items.length > 0 && <span className="tabular-nums">{items.length} of 10</span>}
      </h4>
      <ul>
        {items.map((item) => (
          <li key={item} className="flex min-h-11 items-center gap-2 md:pointer-fine:min-h-9">
            <span className="min-w-0 flex-1 text-[0.9375rem] wrap-anywhere">
              {set === "files" ? (
                <FileLink session={row.id} path={absolutePath(item, row.cwd)} words={inOneLine(relativePath(item, row.cwd))} onOpen={onOpenFile} />
              ) : (
                <Exact text={item} />
              )}
            </span>
            {writable && (
              <IconButton
                label={`Remove ${inOneLine(item)} from ${name}`}
                disabled={busy}
                className="md:pointer-fine:size-8! [&>svg]:size-4"
                onClick={() => void change(set, { setName: set, items: [item], mode: "remove" }, [])}
              >
                <Icon name="close" />
              </IconButton>
            )}
          </li>
        ))}
      </ul>
      {items.length === 0 && <p className="text-[0.9375rem] text-soft">Nothing is pinned.</p>}
      {writable && (
        <form className="mt-1 flex gap-2" onSubmit={(event) => void add(event)}>
          <input
            className={`${FIELD} min-w-0 flex-1`}
            aria-label={`Add to ${name}`}
            placeholder={KNOWN.find(([known]) => known === set)?.[1] ?? "One line"}
            value={written}
            spellCheck={false}
            autoCapitalize="off"
            onChange={(event) => setWritten(event.target.value)}
          />
          <Button type="submit" disabled={busy || written.trim() === ""}>
            Add
          </Button>
        </form>
      )}
      <ChangeWords note={noteAt(set)} className="mt-2" />
    </div>
  );
}

function NewSet({ changing: { busy, noteAt, change } }: { changing: Changing }) {
  const [open, setOpen] = useState(false);
  const [set, setSet] = useState("");
  const [item, setItem] = useState("");
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (await change(NEW_SET, { setName: set.trim(), items: [item.trim()], mode: "merge" }, [item.trim()])) {
      setSet("");
      setItem("");
      setOpen(false);
    }
  };
  if (!open) {
    return (
      <div>
        <button type="button" className="small-button" onClick={() => setOpen(true)}>
          New set
        </button>
        <ChangeWords note={noteAt(NEW_SET)} className="mt-2" />
      </div>
    );
  }
  return (
    <form aria-label="New set" className="space-y-2" onSubmit={(event) => void add(event)}>
      <input
        autoFocus
        className={FIELD}
        aria-label="Name of the set"
        placeholder="Name, such as endpoints, ports or tickets"
        list="known-sets"
        value={set}
        onChange={(event) => setSet(event.target.value)}
      />
      <datalist id="known-sets">
        {KNOWN.map(([known]) => (
          <option key={known} value={known} />
        ))}
      </datalist>
      <input className={FIELD} aria-label="Its first item" placeholder="First item" value={item} onChange={(event) => setItem(event.target.value)} />
      <div className="flex gap-2">
        <Button type="submit" disabled={busy || set.trim() === "" || item.trim() === ""}>
          Add the set
        </Button>
        <Button look="quiet" onClick={() => setOpen(false)}>
          Cancel
        </Button>
      </div>
      <ChangeWords note={noteAt(NEW_SET)} />
    </form>
  );
}
