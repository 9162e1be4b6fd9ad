// What is to be known of a message before it is read.

/** A failure of the protocol itself. */
export class JsonRpcFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Stops counting as soon as it is; a value that holds itself counts as too large. */
export function tooLarge(value: unknown, most: number): boolean {
  let bytes = 0;
  const left: unknown[] = [value];
  while (left.length > 0) {
    const next = left.pop();
    bytes += typeof next === "string" ? next.length + 2 : 8;
    if (typeof next === "object" && next !== null) {
      if (ArrayBuffer.isView(next) || next instanceof ArrayBuffer || next instanceof Blob) {
        return true;
      }
      for (const [name, inner] of Object.entries(next)) {
        bytes += name.length;
        left.push(inner);
        if (bytes + left.length > most) {
          return true;
        }
      }
    }
    if (bytes > most) {
      return true;
    }
  }
  return false;
}
