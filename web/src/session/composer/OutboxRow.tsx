// Prompts that the server has not said it keeps, and why they wait.
import { Button } from "../../ui/Button";
import { shown } from "../../ui/shown";
import type { Outgoing } from "./outbox";

/** Two lines of it are seen. */
const SHOWN_LETTERS = 1_000;

interface OutboxRowProps {
  waiting: readonly Outgoing[];
  held: boolean;
  onTakeBack(): void;
}

export function OutboxRow({ waiting, held, onTakeBack }: OutboxRowProps) {
  return (
    <div className="mb-2 flex flex-wrap items-start justify-end gap-x-3 rounded-xl bg-shade px-3 py-2">
      <div className="min-w-[min(100%,18rem)] flex-1 text-sm">
        <p role="status" className="text-soft">
          {held ? "Not sent yet: the server did not answer. It goes out as soon as the connection is back." : "Sending…"}
        </p>
        {waiting.map(({ text, key, pictures }) => (
          <p key={key} className="mt-1 line-clamp-2 wrap-anywhere" dir="auto">
            {shown(text.slice(0, SHOWN_LETTERS))}
            {pictures.length > 0 && <span className="text-soft"> (with {pictures.length === 1 ? "a picture" : `${pictures.length} pictures`})</span>}
          </p>
        ))}
      </div>
      {held && (
        <Button look="quiet" className="-mr-2 -my-1 shrink-0" onClick={onTakeBack}>
          Take back
        </Button>
      )}
    </div>
  );
}
