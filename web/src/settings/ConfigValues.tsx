// The values of `config.toml` that belong to a page of the settings, table by table.
import type { Answer } from "../api/http";
import { failureWords } from "../api/http";
import { Alert } from "../ui/Alert";
import { inOneLine } from "../ui/shown";
import type { Settings } from "../wire/names";
import type { SectionName } from "./sections";
import { groupsOf, settingsOf } from "./sections";
import { SettingRow } from "./SettingRow";

interface ConfigValuesProps {
  section: SectionName;
  settings: Answer<Settings> | null;
  /** What is said where nothing of it is set. */
  empty?: string;
}

export function ConfigValues({ section, settings, empty }: ConfigValuesProps) {
  if (settings === null) {
    return <p className="text-soft">Loading…</p>;
  }
  if (!settings.ok) {
    return <Alert>{failureWords(settings.failure)}</Alert>;
  }
  const { file, values } = settings.value;
  const groups = groupsOf(settingsOf(section, values));
  return groups.length === 0 && empty !== undefined ? (
    <p className="text-sm text-soft">{empty}</p>
  ) : (
    groups.map(({ title, table, settings: ofGroup }) => (
      <section key={title} className="mt-8 first:mt-0">
        <div className="flex flex-wrap items-baseline justify-between gap-x-3 border-b border-rule pb-1.5">
          <h3 className="font-semibold wrap-anywhere">{inOneLine(title)}</h3>
          {table !== null && <code className="text-xs text-soft wrap-anywhere">[{inOneLine(table)}]</code>}
        </div>
        <ul className="divide-y divide-rule">
          {ofGroup.map((setting) => (
            <SettingRow key={setting.key} setting={setting} file={file} />
          ))}
        </ul>
      </section>
    ))
  );
}
