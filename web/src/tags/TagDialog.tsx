// Gives tags to sessions and takes them away.
import { useEffect, useState } from "react";

import { useHttp } from "../app/AppContext";
import type { BulkAction } from "../app/bulkActions";
import { titleOf } from "../state/words";
import { Button } from "../ui/Button";
import { counted } from "../ui/counted";
import { Dialog } from "../ui/Dialog";
import { Field, FIELD } from "../ui/Field";
import type { SessionRow } from "../wire/names";

export function TagDialog({ rows, onRun, onClose }: { rows: readonly SessionRow[]; onRun(action: BulkAction): void; onClose(): void }) {
  const http = useHttp();
  const [text, setText] = useState("");
  const [known, setKnown] = useState<readonly string[]>([]);
  useEffect(() => {
    let wanted = true;
    void http.tags().then((answer) => {
      if (wanted && answer.ok) {
        setKnown(answer.value.tags.map(({ tag }) => tag));
      }
    });
    return () => {
      wanted = false;
    };
  }, [http]);
  const own = [...new Set(rows.flatMap(({ tags }) => tags ?? []))].toSorted();
  const others = known.filter((tag) => !rows.every(({ tags }) => tags?.includes(tag))).slice(0, 12);
  const give = (action: BulkAction) => {
    onRun(action);
    onClose();
  };
  const [only] = rows;
  const tags = text.split(/[\s,]+/).filter((tag) => tag !== "");
  return (
    <Dialog title={`Tags of ${only === undefined || rows.length > 1 ? counted(rows.length, "session") : `“${titleOf(only)}”`}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (tags.length > 0) {
            give({ kind: "tag", add: tags, remove: [] });
          }
        }}
      >
        <Field label="Add tags" hint="Letters, digits and - _ . /, with a space between two tags.">
          {(ids) => <input {...ids} data-first-focus className={FIELD} value={text} maxLength={200} autoCapitalize="none" onChange={(event) => setText(event.target.value)} />}
        </Field>
        <TagRow label="In use" tags={others} verb="Add" onTag={(tag) => give({ kind: "tag", add: [tag], remove: [] })} />
        <TagRow label="Take away" tags={own} verb="Remove" onTag={(tag) => give({ kind: "tag", add: [], remove: [tag] })} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={tags.length === 0}>
            Add
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function TagRow({ label, tags, verb, onTag }: { label: string; tags: readonly string[]; verb: string; onTag(tag: string): void }) {
  return tags.length === 0 ? null : (
    <div className="mt-4">
      <p className="text-sm text-soft">{label}</p>
      <div className="mt-1 flex flex-wrap gap-1.5">
        {tags.map((tag) => (
          <button key={tag} type="button" className="min-h-9 rounded-full border border-edge px-3 text-sm hover:bg-press md:min-h-8" aria-label={`${verb} ${tag}`} onClick={() => onTag(tag)}>
            #{tag}
          </button>
        ))}
      </div>
    </div>
  );
}
