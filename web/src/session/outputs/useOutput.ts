// Reads an output's bytes once its card is wanted, and what became of them.
import type { RefObject } from "react";
import { useEffect, useRef, useState } from "react";

import type { Answer, Failure } from "../../api/http";
import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import type { Output, OutputBody, OutputStateNow, SessionId } from "../../wire/names";
import type { Showable } from "./outputWords";
import { mimeOf } from "./outputWords";

export type Loaded =
  | { kind: "loading" }
  | { kind: "text"; text: string; changed: boolean }
  /** `source` is an address of bytes that the page holds. */
  | { kind: "picture"; source: string }
  /** The bytes are none that can be shown. */
  | { kind: "bytes" }
  | { kind: "gone" }
  /** It was removed, maybe long after its turn. */
  | { kind: "removed" }
  | { kind: "failed"; words: string };

const LOADING: Loaded = { kind: "loading" };
/** Bytes are asked for when their card is so near to what is in sight. */
const NEAR = "600px";

export function useOutput(session: SessionId, output: Output, wanted: Showable): { loaded: Loaded; retry(): void } {
  const http = useHttp();
  const [loaded, setLoaded] = useState(LOADING);
  const [tries, setTries] = useState(0);
  const { id } = output;
  const mime = mimeOf(output);
  useEffect(() => {
    if (wanted === "nothing" || wanted === "pages") {
      return undefined;
    }
    let mounted = true;
    let source: string | null = null;
    const read = async (): Promise<Loaded> => {
      if (wanted === "text") {
        return textOf(await http.output(session, id));
      }
      const answer = await http.outputBytes(session, id);
      if (!answer.ok) {
        return failed(answer.failure);
      }
      if (!mounted) {
        return LOADING;
      }
      // The server calls a drawing a download; an image element needs to know that it is one.
      source = URL.createObjectURL(new Blob([answer.value], { type: mime }));
      return { kind: "picture", source };
    };
    void read().then((read) => {
      if (mounted) {
        setLoaded(read);
      }
    });
    return () => {
      mounted = false;
      if (source !== null) {
        URL.revokeObjectURL(source);
      }
    };
  }, [http, session, id, mime, wanted, tries]);
  const retry = () => {
    setLoaded(LOADING);
    setTries(tries + 1);
  };
  return { loaded, retry };
}

/** What the server says of an output's bytes; it knows nothing any more of an output that was removed. */
export type OutputStateOrRemoved = OutputStateNow | { state: "removed"; lines?: null };

/** Asked for once it is wanted; null until it is known. */
export function useOutputState(session: SessionId, { id }: Output, wanted: boolean): OutputStateOrRemoved | null {
  const http = useHttp();
  const [stateNow, setStateNow] = useState<OutputStateOrRemoved | null>(null);
  useEffect(() => {
    if (!wanted) {
      return undefined;
    }
    let mounted = true;
    void http.outputState(session, id).then((answer) => {
      if (mounted) {
        const loss = answer.ok ? null : lossOf(answer.failure);
        setStateNow(answer.ok ? answer.value : loss && { state: loss });
      }
    });
    return () => {
      mounted = false;
    };
  }, [http, session, id, wanted]);
  return stateNow;
}

function textOf(answer: Answer<OutputBody>): Loaded {
  if (!answer.ok) {
    return failed(answer.failure);
  }
  const { data, encoding, state } = answer.value;
  if (state === "gone" || typeof data !== "string") {
    return { kind: "gone" };
  }
  return encoding === "utf-8" ? { kind: "text", text: data, changed: state === "changed" } : { kind: "bytes" };
}

function failed(failure: Failure): Loaded {
  return { kind: lossOf(failure) ?? "failed", words: failureWords(failure) };
}

/** Why there is nothing to read any more, if that is so. */
export function lossOf(failure: Failure): "gone" | "removed" | null {
  return failure.kind !== "refused" ? null : failure.status === 410 ? "gone" : failure.code === "output_not_found" ? "removed" : null;
}

/** In words. */
export const LOST = { gone: "The bytes of this output are gone: its file was moved or removed.", removed: "This output was removed. Its bytes are not kept any more." } as const;

/** Whether an element has been near to what is in sight; once it has, that stays so. */
export function useNear(): [ref: RefObject<HTMLElement | null>, near: boolean] {
  const ref = useRef<HTMLElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = ref.current;
    if (near || element === null) {
      return undefined;
    }
    const observer = new IntersectionObserver(
      (changes) => {
        if (changes.some(({ isIntersecting }) => isIntersecting)) {
          setNear(true);
        }
      },
      // What scrolls around it: a margin around the window alone would end at that one's edge.
      { root: element.closest<HTMLElement>("[role=log]"), rootMargin: NEAR },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [near]);
  return [ref, near];
}
