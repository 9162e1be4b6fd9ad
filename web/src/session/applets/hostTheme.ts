// The page's colours and fonts, by the names that MCP Apps gives them.
const NAMES = {
  "--color-background-primary": "--paper",
  "--color-background-secondary": "--shade",
  "--color-background-tertiary": "--press",
  "--color-background-inverse": "--ink",
  "--color-background-warning": "--found",
  "--color-background-success": "--added",
  "--color-background-danger": "--removed",
  "--color-text-primary": "--ink",
  "--color-text-secondary": "--soft",
  "--color-text-inverse": "--paper",
  "--color-text-info": "--thread",
  "--color-text-success": "--running",
  "--color-text-danger": "--failed",
  "--color-text-warning": "--warning",
  "--color-border-primary": "--rule",
  "--color-border-secondary": "--edge",
  "--color-ring-primary": "--focus",
} as const;

export interface HostTheme {
  readonly theme: "light" | "dark";
  readonly styles: { readonly variables: Readonly<Record<string, string>> };
}

/** As they are now. A variable itself may hold a pair for light and dark; an element says which of them it has. */
export function hostTheme(): HostTheme {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const style = getComputedStyle(probe);
  const variables: Record<string, string> = {};
  for (const [name, own] of Object.entries(NAMES)) {
    probe.style.color = `var(${own})`;
    variables[name] = style.color;
  }
  variables["--font-sans"] = getComputedStyle(document.body).fontFamily;
  probe.remove();
  return { theme: isDark() ? "dark" : "light", styles: { variables } };
}

const DARK = "(prefers-color-scheme: dark)";

function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "dark" || (chosen !== "light" && matchMedia(DARK).matches);
}

/** Calls back after the colours have changed; gives a way to stop it. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  const dark = matchMedia(DARK);
  dark.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", changed);
  };
}
