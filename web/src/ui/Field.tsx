// A labelled field of a form, with a hint below it.
import type { ReactNode } from "react";
import { useId } from "react";

export const FIELD =
  "block min-h-11 w-full rounded-lg border border-edge bg-paper px-3 py-2 text-base placeholder:text-soft focus-visible:outline-offset-0";

export interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  label: string;
  hint?: string | undefined;
  optional?: boolean;
  children(ids: FieldIds): ReactNode;
}

export function Field({ label, hint, optional = false, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block text-[0.9375rem] font-medium">
        {label}
        {optional && <span className="font-normal text-soft"> (optional)</span>}
      </label>
      {children({ id, "aria-describedby": hint === undefined ? undefined : hintId })}
      {hint !== undefined && (
        <p id={hintId} className="mt-1.5 text-sm text-soft">
          {hint}
        </p>
      )}
    </div>
  );
}
