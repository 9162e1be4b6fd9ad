// What is to be known of a message before it is read.

/** A failure of the protocol itself. */
export class JsonRpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Deeper than any message of ours, and than any state may be. */
const MOST_DEEP = 64;

/**
 * Why a message is not read: it is too large, or no JSON could say it. Stops counting as soon as it is; a value that holds itself
 * counts as too large, and so does an array by its length, however little is in it.
 */
export function troubleOf(value: unknown, most: number): "too_large" | "bad_arguments" | null {
  let bytes = 0;
  const left: { value: unknown; depth: number }[] = [{ value, depth: 0 }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value: now, depth } = next;
    if (!isOfJson(now)) {
      return "bad_arguments";
    }
    bytes += typeof now === "string" ? now.length + 2 : 8;
    if (typeof now === "object" && now !== null) {
      if (depth === MOST_DEEP) {
        return "too_large";
      }
      if (Array.isArray(now)) {
        bytes += now.length;
        if (bytes > most) {
          return "too_large";
        }
      }
      for (const [name, inner] of Object.entries(now)) {
        bytes += name.length;
        left.push({ value: inner, depth: depth + 1 });
        if (bytes + left.length > most) {
          return "too_large";
        }
      }
    }
    if (bytes > most) {
      return "too_large";
    }
  }
  return null;
}

function isOfJson(value: unknown): boolean {
  switch (typeof value) {
    case "string":
    case "boolean":
    case "number":
    case "undefined":
      return true;
    case "object":
      return value === null || Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
    default:
      return false;
  }
}
