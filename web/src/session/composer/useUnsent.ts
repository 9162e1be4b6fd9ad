// Keeps what is being written on the server as well, so that it is there on the person's next device.
//
// Invariant: what is typed here is never typed over, and what was sent does not come back. Words of another device come into
// a field that holds what the server had from here last; they do not while the server has not heard of what is here, be it
// that the field was emptied. What this browser keeps is given up only for words that the server has, or that it says were
// sent or taken back.
import { useEffect, useEffectEvent, useRef, useState } from "react";

import { useAppState, useHttp } from "../../app/AppContext";
import type { SessionId } from "../../wire/names";

/** How long the hands rest before what they wrote is sent: with every letter it would be too much. */
export const REST_MS = 600;

/** This page among those that write; another load of it is another writer. */
const WRITER = crypto.randomUUID();

const storageKey = (session: SessionId) => `throughline.unsent.${session}`;

/** What the server had from this browser last. */
function readKnown(session: SessionId): string {
  return localStorage.getItem(storageKey(session)) ?? "";
}

function storeKnown(session: SessionId, text: string): void {
  try {
    if (text === "") {
      localStorage.removeItem(storageKey(session));
    } else {
      localStorage.setItem(storageKey(session), text);
    }
  } catch {
    // No room: then what is here counts as the newer.
  }
}

interface Unsent {
  session: SessionId;
  online: boolean;
  text: string;
  /** Puts the words of another device into the field. */
  onWritten(text: string): void;
}

export function useUnsent({ session, online, text, onWritten }: Unsent): void {
  const http = useHttp();
  const heard = useAppState((state) => state.followed.get(session)?.unsent ?? null);
  const known = useRef(readKnown(session));
  const know = (words: string) => {
    known.current = words;
    storeKnown(session, words);
  };
  /** Words are on their way to the server. */
  const going = useRef(false);
  /** Counts when words set out and when they arrived: an answer to a question from before that is out of date. */
  const moves = useRef(0);
  const [round, setRound] = useState(0);
  const take = useEffectEvent((words: string) => {
    // Something here has not gone out: it is the newer, and goes out soon.
    if (going.current || text !== known.current) {
      return;
    }
    know(words);
    if (words !== text) {
      onWritten(words);
    }
  });

  useEffect(() => {
    if (!online) {
      return undefined;
    }
    let left = false;
    const asked = moves.current;
    void http.unsent(session).then((answer) => {
      // Null: this run of the server knows nothing of it, so what is here stays.
      if (!left && moves.current === asked && answer.ok && typeof answer.value.text === "string") {
        take(answer.value.text);
      }
    });
    return () => {
      left = true;
    };
  }, [http, session, online]);

  useEffect(() => {
    if (heard !== null && heard.writer !== WRITER) {
      take(heard.text);
    }
  }, [heard]);

  const isHere = useEffectEvent((words: string) => text === words);
  const put = useEffectEvent(async (words: string) => {
    // One after the other, so that the newest arrives last.
    if (going.current) {
      return;
    }
    going.current = true;
    moves.current += 1;
    const answer = await http.putUnsent(session, { text: words, writer: WRITER });
    going.current = false;
    moves.current += 1;
    // What is too long for the server stays in this browser alone.
    if (answer.ok) {
      know(words);
    }
    if (!isHere(words)) {
      setRound((count) => count + 1);
    }
  });
  useEffect(() => {
    if (!online || text === known.current) {
      return undefined;
    }
    // An empty field was sent or given up: the other devices are told at once.
    const timer = setTimeout(() => void put(text), text === "" ? 0 : REST_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [text, online, session, round]);
}
