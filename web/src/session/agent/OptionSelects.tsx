// The agent's options in the composer's foot: its mode and its model, and the others behind "More"; without a mode and a model all are behind "Options".
import { useId } from "react";

import { Icon } from "../../ui/Icon";
import { Popup } from "../../ui/Popup";
import { inOneLine } from "../../ui/shown";
import type { AgentOption } from "../../wire/names";
import type { Options } from "./useOptions";

const FIRST: readonly AgentOption["category"][] = ["mode", "model"];
const QUIET =
  "min-h-11 max-w-full min-w-0 rounded-lg text-[0.8125rem] text-soft hover:bg-press hover:text-ink disabled:opacity-50 disabled:hover:bg-transparent md:min-h-9";

const SHEET = "right-0 bottom-full mb-2 w-80 max-w-full p-4!";

interface OptionSelectsProps {
  options: Options;
  /** The agent is there to be told. */
  ready: boolean;
}

export function OptionSelects({ options, ready }: OptionSelectsProps) {
  const main = FIRST.flatMap((category) => options.options.filter((option) => option.category === category && option.choices.length > 0));
  const others = options.options.filter((option) => !main.includes(option));
  return (
    <>
      {options.options.length > 0 && <Narrow main={main} others={others} options={options} ready={ready} />}
      {main.map((option) => (
        <span key={option.id} className={`relative flex min-w-0 items-center @max-lg:hidden ${option.category === "mode" ? "shrink-[4]" : ""}`}>
          <Choices
            option={option}
            options={options}
            ready={ready}
            label={inOneLine(option.name)}
            className={`${QUIET} field-sizing-content appearance-none truncate bg-transparent pr-6 pl-2`}
          />
          <Chevron />
        </span>
      ))}
      {others.length > 0 && (
        <Popup
          label="More options"
          className="@max-lg:hidden"
          sheetClass={SHEET}
          button={(props) => (
            <button type="button" {...props} className={`${QUIET} relative shrink-0 pr-6 pl-2`}>
              {main.length === 0 ? "Options" : "More"}
              <Chevron />
            </button>
          )}
        >
          {() => <Sheet shown={others} options={options} ready={ready} />}
        </Popup>
      )}
    </>
  );
}

/** Where there is no room for them side by side: what is chosen stands on a button, and a sheet has the rest. */
function Narrow({ main, others, options, ready }: OptionSelectsProps & { main: readonly AgentOption[]; others: readonly AgentOption[] }) {
  return (
    <Popup
      label="Options"
      className="min-w-0 @lg:hidden"
      sheetClass={SHEET}
      button={(props) => (
        <button type="button" {...props} aria-haspopup="true" className={`${QUIET} relative flex items-center py-1 pr-6 pl-2 text-left leading-tight`}>
          {main.length === 0 ? (
            "Options"
          ) : (
            <span className="min-w-0">
              <span className="sr-only">Options: </span>
              {main.map((option, index) => (
                <span key={option.id} className={`block truncate ${index === 0 && main.length > 1 ? "text-ink" : ""}`}>
                  {inOneLine(chosenName(option))}
                </span>
              ))}
            </span>
          )}
          <Chevron />
        </button>
      )}
    >
      {() => <Sheet shown={[...main, ...others]} options={options} ready={ready} />}
    </Popup>
  );
}

function Sheet({ shown, options, ready }: OptionSelectsProps & { shown: readonly AgentOption[] }) {
  return (
    <div className="space-y-4">
      {shown.map((option) => (
        <Other key={option.id} option={option} options={options} ready={ready} />
      ))}
    </div>
  );
}

function chosenName({ value, choices }: AgentOption): string {
  return choices.find((choice) => choice.value === value)?.name ?? value;
}

interface ChoicesProps extends OptionSelectsProps {
  option: AgentOption;
  label?: string;
  id?: string;
  className: string;
}

function Choices({ option, options, ready, label, id, className }: ChoicesProps) {
  const pending = options.pending.has(option.id);
  const known = option.choices.some(({ value }) => value === option.value);
  return (
    <select
      id={id}
      aria-label={label}
      aria-busy={pending}
      title={inOneLine(option.description ?? option.name)}
      disabled={!ready}
      value={option.value}
      className={`${className} ${pending ? "animate-pulse" : ""}`}
      onChange={(event) => options.choose(option, event.target.value)}
    >
      {!known && <option value={option.value}>{inOneLine(option.value)}</option>}
      {option.choices.map(({ value, name, description }) => (
        <option key={value} value={value} title={description ? inOneLine(description) : undefined}>
          {inOneLine(name)}
        </option>
      ))}
    </select>
  );
}

function Other({ option, options, ready }: OptionSelectsProps & { option: AgentOption }) {
  const id = useId();
  const pending = options.pending.has(option.id);
  const isSwitch = option.choices.length === 0;
  return (
    <div>
      <div className={isSwitch ? "flex items-center justify-between gap-4" : ""}>
        <label htmlFor={id} className="text-sm font-medium wrap-anywhere">
          {inOneLine(option.name)}
        </label>
        {isSwitch ? (
          <input
            id={id}
            type="checkbox"
            className={`size-5 shrink-0 accent-focus ${pending ? "animate-pulse" : ""}`}
            checked={option.value === "true"}
            disabled={!ready}
            aria-busy={pending}
            onChange={(event) => options.choose(option, String(event.target.checked))}
          />
        ) : (
          <span className="relative mt-1 block">
            <Choices
              id={id}
              option={option}
              options={options}
              ready={ready}
              className="block min-h-11 w-full appearance-none truncate rounded-lg border border-edge bg-paper pr-9 pl-3 text-[0.9375rem] focus-visible:outline-offset-0 md:min-h-10"
            />
            <Chevron className="right-2.5!" />
          </span>
        )}
      </div>
      {option.description && <p className="mt-1 text-[0.8125rem] wrap-anywhere text-soft">{inOneLine(option.description)}</p>}
    </div>
  );
}

function Chevron({ className = "" }: { className?: string }) {
  return (
    <span className={`${className} pointer-events-none absolute inset-y-0 right-1.5 flex items-center text-soft [&>svg]:size-4`}>
      <Icon name="open" />
    </span>
  );
}
