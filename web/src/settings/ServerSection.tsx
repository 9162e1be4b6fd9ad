// Where the server is reached, and where its settings are kept.
import type { Answer } from "../api/http";
import { Command } from "../ui/Commands";
import { inOneLine } from "../ui/shown";
import type { Settings } from "../wire/names";

export function ServerSection({ settings }: { settings: Answer<Settings> | null }) {
  if (settings?.ok !== true) {
    return null;
  }
  const { file, hasFile, url, localOnly } = settings.value;
  return (
    <dl className="mb-8 grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-6 gap-y-2 text-sm">
      <dt className="text-soft">Address</dt>
      <dd className="wrap-anywhere">
        {inOneLine(url)}
        <span className="block text-soft">{localOnly ? "Only this machine reaches it." : "Other devices reach it."}</span>
      </dd>
      <dt className="text-soft">Settings</dt>
      <dd className="wrap-anywhere" dir="ltr">
        {inOneLine(file)}
        {!hasFile && <span className="block text-soft">It is not there: the defaults hold. Make it with any editor.</span>}
      </dd>
      <dt className="text-soft">Check it</dt>
      <dd>
        <Command text="throughline config check" />
      </dd>
    </dl>
  );
}
