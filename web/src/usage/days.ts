// Days as the server writes them, by the browser's calendar.

export const RANGES = [7, 30, 90, 365] as const;
export type Range = (typeof RANGES)[number];

const DAY_MS = 86_400_000;

/** "2026-11-18". */
export function dayOf(date: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The first and the last of so many days up to an instant. */
export function rangeOf(days: number, now: number): { from: string; to: string } {
  const last = new Date(now);
  // By the calendar: a day is not always 24 hours long.
  const first = new Date(last.getFullYear(), last.getMonth(), last.getDate() - (days - 1));
  return { from: dayOf(first), to: dayOf(last) };
}

/** Every day from one to another, both included. */
export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from), end = Date.parse(to); at <= end; at += DAY_MS) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

const short = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const long = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });

/** "18 Nov". */
export function shortDay(day: string): string {
  return short.format(new Date(day));
}

/** "Wed, Nov 18, 2026". */
export function longDay(day: string): string {
  return long.format(new Date(day));
}
