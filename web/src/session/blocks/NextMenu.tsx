// With whom a next step goes on, where it is not to be as in this session.
import type { RefObject } from "react";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";

import { failureWords } from "../../api/http";
import { installedIn, useCatalog } from "../../app/useCatalog";
import { Alert } from "../../ui/Alert";
import { Anchored } from "../../ui/Anchored";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { Select } from "../../ui/Select";
import { inOneLine } from "../../ui/shown";
import type { NextWish } from "../../wire/blocks";
import type { NextSteps } from "./useNextSteps";

interface NextMenuProps {
  steps: NextSteps;
  wish: NextWish;
  going: boolean;
  /** Has the focus if it was in here when the step was taken elsewhere. */
  focusAfter: RefObject<HTMLElement | null>;
  onChoose(wish: NextWish): void;
  onGo(): void;
}

const LABEL = "Choose an agent for this step";

export function NextMenu(props: NextMenuProps) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLSpanElement>(null);
  const id = useId();
  const { focusAfter } = props;
  useLayoutEffect(() => {
    const menu = anchor.current;
    const after = focusAfter.current;
    return () => {
      if (menu?.contains(document.activeElement)) {
        after?.focus({ preventScroll: true });
      }
    };
  }, [focusAfter]);
  const close = () => {
    setOpen(false);
    anchor.current?.querySelector("button")?.focus();
  };
  return (
    <span
      ref={anchor}
      className="flex"
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.stopPropagation();
          close();
        }
      }}
    >
      <IconButton label={LABEL} aria-expanded={open} aria-controls={open ? id : undefined} disabled={props.going} onClick={() => setOpen(!open)}>
        <Icon name="more" />
      </IconButton>
      {open && (
        <Anchored id={id} anchor={anchor} side="end" label={LABEL} className="w-80 max-w-[calc(100vw-1rem)] p-4!" onPressElsewhere={() => setOpen(false)}>
          <Choices
            {...props}
            onGo={() => {
              setOpen(false);
              focusAfter.current?.focus();
              props.onGo();
            }}
          />
        </Anchored>
      )}
    </span>
  );
}

function Choices({ steps, wish, onChoose, onGo }: NextMenuProps) {
  const catalog = useCatalog();
  const others = installedIn(catalog).filter(({ name }) => name !== steps.agent);
  const known = catalog.answer?.ok ? catalog.answer.value : [];
  const same = inOneLine(known.find(({ name }) => name === steps.agent)?.title ?? steps.agent);
  const first = useRef<HTMLSelectElement>(null);
  useEffect(() => first.current?.focus(), []);
  return (
    <div className="space-y-3">
      <Choice
        ref={first}
        label="Agent"
        value={wish.agent}
        unchanged={`${same}, as here`}
        choices={others.map(({ name, title }) => ({ value: name, name: title }))}
        onChoose={(agent) => onChoose(agent === undefined ? {} : { agent })}
      />
      {/* Its room stays, so that nothing below it moves. */}
      <p role="status" className="min-h-5 text-[0.8125rem] text-soft">
        {catalog.whole ? "" : others.length === 0 ? "Looking for agents…" : "Looking for more agents…"}
      </p>
      {catalog.failure !== null && <Alert>{failureWords(catalog.failure)}</Alert>}
      {wish.agent === undefined ? (
        (["model", "mode"] as const).map((kind) => {
          const option = steps.options.find(({ category, choices }) => category === kind && choices.length > 0);
          return (
            option !== undefined && (
              <Choice
                key={kind}
                label={inOneLine(option.name)}
                value={wish[kind]}
                unchanged="As here"
                choices={option.choices}
                onChoose={(value) => {
                  const { [kind]: _, ...rest } = wish;
                  onChoose(value === undefined ? rest : { ...rest, [kind]: value });
                }}
              />
            )
          );
        })
      ) : (
        <p className="text-[0.8125rem] text-soft">Its model and mode can be chosen in the new session.</p>
      )}
      <Button look="primary" className="w-full" onClick={onGo}>
        Go on
        <Icon name="move" />
      </Button>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  value: string | undefined;
  /** What it is if nothing is chosen. */
  unchanged: string;
  choices: readonly { value: string; name: string }[];
  onChoose(value: string | undefined): void;
  ref?: React.Ref<HTMLSelectElement>;
}

function Choice({ label, value, unchanged, choices, onChoose, ref }: ChoiceProps) {
  return (
    <label className="block text-sm font-medium">
      {label}
      <Select
        ref={ref}
        boxClass="mt-1 block"
        value={value ?? ""}
        className="min-h-11 text-[0.9375rem] font-normal md:min-h-10"
        onChange={(event) => onChoose(event.target.value === "" ? undefined : event.target.value)}
      >
        <option value="">{unchanged}</option>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {inOneLine(choice.name)}
          </option>
        ))}
      </Select>
    </label>
  );
}
