// Files outside of a session's directories that the person said they mean to open. Asked once in a browser.
import type { SessionId } from "../../wire/names";

const KEY = "throughline.outside";
const MOST = 200;

export function isConfirmed(session: SessionId, path: string): boolean {
  return kept().includes(`${session} ${path}`);
}

export function rememberConfirmed(session: SessionId, path: string): void {
  const name = `${session} ${path}`;
  localStorage.setItem(KEY, JSON.stringify([...kept().filter((other) => other !== name), name].slice(-MOST)));
}

function kept(): string[] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(read) ? read.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
