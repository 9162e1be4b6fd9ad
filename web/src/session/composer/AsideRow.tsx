// Says that what was being written waits while an earlier prompt is changed, and gives it back.
import { Button } from "../../ui/Button";
import { inOneLine } from "../../ui/shown";
import type { Aside } from "./aside";

export function AsideRow({ aside, onGiveBack }: { aside: Aside; onGiveBack(): void }) {
  return (
    <div className="mb-2 flex items-center gap-x-3 rounded-xl bg-shade py-1 pr-1 pl-3 text-sm">
      <p role="status" className="min-w-0 flex-1">
        <span className="text-soft">Your draft comes back once this is sent.</span>
        {aside.text.trim() !== "" && (
          <span className="block truncate" dir="auto">
            {inOneLine(aside.text)}
          </span>
        )}
      </p>
      <Button look="quiet" className="shrink-0" onClick={onGiveBack}>
        Back to the draft
      </Button>
    </div>
  );
}
