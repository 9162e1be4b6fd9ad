// The coloured pieces of a block of code, once they are known. Until then, and where there are none, the code is plain.
import { useEffect, useState } from "react";

import workerUrl from "./highlight.worker.ts?worker&url";
import { codeLanguage } from "./codeLanguages";
import type { Tokens } from "./highlighter";
import { Highlighter } from "./highlighter";

/** Longer code stays plain: it is looked through, not read. */
const MOST_LINES = 2_000;
const MOST_CHARACTERS = 200_000;
/** Code that still grows is left alone. */
const SETTLED_MS = 200;

export interface Coloured {
  readonly code: string;
  readonly tokens: Tokens;
}

interface TrustedUrls {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedUrls };
/**
 * The page's policy lets no text become a script's address but through a rule that it names. Each worker of the page has
 * one, made once as the policy wants it, which knows a single address; the other is in `app/notifications.ts`.
 */
const rule = trustedTypes?.createPolicy("throughline-highlighter", { createScriptURL: () => workerUrl });

function openWorker(): Worker {
  return new Worker(rule?.createScriptURL(workerUrl) ?? workerUrl, { type: "module" });
}

const highlighter = new Highlighter(openWorker);

/** For the beginning of `code`; null while nothing is known of it. */
export function useCodeTokens(code: string, languageName: string | null): Coloured | null {
  const language = codeLanguage(languageName);
  const wanted = language !== null && isShort(code) ? language : null;
  const known = wanted === null ? null : highlighter.known(code, wanted);
  const [told, setTold] = useState<Coloured | null>(null);
  useEffect(() => {
    if (wanted === null || known !== undefined) {
      return undefined;
    }
    let takeBack: (() => void) | null = null;
    const timer = setTimeout(() => {
      takeBack = highlighter.ask({ code, language: wanted, done: (tokens) => setTold(tokens === null ? null : { code, tokens }) });
    }, SETTLED_MS);
    return () => {
      clearTimeout(timer);
      takeBack?.();
    };
  }, [code, wanted, known]);
  if (known) {
    return { code, tokens: known };
  }
  return wanted !== null && told !== null && code.startsWith(told.code) ? told : null;
}

function isShort(code: string): boolean {
  if (code.length > MOST_CHARACTERS) {
    return false;
  }
  let lines = 1;
  for (let at = code.indexOf("\n"); at >= 0; at = code.indexOf("\n", at + 1)) {
    lines += 1;
  }
  return lines <= MOST_LINES;
}
