// The page's service worker: shows what the page tells it to, and opens the session when that is pressed. Phones let no page
// show notifications without one. It answers no request and stores nothing, so it never stands between the page and the server.
self.addEventListener("install", () => void self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openSession(event.notification.data));
});

async function openSession(path) {
  // Only ever a page of this server's own.
  if (typeof path !== "string" || !/^\/s\/[0-9a-f-]{36}$/.test(path)) {
    return;
  }
  const pages = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const page = pages.find((one) => one.visibilityState === "visible") ?? pages[0];
  if (page === undefined) {
    await self.clients.openWindow(path);
    return;
  }
  page.postMessage({ type: "open", path });
  // Not every browser lets a page be brought to the front.
  await page.focus().catch(() => undefined);
}
