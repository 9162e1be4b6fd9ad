// What was last chosen of an agent's options, by project and agent, in this browser.
const STORAGE_KEY = "throughline.options";
const MOST_PLACES = 50;

type Choices = Record<string, string>;

export interface Place {
  readonly project: string;
  readonly agent: string;
}

export function rememberedOptions(place: Place): Choices {
  return read().find(([name]) => name === nameOf(place))?.[1] ?? {};
}

export function rememberOption(place: Place, option: string, value: string): void {
  const name = nameOf(place);
  const others = read().filter(([other]) => other !== name);
  const choices = { ...rememberedOptions(place), [option]: value };
  try {
    localStorage.setItem(STORAGE_KEY, JSON.stringify([[name, choices], ...others].slice(0, MOST_PLACES)));
  } catch {
    // No room: it is not remembered.
  }
}

function nameOf({ project, agent }: Place): string {
  return `${agent} ${project}`;
}

/** The newest first. */
function read(): [name: string, choices: Choices][] {
  try {
    const stored = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? "[]") as unknown;
    return Array.isArray(stored) ? stored.filter(isPlace) : [];
  } catch {
    return [];
  }
}

function isPlace(value: unknown): value is [string, Choices] {
  if (!Array.isArray(value) || typeof value[0] !== "string") {
    return false;
  }
  const choices: unknown = value[1];
  return typeof choices === "object" && choices !== null && Object.values(choices).every((choice) => typeof choice === "string");
}
