// After a session was deleted: says so, and offers it back. It stays until it is answered, below the page: it covers nothing.
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
    <div role="status" className="safe-bottom safe-x flex justify-center border-t border-rule pt-1">
      <div className="flex max-w-full items-center gap-1">
        <p className="mr-2 min-w-0 text-[0.9375rem] wrap-anywhere">
          {failure === null ? `Deleted “${titleOf(row)}”` : failureWords(failure)}
        </p>
        <Button look="quiet" className="font-semibold text-ink!" onClick={() => void undo()}>
          Undo
        </Button>
        <IconButton label="Dismiss" onClick={onDismiss}>
          <Icon name="close" />
        </IconButton>
      </div>
    </div>
  );
}
