// The sheet of keys, and the switch for those that are a single letter.
import { Dialog } from "../ui/Dialog";
import { chordName, useSingleKeys } from "../ui/keyPresses";

const KEYS: readonly (readonly [keys: readonly string[], words: string])[] = [
  [["n"], "New session"],
  [["j", "k"], "Next, previous session in the list"],
  [["g"], "Go to a session or a piece of work"],
  [["Enter"], "Open the session; in the composer, send"],
  [["/"], "Write a prompt; at its start, the agent’s commands"],
  [["@"], "In a prompt, a file of the session’s directory"],
  [["↑"], "In an empty prompt, the prompts before it"],
  [[chordName("K")], "Search every session"],
  [[chordName("F")], "Find in this session; once more, in what the browser shows"],
  [["t"], "The session’s contents"],
  [["c"], "What the session is about"],
  [["y", "a", "n"], "Where the agent asks: allow once, always allow, reject"],
  [["Shift", "Enter"], "New line in a prompt"],
  [["Esc"], "Leave the composer, close a dialog"],
  [["?"], "This sheet"],
];

export function KeysDialog({ onClose }: { onClose(): void }) {
  const [on, setOn] = useSingleKeys();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-6 gap-y-3">
        {KEYS.map(([keys, words]) => (
          <div key={words} className="contents">
            <dt className="flex gap-1.5">
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
      <label className="mt-6 flex min-h-11 cursor-pointer items-center gap-3 border-t border-rule pt-4">
        <input type="checkbox" className="size-5 accent-focus" checked={on} onChange={(event) => setOn(event.target.checked)} />
        Single-letter keys
      </label>
    </Dialog>
  );
}
