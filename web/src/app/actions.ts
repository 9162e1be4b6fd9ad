// Every action of the page, once: what it is called, its key, and where it can be done.
//
// Invariant: keys are bound through this table alone, and the sheet of keys and the palette are made from it. So the sheet can
// not name a key that does something else, and what can be done by a key is found by its name, too.
import { useEffect, useEffectEvent, useSyncExternalStore } from "react";

import { chordName, useKeyPresses } from "../ui/keyPresses";

export interface Action {
  readonly name: string;
  /** The key as a press tells it; none where it is done by name alone. */
  readonly key?: string;
  /** The letter that is pressed with Ctrl, or with Command on Apple's keyboards. */
  readonly chord?: string;
  /** How keys are shown that are neither. */
  readonly keys?: readonly string[];
  readonly where: Where;
}

export const PLACES = ["Everywhere", "In the list", "In a session", "Where the agent asks", "In a prompt"] as const;
export type Where = (typeof PLACES)[number];

export const ACTIONS = {
  search: { name: "Search every session, or do anything listed here", chord: "k", where: "Everywhere" },
  "new-session": { name: "New session", key: "n", where: "Everywhere" },
  "go-to": { name: "Go to a session or a piece of work", key: "g", where: "Everywhere" },
  "needs-you": { name: "Next session that needs you", key: "u", where: "Everywhere" },
  "all-sessions": { name: "All sessions", where: "Everywhere" },
  usage: { name: "Usage", where: "Everywhere" },
  settings: { name: "Settings", where: "Everywhere" },
  agents: { name: "Agents", where: "Everywhere" },
  permissions: { name: "Remembered permissions", where: "Everywhere" },
  "add-phone": { name: "Add a phone", where: "Everywhere" },
  theme: { name: "Theme", where: "Everywhere" },
  keys: { name: "Keyboard shortcuts", key: "?", where: "Everywhere" },

  "next-row": { name: "Next session in the list", key: "j", where: "In the list" },
  "previous-row": { name: "Previous session in the list", key: "k", where: "In the list" },
  select: { name: "Select the row with the focus; Esc selects none", key: "x", where: "In the list" },
  archive: { name: "Archive or unarchive what is selected, else the row with the focus", key: "e", where: "In the list" },
  pin: { name: "Pin or unpin it", key: "p", where: "In the list" },
  tag: { name: "Change its tags", key: "l", where: "In the list" },

  write: { name: "Write a prompt", key: "/", where: "In a session" },
  "next-turn": { name: "Next turn", key: "J", where: "In a session" },
  "previous-turn": { name: "Previous turn", key: "K", where: "In a session" },
  "first-turn": { name: "First turn", where: "In a session" },
  "newest-turn": { name: "Newest turn", key: "G", where: "In a session" },
  find: { name: "Find in this session; press again for the browser’s own search", chord: "f", where: "In a session" },
  contents: { name: "The session’s contents", key: "t", where: "In a session" },
  shown: { name: "What was shown in it", key: "o", where: "In a session" },
  context: { name: "What the session is about", key: "c", where: "In a session" },
  changes: { name: "What changed in its files", key: "d", where: "In a session" },
  plan: { name: "Its plan and what is open", where: "In a session" },
  applets: { name: "Applets", where: "In a session" },
  stop: { name: "Stop the running turn", keys: ["Esc", "Esc"], where: "In a session" },
  fork: { name: "Fork from the newest turn", key: "f", where: "In a session" },
  rename: { name: "Rename the session", key: "r", where: "In a session" },
  "archive-session": { name: "Archive this session", where: "In a session" },
  "unarchive-session": { name: "Unarchive this session", where: "In a session" },
  "pin-session": { name: "Pin this session", where: "In a session" },
  "unpin-session": { name: "Unpin this session", where: "In a session" },
  "tag-session": { name: "Tags of this session", where: "In a session" },
  "copy-session": { name: "Copy the session as Markdown", where: "In a session" },
  "save-session": { name: "Save the session as Markdown", where: "In a session" },
  "delete-session": { name: "Delete the session", where: "In a session" },

  "allow-once": { name: "Allow once", key: "y", where: "Where the agent asks" },
  "always-allow": { name: "Always allow", key: "a", where: "Where the agent asks" },
  reject: { name: "Reject", key: "n", where: "Where the agent asks" },

  send: { name: "Send", keys: ["Enter"], where: "In a prompt" },
  "new-line": { name: "New line", keys: ["Shift", "Enter"], where: "In a prompt" },
  command: { name: "At the start of a prompt, the agent’s commands", keys: ["/"], where: "In a prompt" },
  file: { name: "A file of the session’s directory", keys: ["@"], where: "In a prompt" },
  recall: { name: "In an empty prompt, the prompts before it", keys: ["↑"], where: "In a prompt" },
  leave: { name: "Leave the prompt; elsewhere, close what is open", keys: ["Esc"], where: "In a prompt" },
} as const satisfies Record<string, Action>;

export type ActionName = keyof typeof ACTIONS;

/** What is pressed for it, each as on a key. */
export function keysOf(name: ActionName): readonly string[] {
  const { key, chord, keys }: Action = ACTIONS[name];
  if (chord !== undefined) {
    return chordName(chord.toUpperCase()).split(" ");
  }
  if (key === undefined) {
    return keys ?? [];
  }
  return /^[A-Z]$/.test(key) ? ["Shift", key] : [key];
}

/** What a part of the page can do now; what it can not do now is undefined. */
export type ActionHandlers = Partial<Record<ActionName, (() => void) | undefined>>;

interface Offered {
  readonly names: readonly ActionName[];
  run(name: ActionName): void;
}

/** Of all parts that are drawn. */
let offered: readonly Offered[] = [];
const listeners = new Set<() => void>();

function offer(next: readonly Offered[]): void {
  offered = next;
  listeners.forEach((listener) => listener());
}

/** Binds the keys of these actions, and has the palette list them, for as long as the part is drawn. */
export function useActions(handlers: ActionHandlers): void {
  const names = (Object.keys(handlers) as ActionName[]).filter((name) => handlers[name] !== undefined);
  const run = useEffectEvent((name: ActionName) => handlers[name]?.());
  const known = names.join();
  useEffect(() => {
    const own: Offered = { names: known.split(",") as ActionName[], run: (name) => run(name) };
    offer([...offered, own]);
    return () => {
      offer(offered.filter((other) => other !== own));
    };
  }, [known]);
  const presses: Record<string, (event: KeyboardEvent) => void> = {};
  for (const name of names) {
    const { key }: Action = ACTIONS[name];
    if (key !== undefined) {
      presses[key] = (event) => {
        event.preventDefault();
        handlers[name]?.();
      };
    }
  }
  useKeyPresses(presses);
}

export interface Available {
  readonly name: string;
  readonly keys: string;
  run(): void;
}

/** What can be done now, in the order of the table. */
export function useAvailable(): readonly Available[] {
  const all = useSyncExternalStore(subscribe, () => offered);
  return (Object.keys(ACTIONS) as ActionName[]).flatMap((name) => {
    const by = all.findLast(({ names }) => names.includes(name));
    return by === undefined ? [] : [{ name: ACTIONS[name].name, keys: keysOf(name).join(" "), run: () => by.run(name) }];
  });
}

/** Does this where a part of the page offers it; undefined where none does now. */
export function useAction(name: ActionName): (() => void) | undefined {
  const by = useSyncExternalStore(subscribe, () => offered).findLast(({ names }) => names.includes(name));
  return by === undefined ? undefined : () => by.run(name);
}

function subscribe(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => {
    listeners.delete(onChange);
  };
}
