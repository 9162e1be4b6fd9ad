// Which colours the page has: as the system says, or as was chosen in this browser. public/theme.js does the same before the
// first paint.
import { useSyncExternalStore } from "react";

export const THEMES = ["system", "light", "dark", "contrast"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "throughline.theme";
const MORE_CONTRAST = "(prefers-contrast: more)";
const DARK = "(prefers-color-scheme: dark)";
const listeners = new Set<() => void>();

function chosenTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? "system";
}

/** Puts the choice into force, here and in other tabs. */
export function chooseTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem(KEY);
  } else {
    localStorage.setItem(KEY, theme);
  }
  changed();
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, chosenTheme);
}

/** Follows what other tabs choose, and what the system wants, for as long as the page is there. */
export function followTheme(): void {
  addEventListener("storage", ({ key }) => {
    if (key === KEY || key === null) {
      changed();
    }
  });
  matchMedia(MORE_CONTRAST).addEventListener("change", changed);
  matchMedia(DARK).addEventListener("change", colourBrowserBar);
  colourBrowserBar();
}

function changed(): void {
  const chosen = chosenTheme();
  const theme = chosen !== "system" ? chosen : matchMedia(MORE_CONTRAST).matches ? "contrast" : null;
  const { dataset } = document.documentElement;
  // Everything changes its colours at once: words that fade slower than their ground can not be read for a moment.
  dataset["themeChanging"] = "";
  if (theme === null) {
    delete dataset["theme"];
  } else {
    dataset["theme"] = theme;
  }
  // Computes the new colours while nothing fades, and gives the browser's bar one of them.
  colourBrowserBar();
  delete dataset["themeChanging"];
  for (const listener of listeners) {
    listener();
  }
}

/** The bar of a phone's browser has the page's own ground. The two colours in index.html are those of the system's setting. */
function colourBrowserBar(): void {
  document.querySelector("meta[data-chosen-theme]")?.remove();
  const ground = getComputedStyle(document.body).backgroundColor;
  if (document.documentElement.dataset["theme"] !== undefined) {
    const bar = document.createElement("meta");
    bar.name = "theme-color";
    bar.content = ground;
    bar.dataset["chosenTheme"] = "";
    // The first one that fits holds.
    document.head.prepend(bar);
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
