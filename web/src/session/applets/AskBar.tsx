// What an applet asks for, above its frame, in the page's own words and with the page's own buttons.
import { useEffect, useState, useSyncExternalStore } from "react";

import { Button } from "../../ui/Button";
import { Exact } from "../../ui/Exact";
import type { AppletGrant } from "../../wire/applets";
import type { Ask, Asks } from "./asks";

/** As in “Counter wants to …”. */
export const GRANT_WORDS: Record<AppletGrant, string> = {
  "files.read": "read files of this session",
  "files.write": "write files of this session",
  message: "send prompts to the agent",
};

/** A press so soon after the bar came was meant for what stood there before. */
const ARMED_AFTER_MS = 600;

export function AskBar({ asks, title }: { asks: Asks; title: string }) {
  const ask = useSyncExternalStore(asks.subscribe, asks.current);
  return ask === null ? null : <Bar key={asks.nth} ask={ask} title={title} onAnswer={(yes) => asks.answer(yes)} />;
}

function Bar({ ask, title, onAnswer }: { ask: Ask; title: string; onAnswer(yes: boolean): void }) {
  const text = ask.kind === "link" ? ask.url : ask.text;
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), ARMED_AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  const agree = () => {
    onAnswer(true);
    if (ask.kind === "link") {
      // What it opens knows nothing of this page.
      window.open(ask.url, "_blank", "noopener,noreferrer");
    }
  };
  return (
    <div role="alertdialog" aria-label="The applet asks" className="border-b border-rule ground-shade px-4 py-3 text-[0.9375rem]">
      <p>
        <strong className="font-semibold" dir="auto">
          {title}
        </strong>{" "}
        wants to {wishOf(ask)}
      </p>
      {text !== null && (
        <p className="mt-1.5 verbatim max-h-40 overflow-y-auto border-l-2 border-rule pl-3">
          <Exact text={text} />
        </p>
      )}
      <div className="mt-2.5 flex flex-wrap items-center gap-2">
        <Button look="primary" disabled={!armed} onClick={agree}>
          {ask.kind === "link" ? "Open it" : ask.text === null ? "Allow" : "Send, and allow it from now on"}
        </Button>
        <Button disabled={!armed} onClick={() => onAnswer(false)}>
          Not now
        </Button>
      </div>
      {ask.kind === "grant" && <p className="mt-2 text-[0.8125rem] text-soft">This holds until the applet changes. You can take it back in its menu.</p>}
    </div>
  );
}

function wishOf(ask: Ask): string {
  return ask.kind === "link" ? "open this page elsewhere:" : ask.text === null ? `${GRANT_WORDS[ask.grant]}.` : "send this to the agent:";
}
