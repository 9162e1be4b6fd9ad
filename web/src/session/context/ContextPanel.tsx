// What a session is about, in full: what is marked, what was proved, and what its agent would be told of it.
//
// Invariant: nothing here is known before the server has said it: a wish is sent, and what came of it comes as a frame.
import type { SessionContext } from "../../state/context";
import { Dialog } from "../../ui/Dialog";
import type { SessionRow } from "../../wire/names";
import { EnvHint } from "./EnvHint";
import { Facts } from "./Facts";
import { Marks } from "./Marks";
import { PacketPreview } from "./PacketPreview";

interface ContextPanelProps {
  row: SessionRow;
  context: SessionContext;
  /** Marks can be changed. */
  writable: boolean;
  onOpenFile(path: string): void;
  onClose(): void;
}

export function ContextPanel({ row, context, writable, onOpenFile, onClose }: ContextPanelProps) {
  return (
    <Dialog title="Context" side onClose={onClose}>
      <p className="-mt-2 mb-5 text-[0.9375rem] text-soft">What this session is about. The agent is told of it when it comes back after a break.</p>
      <div className="space-y-7">
        <Marks row={row} context={context} writable={writable} onOpenFile={onOpenFile} />
        <Facts row={row} context={context} onOpenFile={onOpenFile} onJump={onClose} />
        <EnvHint key={row.meta.envHint ?? ""} row={row} writable={writable} />
        <PacketPreview session={row.id} />
      </div>
    </Dialog>
  );
}
