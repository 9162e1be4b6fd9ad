// The fields of a form that an agent asks to be filled in: one flat JSON schema, as plain fields, and back to values.
//
// Invariant: a schema that is not understood gives no field rather than a wrong one; what is sent has only named fields.

export type FieldKind = "string" | "number" | "integer" | "boolean" | "choice";

export interface FormField {
  name: string;
  label: string;
  hint: string | null;
  kind: FieldKind;
  required: boolean;
  /** For `choice`: what is sent, and what is read. */
  choices: { value: string; label: string }[];
  /** As it stands in the field. */
  initial: string;
  minimum: number | null;
  maximum: number | null;
}

/** What stands in the fields, by name; a switch says `true` or `false`. */
export type Filled = Readonly<Record<string, string>>;

export function fieldsOf(schema: unknown): FormField[] {
  const { properties, required } = asRecord(schema);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(asRecord(properties)).flatMap(([name, property]) => {
    const field = fieldOf(name, asRecord(property), needed.includes(name));
    return field === null ? [] : [field];
  });
}

export function initialOf(fields: FormField[]): Filled {
  return Object.fromEntries(fields.map(({ name, initial }) => [name, initial]));
}

/** Fields that must be filled in before the answer can be sent. */
export function missingOf(fields: FormField[], filled: Filled): FormField[] {
  return fields.filter(({ name, kind, required }) => {
    const text = (filled[name] ?? "").trim();
    const wrong = (kind === "number" || kind === "integer") && text !== "" && !isNumber(text, kind);
    return wrong || (required && kind !== "boolean" && text === "");
  });
}

export function valuesOf(fields: FormField[], filled: Filled): Record<string, string | number | boolean> {
  const values = fields.map(({ name, kind }) => [name, valueOf(kind, filled[name] ?? "")] as const);
  return Object.fromEntries(values.filter((pair): pair is readonly [string, string | number | boolean] => pair[1] !== null));
}

/** Null for what was left empty. */
function valueOf(kind: FieldKind, text: string): string | number | boolean | null {
  switch (kind) {
    case "boolean":
      return text === "true";
    case "number":
    case "integer":
      return text.trim() === "" ? null : Number(text);
    case "string":
    case "choice":
      return text === "" ? null : text;
  }
}

function fieldOf(name: string, property: Record<string, unknown>, required: boolean): FormField | null {
  const { type, title, description, minimum, maximum } = property;
  const choices = choicesOf(property);
  const kind = choices.length > 0 ? "choice" : type === "string" || type === "number" || type === "integer" || type === "boolean" ? type : null;
  if (kind === null) {
    return null;
  }
  return {
    name,
    label: typeof title === "string" && title !== "" ? title : name,
    hint: typeof description === "string" ? description : null,
    kind,
    required,
    choices,
    initial: initialText(property["default"], kind, choices),
    minimum: typeof minimum === "number" ? minimum : null,
    maximum: typeof maximum === "number" ? maximum : null,
  };
}

function choicesOf(property: Record<string, unknown>): { value: string; label: string }[] {
  const { enum: values, enumNames: names, oneOf } = property;
  if (Array.isArray(values)) {
    return values.filter((value) => typeof value === "string").map((value, at) => ({ value, label: nameAt(names, at) ?? value }));
  }
  if (Array.isArray(oneOf)) {
    return oneOf.map(asRecord).flatMap((one) => {
      const value = one["const"];
      return typeof value === "string" ? [{ value, label: typeof one["title"] === "string" ? one["title"] : value }] : [];
    });
  }
  return [];
}

function nameAt(names: unknown, at: number): string | null {
  const name: unknown = Array.isArray(names) ? names[at] : null;
  return typeof name === "string" ? name : null;
}

function initialText(value: unknown, kind: FieldKind, choices: { value: string }[]): string {
  if (kind === "boolean") {
    return value === true ? "true" : "false";
  }
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  return kind === "choice" && !choices.some((choice) => choice.value === text) ? "" : text;
}

function isNumber(text: string, kind: "number" | "integer"): boolean {
  const value = Number(text);
  return kind === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
