// What a session is about, in full: what is marked, what was proved, and what its agent would be told of it.
//
// Invariant: nothing here is known before the server has said it: a wish is sent, and what came of it comes as a frame.
import type { SessionContext } from "../../state/context";
import { Hint } from "../../ui/Hint";
import type { SessionRow } from "../../wire/names";
import { EnvHint } from "./EnvHint";
import { Facts } from "./Facts";
import { Marks } from "./Marks";
import { PacketPreview } from "./PacketPreview";

interface ContextTabProps {
  row: SessionRow;
  context: SessionContext;
  /** Marks can be changed. */
  writable: boolean;
  onOpenFile(path: string): void;
  /** The reader goes to where something was proved. */
  onJump(): void;
}

export function ContextTab({ row, context, writable, onOpenFile, onJump }: ContextTabProps) {
  return (
    <>
      <p className="mb-5 text-[0.9375rem] text-soft">What this session is about. The agent is told of it when it comes back after a break.</p>
      <Hint id="context" className="mb-5">
        Pinned is what you or the agent said matters. Activity is what the agent has done, each line with the turn that shows it.
      </Hint>
      <div className="space-y-7">
        <Marks row={row} context={context} writable={writable} onOpenFile={onOpenFile} />
        <Facts row={row} context={context} onOpenFile={onOpenFile} onJump={onJump} />
        <EnvHint key={row.meta.envHint ?? ""} row={row} writable={writable} />
        <PacketPreview session={row.id} />
      </div>
    </>
  );
}
