// A step of a turn: a bead on the thread, and what it is about beside it.
import type { ReactNode } from "react";

import type { KnotShape } from "../../ui/Knot";
import { Bead, Knot } from "../../ui/Knot";
import "./Step.css";

interface StepProps {
  bead: KnotShape | null;
  /** What is read out for it as a whole. */
  label?: string | undefined;
  /** The number of the call, by which it can be found. */
  tool?: number | undefined;
  children: ReactNode;
}

export function Step({ bead, label, tool, children }: StepProps) {
  return (
    <div className="step" data-tool={tool} tabIndex={tool === undefined ? undefined : -1} role={label === undefined ? undefined : "group"} aria-label={label}>
      {bead !== null && (
        <span className="step-bead">{bead === "asking" ? <Knot shape="asking" /> : <Bead shape={bead} />}</span>
      )}
      {children}
    </div>
  );
}
