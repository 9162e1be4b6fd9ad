// Every credential in force, with the way to end it, and how another device gets one.
import { useCallback, useRef, useState } from "react";
import { flushSync } from "react-dom";

import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { inOneLine } from "../ui/shown";
import { sinceWords, useNow } from "../ui/time";
import type { Token } from "../wire/names";
import { AddPhoneDialog } from "./AddPhoneDialog";
import { useAsked } from "./useAsked";

const KINDS: Readonly<Record<Token["kind"], string>> = {
  browser: "Browser or phone",
  person: "Program",
  agent: "Program, one session",
  applet: "Applet",
};

export function DevicesSection() {
  const http = useHttp();
  const [asked, setAsked] = useState(0);
  const ask = useCallback(() => http.tokens(), [http]);
  const answer = useAsked(ask, asked);
  const now = useNow();
  const [adding, setAdding] = useState(false);
  const [ending, setEnding] = useState<string | null>(null);
  const [words, setWords] = useState<string | null>(null);
  const again = () => setAsked((count) => count + 1);
  const list = useRef<HTMLUListElement>(null);
  const revoke = async (id: string) => {
    setEnding(null);
    // The line is about to go.
    list.current?.focus();
    const revoked = await http.revokeToken(id);
    setWords(revoked.ok || (revoked.failure.kind === "refused" && revoked.failure.code === "token_not_found") ? null : failureWords(revoked.failure));
    again();
  };
  return (
    <>
      <Button look="primary" onClick={() => setAdding(true)}>
        <Icon name="plus" />
        Add a phone
      </Button>
      {words !== null && <Alert className="mt-4">{words}</Alert>}
      {answer === null && <p className="mt-4 text-soft">Loading…</p>}
      {answer?.ok === false && <Alert className="mt-4">{failureWords(answer.failure)}</Alert>}
      {answer?.ok === true && (
        <ul ref={list} tabIndex={-1} aria-label="Devices and programs" className="mt-5 divide-y divide-rule border-y border-rule">
          {answer.value.tokens.map((token) => (
            <li key={token.id} className="flex items-center justify-between gap-3 py-2.5">
              <div className="min-w-0">
                <p className="truncate font-medium">{inOneLine(token.name)}</p>
                <p className="text-sm text-soft">
                  {token.id === answer.value.own ? <span className="font-medium text-ink">This browser</span> : KINDS[token.kind]} · made {sinceWords(token.issuedAt, now)}
                </p>
              </div>
              {ending === token.id ? (
                <span className="-mr-3 flex shrink-0">
                  <Button
                    look="quiet"
                    autoFocus
                    onClick={(event) => {
                      const line = event.currentTarget.closest("li");
                      flushSync(() => setEnding(null));
                      line?.querySelector("button")?.focus();
                    }}
                  >
                    Keep
                  </Button>
                  <Button look="plain" aria-label={`Sign out ${token.name} for good`} onClick={() => void revoke(token.id)}>
                    Sign out
                  </Button>
                </span>
              ) : (
                <Button look="quiet" className="-mr-3" aria-label={`Revoke ${token.name}`} onClick={() => setEnding(token.id)}>
                  Revoke
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      <p className="mt-3 text-sm text-soft">Revoking takes effect at once: a browser is signed out, a program is refused.</p>
      {adding && (
        <AddPhoneDialog
          onClose={() => {
            setAdding(false);
            again();
          }}
        />
      )}
    </>
  );
}
