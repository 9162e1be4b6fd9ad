// What an applet may do, each to be given and taken back.
import { useEffect, useState } from "react";

import type { AppletGrant } from "../../wire/applets";
import { GRANT_WORDS } from "./AskBar";
import type { Grants } from "./grants";
import { GRANTS } from "./grants";

export function GrantRows({ grants }: { grants: Grants }) {
  const [known, setKnown] = useState<ReadonlySet<AppletGrant> | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const show = (answer: Promise<ReadonlySet<AppletGrant>>) =>
    answer.then(
      (granted) => {
        setKnown(granted);
        setFailed(null);
      },
      (error: unknown) => setFailed(error instanceof Error ? error.message : "It is not known."),
    );
  useEffect(() => {
    void show(grants.known());
  }, [grants]);
  return (
    <div className="p-2.5 text-[0.9375rem]">
      <h3 className="font-semibold">What it may do</h3>
      <p className="mt-1 text-[0.8125rem] text-soft">It shows itself and keeps its state, and has no network. Anything more is up to you, and ends when its content changes.</p>
      {failed !== null && (
        <p role="alert" className="mt-1 text-failed">
          {failed}
        </p>
      )}
      <ul className="mt-1">
        {known !== null &&
          GRANTS.map((grant) => (
            <li key={grant}>
              <label className="flex min-h-11 items-center gap-3 md:min-h-9">
                <input type="checkbox" checked={known.has(grant)} onChange={(event) => void show(grants.set(grant, event.target.checked))} />
                <span className="first-letter:uppercase">{GRANT_WORDS[grant]}</span>
              </label>
            </li>
          ))}
      </ul>
    </div>
  );
}
