// The versions that are kept of an applet's state, newest first; each can be made the newest again.
import { useEffect, useState } from "react";

import type { Answer } from "../../api/http";
import { failureWords } from "../../api/http";
import { useNow } from "../../ui/time";
import type { AppletStateNow, AppletVersion, JsonObject } from "../../wire/applets";

export interface VersionsOf {
  list(): Promise<Answer<{ versions: AppletVersion[] }>>;
  read(version: number): Promise<Answer<AppletStateNow>>;
  /** Rejects with an error that says why. */
  write(state: JsonObject): Promise<unknown>;
}

/** There may be one of each second. */
const today = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const before = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function toTheSecond(version: number, now: number): string {
  return (new Date(version).toDateString() === new Date(now).toDateString() ? today : before).format(version);
}

export function VersionRows({ of, onDone }: { of: VersionsOf; onDone(): void }) {
  const now = useNow();
  const [answer, setAnswer] = useState<Answer<{ versions: AppletVersion[] }> | null>(null);
  const [failed, setFailed] = useState<string | null>(null);
  const [asking] = useState(() => of.list());
  useEffect(() => {
    void asking.then(setAnswer);
  }, [asking]);
  const restore = async (version: number) => {
    const read = await of.read(version);
    if (!read.ok) {
      setFailed(failureWords(read.failure));
      return;
    }
    try {
      await of.write(read.value.state);
      onDone();
    } catch (error) {
      setFailed(error instanceof Error ? error.message : "It could not be written.");
    }
  };
  return (
    <div className="p-2.5 text-[0.9375rem]">
      <h3 className="font-semibold">Versions of its state</h3>
      {failed !== null && (
        <p role="alert" className="mt-1 text-failed">
          {failed}
        </p>
      )}
      {answer === null ? (
        <p className="mt-1 text-soft">Reading…</p>
      ) : !answer.ok ? (
        <p role="alert" className="mt-1">
          {failureWords(answer.failure)}
        </p>
      ) : answer.value.versions.length === 0 ? (
        <p className="mt-1 text-soft">None is kept yet: its state was not changed.</p>
      ) : (
        <ul className="mt-1">
          {answer.value.versions.map(({ version, bytes }, index) => (
            <li key={version} className="flex min-h-11 items-center gap-3 md:min-h-9">
              <time className="min-w-0 flex-1 tabular-nums" dateTime={new Date(version).toISOString()}>
                {toTheSecond(version, now)}
              </time>
              <span className="text-xs text-soft tabular-nums">{bytes.toLocaleString("en")} B</span>
              {index === 0 ? (
                <span className="text-[0.8125rem] text-soft">now</span>
              ) : (
                <button type="button" className="small-button" aria-label={`Restore the version of ${toTheSecond(version, now)}`} onClick={() => void restore(version)}>
                  Restore
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
