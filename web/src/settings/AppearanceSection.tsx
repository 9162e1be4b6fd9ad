// The colours of the page, in this browser.
import { useId } from "react";

import type { Theme } from "../ui/theme";
import { chooseTheme, THEMES, useTheme } from "../ui/theme";

const WORDS: Readonly<Record<Theme, readonly [title: string, about: string]>> = {
  system: ["System", "Light or dark as the system says, and high contrast where it asks for more."],
  light: ["Light", "Dark words on light paper."],
  dark: ["Dark", "Light words on dark paper."],
  contrast: ["High contrast", "Black and white, with clear lines; light or dark as the system says."],
};

export function AppearanceSection() {
  const theme = useTheme();
  const group = useId();
  return (
    <fieldset>
      <legend className="mb-2 text-lg font-semibold tracking-tight">Theme</legend>
      <div className="divide-y divide-rule rounded-lg border border-edge">
        {THEMES.map((name) => (
          <label key={name} className={`flex min-h-11 cursor-pointer gap-3 px-3 py-2.5 first:rounded-t-lg last:rounded-b-lg ${name === theme ? "bg-shade" : "hover:bg-shade"}`}>
            <input type="radio" name={group} checked={name === theme} onChange={() => chooseTheme(name)} className="mt-1 size-4 shrink-0 accent-focus" />
            <span>
              <span className="block font-medium">{WORDS[name][0]}</span>
              <span className="block text-sm text-soft">{WORDS[name][1]}</span>
            </span>
          </label>
        ))}
      </div>
      <p className="mt-3 text-sm text-soft">Kept in this browser.</p>
    </fieldset>
  );
}
