// What can be done with the sessions that are chosen; below the list, in place of its foot.
import type { BulkAction } from "../app/bulkActions";
import { isArchived, isPinned } from "../state/sessionList";
import { Button } from "../ui/Button";
import { counted } from "../ui/counted";
import type { IconName } from "../ui/Icon";
import { Icon } from "../ui/Icon";
import type { SessionRow } from "../wire/names";

interface SelectionBarProps {
  rows: readonly SessionRow[];
  onRun(action: BulkAction): void;
  onTag(): void;
  onAll(): void;
  onEnd(): void;
}

export function SelectionBar({ rows, onRun, onTag, onAll, onEnd }: SelectionBarProps) {
  const archived = rows.length > 0 && rows.every(isArchived);
  const pinned = rows.length > 0 && rows.every(isPinned);
  const none = rows.length === 0;
  const tool = (icon: IconName, label: string, action: BulkAction | null) => (
    <button
      type="button"
      disabled={none}
      className="flex min-h-12 min-w-13 flex-1 flex-col items-center justify-center gap-0.5 rounded-lg text-[0.6875rem] leading-none text-soft transition-[background-color,color,opacity] hover:bg-press hover:text-ink disabled:opacity-50"
      onClick={() => (action === null ? onTag() : onRun(action))}
    >
      <Icon name={icon} />
      {label}
    </button>
  );
  return (
    <div role="toolbar" aria-label="Selected sessions" className="safe-bottom border-t border-rule py-1.5 pr-2 pl-4">
      <div className="flex items-center justify-between gap-2 text-[0.8125rem]">
        <p role="status">{none ? "Select sessions" : `${counted(rows.length, "session")} selected`}</p>
        <div className="flex">
          <Button look="quiet" className="min-h-9! px-2! text-[0.8125rem]!" onClick={onAll}>
            Select all
          </Button>
          <Button look="quiet" className="min-h-9! px-2! text-[0.8125rem]!" onClick={onEnd}>
            Done
          </Button>
        </div>
      </div>
      <div className="-ml-3 flex justify-between gap-0.5">
        {tool("archive", archived ? "Unarchive" : "Archive", { kind: "archive", archived: !archived })}
        {tool("pin", pinned ? "Unpin" : "Pin", { kind: "pin", pinned: !pinned })}
        {tool("tag", "Tag", null)}
        {tool("check", "Seen", { kind: "seen" })}
        {tool("trash", "Delete", { kind: "delete" })}
      </div>
    </div>
  );
}
