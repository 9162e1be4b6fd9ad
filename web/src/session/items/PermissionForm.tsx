// The fields that an agent asks to be filled in beside a choice.
import { useId } from "react";

import { Select } from "../../ui/Select";
import { shown } from "../../ui/shown";
import type { Filled, FormField } from "./formFields";

interface PermissionFormProps {
  fields: FormField[];
  filled: Filled;
  /** Shown to be missing, once an answer was tried without them. */
  missing: FormField[];
  disabled: boolean;
  onChange(filled: Filled): void;
}

export function PermissionForm({ fields, filled, missing, disabled, onChange }: PermissionFormProps) {
  return (
    <fieldset className="mt-3 space-y-3" disabled={disabled}>
      <legend className="sr-only">What the agent asks for</legend>
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={filled[field.name] ?? ""}
          missing={missing.includes(field)}
          onChange={(value) => onChange({ ...filled, [field.name]: value })}
        />
      ))}
    </fieldset>
  );
}

interface FieldProps {
  field: FormField;
  value: string;
  missing: boolean;
  onChange(value: string): void;
}

const BOX = "block min-h-11 w-full rounded-lg border border-edge bg-paper px-3 text-base md:min-h-10";

function Field({ field, value, missing, onChange }: FieldProps) {
  const id = useId();
  const hintId = useId();
  const { kind, label, hint, required, choices, minimum, maximum } = field;
  const says = { id, "aria-describedby": hint === null && !missing ? undefined : hintId, "aria-invalid": missing || undefined };
  const about = (hint !== null || missing) && (
    <p id={hintId} className="mt-1 text-[0.8125rem] text-soft">
      {missing && <strong className="font-semibold text-failed">{kind === "number" || kind === "integer" ? "A number is needed here. " : "This is needed. "}</strong>}
      {hint !== null && shown(hint)}
    </p>
  );
  if (kind === "boolean") {
    return (
      <div>
        <label className="flex min-h-11 items-center gap-2.5 md:min-h-8" htmlFor={id}>
          <input {...says} type="checkbox" className="size-4.5 accent-focus" checked={value === "true"} onChange={(event) => onChange(String(event.target.checked))} />
          <span dir="auto">{shown(label)}</span>
        </label>
        {about}
      </div>
    );
  }
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-[0.9375rem]" dir="auto">
        {shown(label)}
        {!required && <span className="text-soft"> (optional)</span>}
      </label>
      {kind === "choice" ? (
        <Select {...says} className="min-h-11 text-base md:min-h-10" value={value} onChange={(event) => onChange(event.target.value)}>
          <option value="">{required ? "Choose…" : "None"}</option>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {shown(choice.label)}
            </option>
          ))}
        </Select>
      ) : (
        <input
          {...says}
          className={BOX}
          type={kind === "string" ? "text" : "number"}
          inputMode={kind === "string" ? undefined : "decimal"}
          step={kind === "integer" ? 1 : kind === "number" ? "any" : undefined}
          min={minimum ?? undefined}
          max={maximum ?? undefined}
          dir={kind === "string" ? "auto" : undefined}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
      {about}
    </div>
  );
}
