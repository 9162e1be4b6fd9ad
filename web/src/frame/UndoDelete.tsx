// After a session was deleted: says so, and offers it back. It stays until it is answered.
import { useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { titleOf } from "../state/words";
import { Button, IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import type { SessionRow } from "../wire/names";

interface UndoDeleteProps {
  row: SessionRow;
  onRestored(): void;
  onDismiss(): void;
}

export function UndoDelete({ row, onRestored, onDismiss }: UndoDeleteProps) {
  const http = useHttp();
  const [failure, setFailure] = useState<Failure | null>(null);
  const undo = async () => {
    const answer = await http.restoreSession(row.id);
    if (answer.ok) {
      onRestored();
    } else {
      setFailure(answer.failure);
    }
  };
  return (
    <div role="status" className="fixed inset-x-0 bottom-[max(1rem,env(safe-area-inset-bottom))] z-10 flex justify-center px-4">
      <div className="flex max-w-full items-center gap-1 rounded-xl border border-rule bg-paper py-1 pr-1 pl-4 shadow-sheet">
        <p className="mr-2 min-w-0 truncate text-[0.9375rem]">
          {failure === null ? `Deleted “${titleOf(row)}”` : failureWords(failure)}
        </p>
        <Button look="quiet" className="font-semibold text-thread!" onClick={() => void undo()}>
          Undo
        </Button>
        <IconButton label="Dismiss" onClick={onDismiss}>
          <Icon name="close" />
        </IconButton>
      </div>
    </div>
  );
}
