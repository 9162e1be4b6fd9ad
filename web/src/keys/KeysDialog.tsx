// The sheet of keys, made from the table that they are bound by, and the switch for those that are a single letter.
import type { ActionName } from "../app/actions";
import { ACTIONS, keysOf, PLACES } from "../app/actions";
import { Dialog } from "../ui/Dialog";
import { useSingleKeys } from "../ui/keyPresses";

const NAMES = (Object.keys(ACTIONS) as ActionName[]).filter((name) => keysOf(name).length > 0);

export function KeysDialog({ onClose }: { onClose(): void }) {
  const [on, setOn] = useSingleKeys();
  return (
    <Dialog title={ACTIONS.keys.name} onClose={onClose}>
      {PLACES.map((place) => (
        <section key={place} className="mb-5">
          <h3 className="mb-2 text-[0.8125rem] font-semibold text-soft">{place}</h3>
          <dl className="grid grid-cols-[6rem_minmax(0,1fr)] items-baseline gap-x-4 gap-y-2">
            {NAMES.filter((name) => ACTIONS[name].where === place).map((name) => (
              <div key={name} className="contents">
                <dt className="flex gap-1.5">
                  {keysOf(name).map((key, index) => (
                    <kbd key={index}>{key}</kbd>
                  ))}
                </dt>
                <dd>{ACTIONS[name].name}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <p className="text-sm text-soft">Everything else that can be done has its name in the search ({keysOf("search").join(" ")}).</p>
      <label className="mt-4 flex min-h-11 cursor-pointer items-center gap-3 border-t border-rule pt-4">
        <input type="checkbox" className="size-5 accent-focus" checked={on} onChange={(event) => setOn(event.target.checked)} />
        Single-letter keys
      </label>
    </Dialog>
  );
}
