// Notifications of this browser: whether the person wants them, and how one is shown.
//
// Invariant: nothing is asked of the browser before the person has turned them on, and a notification holds no words of a
// session unless the person wants its title in it.
import { useSyncExternalStore } from "react";

export interface NotificationChoice {
  readonly on: boolean;
  /** Whether the session's title is shown: it may be read by whoever sees the screen. */
  readonly titles: boolean;
}

/** What is shown, and the page that a press on it opens. */
export interface Notified {
  readonly title: string;
  readonly body: string;
  /** Two with one tag are one: every open tab says the same. */
  readonly tag: string;
  readonly path: string;
}

const KEY = "throughline.notifications";
const WORKER = "/notifications.js";
const CHANGED = "throughline:notifications";
const OFF: NotificationChoice = { on: false, titles: false };
const ON: NotificationChoice = { on: true, titles: false };
const ON_WITH_TITLES: NotificationChoice = { on: true, titles: true };

interface TrustedUrls {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

const { trustedTypes } = globalThis as { trustedTypes?: TrustedUrls };
/** The page's policy lets this rule make one address of a script, and no other. */
const rule = trustedTypes?.createPolicy("throughline-notifications", { createScriptURL: () => WORKER });

/** Whether this browser can show them here at all: most want a secure connection for it. */
export function canNotify(): boolean {
  return "Notification" in globalThis && "serviceWorker" in navigator;
}

/** As it is stored; without the browser's leave it counts for nothing. */
function choice(): NotificationChoice {
  const stored = localStorage.getItem(KEY);
  if (stored === null || !canNotify() || Notification.permission !== "granted") {
    return OFF;
  }
  return stored === "titles" ? ON_WITH_TITLES : ON;
}

export function useNotificationChoice(): NotificationChoice {
  return useSyncExternalStore(subscribe, choice);
}

/** Keeps the choice; the browser asks the person for its leave first. Gives whether it is so now. */
export async function chooseNotifications(wanted: NotificationChoice): Promise<boolean> {
  if (!wanted.on) {
    localStorage.removeItem(KEY);
  } else {
    if (!canNotify() || (await Notification.requestPermission()) !== "granted") {
      return false;
    }
    localStorage.setItem(KEY, wanted.titles ? "titles" : "on");
  }
  dispatchEvent(new Event(CHANGED));
  return true;
}

/** The worker that shows them, once it is there. */
export async function notificationWorker(): Promise<ServiceWorkerRegistration> {
  await navigator.serviceWorker.register(rule?.createScriptURL(WORKER) ?? WORKER, { scope: "/" });
  return navigator.serviceWorker.ready;
}

export async function notify({ title, body, tag, path }: Notified): Promise<void> {
  const worker = await notificationWorker();
  await worker.showNotification(title, { body, tag, data: path, icon: "/icon-192.png", badge: "/icon-192.png" });
}

/** Takes away what was shown of a page: it has been answered or looked at. */
export async function withdraw(path: string): Promise<void> {
  const worker = await notificationWorker();
  for (const shown of await worker.getNotifications()) {
    if (shown.data === path) {
      shown.close();
    }
  }
}

function subscribe(onChange: () => void): () => void {
  addEventListener(CHANGED, onChange);
  addEventListener("storage", onChange);
  return () => {
    removeEventListener(CHANGED, onChange);
    removeEventListener("storage", onChange);
  };
}
