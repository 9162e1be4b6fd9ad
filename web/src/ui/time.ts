// Instants in words, and a clock that lets those words change while they are looked at.
import { useSyncExternalStore } from "react";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clockTime = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const dayAndMonth = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const wholeDate = new Intl.DateTimeFormat(undefined, { dateStyle: "long", timeStyle: "short" });
const dateOfOtherYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });

/** How long ago, short: "now", "5 min", "3 h", then the date. */
export function ago(at: string, now: number): string {
  const then = Date.parse(at);
  const elapsed = now - then;
  if (elapsed < MINUTE) {
    return "now";
  }
  if (elapsed < HOUR) {
    return `${Math.floor(elapsed / MINUTE)} min`;
  }
  if (elapsed < DAY) {
    return `${Math.floor(elapsed / HOUR)} h`;
  }
  return dateOf(new Date(then), now);
}

/** How long ago, in a sentence: "just now", "5 min ago", "3 h ago", then "on 3 Nov". */
export function sinceWords(at: string, now: number): string {
  const elapsed = now - Date.parse(at);
  return elapsed < MINUTE ? "just now" : elapsed < DAY ? `${ago(at, now)} ago` : `on ${ago(at, now)}`;
}

/** The time of day, with the date where it was another day. */
export function timeOfDay(at: string | number, now: number): string {
  const then = new Date(at);
  const sameDay = then.toDateString() === new Date(now).toDateString();
  return sameDay ? clockTime.format(then) : `${dateOf(then, now)}, ${clockTime.format(then)}`;
}

function dateOf(date: Date, now: number): string {
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return (sameYear ? dayAndMonth : dateOfOtherYear).format(date);
}

const weekday = new Intl.DateTimeFormat(undefined, { weekday: "long" });
const weekdayAndDate = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short" });

/** Which day it was: "Today", "Yesterday", "Monday", then the date. */
export function dayWords(at: string, now: number): string {
  const then = new Date(at);
  const daysAgo = Math.round((midnight(new Date(now)) - midnight(then)) / DAY);
  if (daysAgo <= 0) {
    return "Today";
  }
  if (daysAgo === 1) {
    return "Yesterday";
  }
  if (daysAgo < 7) {
    return weekday.format(then);
  }
  return then.getFullYear() === new Date(now).getFullYear() ? weekdayAndDate.format(then) : dateOfOtherYear.format(then);
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

export function inFull(at: string): string {
  return wholeDate.format(new Date(at));
}

let minute = Date.now();
const listeners = new Set<() => void>();

/** The time now, to the minute. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => minute);
}

let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(onChange: () => void): () => void {
  if (listeners.size === 0) {
    minute = Date.now();
    timer = setInterval(() => {
      minute = Date.now();
      for (const listener of listeners) {
        listener();
      }
    }, MINUTE / 2);
  }
  listeners.add(onChange);
  return () => {
    listeners.delete(onChange);
    if (listeners.size === 0) {
      clearInterval(timer);
    }
  };
}
