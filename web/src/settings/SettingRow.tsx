// One setting: what it is for and how it is set, in words; its name and where it comes from; and the line that changes it, to be copied.
import { CopyButton } from "../ui/CopyButton";
import { Fold } from "../ui/Fold";
import { inOneLine, shown } from "../ui/shown";
import type { Setting, SettingSource } from "../wire/names";
import { valueWords } from "./sections";

/** A longer value is cut, and quieter than what the setting is for: the line that changes it has all of it. */
const SHORT_CHARACTERS = 120;
/** So much stands beside what the setting is for, at every width, so that short values make a column. */
const BESIDE_CHARACTERS = 15;

export function SettingRow({ setting, file }: { setting: Setting; file: string }) {
  const { key, about, value, source, change } = setting;
  const name = key.slice(key.lastIndexOf(".") + 1);
  const words = valueWords(value);
  const long = words.length > SHORT_CHARACTERS;
  const comesBefore = overrideWords(setting);
  return (
    <li className="pt-3 pb-2">
      <div className={`flex items-baseline justify-between gap-x-6 gap-y-1 ${words.length > BESIDE_CHARACTERS ? "flex-wrap" : ""}`}>
        <h4 className="min-w-0 text-[0.9375rem] wrap-anywhere">{inOneLine(about === "" ? name : about)}</h4>
        <span dir="auto" className={`${long ? "text-sm" : "text-[0.9375rem]"} ${words.length > BESIDE_CHARACTERS ? "min-w-0 wrap-anywhere" : "shrink-0"} ${long || value === null || value === undefined ? "text-soft" : "font-medium"}`}>
          {inOneLine(long ? `${words.slice(0, SHORT_CHARACTERS)}…` : words)}
        </span>
      </div>
      <p className="mt-0.5 flex flex-wrap items-baseline gap-x-2 text-xs text-soft">
        <code className="wrap-anywhere">{inOneLine(name)}</code>
        <span aria-hidden="true">·</span>
        <span className={source.type === "default" ? "" : "text-ink"}>{inOneLine(sourceWords(source))}</span>
      </p>
      <Fold className="mt-1.5" line={<span className="text-[0.8125rem] text-soft">How to change it</span>}>
        {() => (
          <div className="mt-2 mb-2 rounded-lg border border-rule">
            <div className="flex items-center justify-between gap-3 border-b border-rule px-3 py-1.5">
              <p className="min-w-0 text-[0.8125rem] text-soft wrap-anywhere">
                {inOneLine(placeWords(setting, file))}
                {comesBefore !== null && <span className="block text-ink">{inOneLine(comesBefore)}</span>}
              </p>
              <CopyButton text={change.text} what={`the line for ${name}`} />
            </div>
            <pre tabIndex={0} role="region" aria-label={`The line for ${name}`} dir="ltr" className="max-h-60 overflow-auto px-3 py-2 font-mono text-[0.8125rem] leading-[1.55]">
              {shown(change.text)}
            </pre>
          </div>
        )}
      </Fold>
    </li>
  );
}

export function sourceWords(source: SettingSource): string {
  switch (source.type) {
    case "default":
      return "Default value";
    case "config":
      return `config.toml, line ${source.line}`;
    case "flag":
      return `Set by the flag ${source.name}`;
    case "environment":
      return `Set by the variable ${source.name}`;
    case "system":
      return `Lowered: ${source.reason}`;
  }
}

/** What to remove so that the line in the file takes effect; null where nothing overrides the file, or the file cannot set it. */
function overrideWords({ source, change: { place } }: Setting): string | null {
  if (place.type === "terminal") {
    return null;
  }
  switch (source.type) {
    case "flag":
      return `The flag ${source.name} comes before the file: start the server without it.`;
    case "environment":
      return `The variable ${source.name} comes before the file: unset it, too.`;
    case "default":
    case "config":
    case "system":
      return null;
  }
}

export function placeWords({ change: { place } }: Setting, file: string): string {
  switch (place.type) {
    case "replace":
      return `In place of line ${place.line} of ${file}`;
    case "below":
      return `Below line ${place.line} of ${file}`;
    case "end":
      return `At the end of ${file}`;
    case "terminal":
      return "In a terminal, when the server is started";
  }
}
