// Chooses the agent's options. What is chosen shows at once, and holds when the agent has said so.
import { useEffect, useEffectEvent, useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { inOneLine } from "../../ui/shown";
import type { AgentOption, SessionId } from "../../wire/names";
import type { Place } from "./rememberedOptions";
import { rememberedOptions, rememberOption } from "./rememberedOptions";

/** An agent that has not taken up a choice by then will not. */
const PATIENCE_MS = 20_000;

interface OptionsParts {
  session: SessionId;
  place: Place;
  options: readonly AgentOption[];
  ready: boolean;
  /** The session was begun just now, on this page: it starts with what was chosen last in such a place. */
  fresh: boolean;
}

export interface Options {
  /** As they are shown: with what was chosen and is not in force yet. */
  readonly options: readonly AgentOption[];
  readonly pending: ReadonlySet<string>;
  /** What went wrong, or what was chosen without being asked. */
  readonly note: { kind: "failure" | "applied"; words: string } | null;
  choose(option: AgentOption, value: string): void;
}

interface Wish {
  readonly id: string;
  readonly value: string;
  /** What was in force when it was wished for. */
  readonly was: string;
}

export function useOptions({ session, place, options, ready, fresh }: OptionsParts): Options {
  const http = useHttp();
  const [wishes, setWishes] = useState<readonly Wish[]>([]);
  const [note, setNote] = useState<Options["note"]>(null);
  const [seen, setSeen] = useState(options);
  if (seen !== options) {
    setSeen(options);
    setWishes(wishes.filter(({ id, was }) => options.find((option) => option.id === id)?.value === was));
  }

  const ask = async (option: AgentOption, value: string): Promise<boolean> => {
    const wish: Wish = { id: option.id, value, was: option.value };
    const drop = () => setWishes((since) => since.filter((other) => other !== wish));
    setWishes((since) => [...since.filter(({ id }) => id !== wish.id), wish]);
    const answer = await http.setOption(session, option.id, { value, key: crypto.randomUUID() });
    if (answer.ok) {
      setTimeout(drop, PATIENCE_MS);
    } else {
      drop();
      setNote({ kind: "failure", words: `${inOneLine(option.name)} stays as it was. ${failureWords(answer.failure)}` });
    }
    return answer.ok;
  };

  const applied = useRef(false);
  const apply = useEffectEvent(async () => {
    const remembered = rememberedOptions(place);
    const names: string[] = [];
    for (const option of options) {
      const value = remembered[option.id];
      if (value !== undefined && value !== option.value && isOffered(option, value) && (await ask(option, value))) {
        names.push(`${inOneLine(option.name)}: ${choiceName(option, value)}`);
      }
    }
    if (names.length > 0) {
      setNote({ kind: "applied", words: `As last time in this project. ${names.join(", ")}.` });
    }
  });
  const offered = options.length > 0;
  useEffect(() => {
    if (fresh && ready && offered && !applied.current) {
      applied.current = true;
      void apply();
    }
  }, [fresh, ready, offered]);

  return {
    options: options.map((option) => {
      const wish = wishes.find(({ id }) => id === option.id);
      return wish === undefined ? option : { ...option, value: wish.value };
    }),
    pending: new Set(wishes.map(({ id }) => id)),
    note,
    choose(option, value) {
      setNote(null);
      const inForce = options.find(({ id }) => id === option.id);
      if (inForce !== undefined) {
        void ask(inForce, value).then((ok) => {
          if (ok) {
            rememberOption(place, option.id, value);
          }
        });
      }
    },
  };
}

function isOffered(option: AgentOption, value: string): boolean {
  return option.choices.length === 0 ? value === "true" || value === "false" : option.choices.some((choice) => choice.value === value);
}

function choiceName(option: AgentOption, value: string): string {
  const choice = option.choices.find((other) => other.value === value);
  return choice === undefined ? (value === "true" ? "on" : "off") : inOneLine(choice.name);
}
