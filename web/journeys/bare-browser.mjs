// A browser that nobody listens to. Playwright has the page's own thread tell it of every frame of a socket and of every
// request, which doubles what opening a long session costs; here the browser is asked only what is measured.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { BROWSER_FLAGS, CHROME, DESKTOP } from "./support.mjs";

export async function launchBareBrowser() {
  const profile = await mkdtemp(path.join(tmpdir(), "throughline-browser-"));
  // A hidden or covered window would be drawn less often.
  const shown = ["--disable-background-timer-throttling", "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows"];
  const own = ["--headless=new", "--hide-scrollbars", "--remote-debugging-pipe", `--user-data-dir=${profile}`];
  const child = spawn(CHROME, [...BROWSER_FLAGS, ...shown, ...own, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const ask = askThrough(child.stdio[3], child.stdio[4]);
  return {
    newPage: () => openPage(ask),
    async close() {
      const gone = once(child, "exit");
      await Promise.race([ask("Browser.close"), gone]);
      await gone;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The browser's protocol: JSON that ends with a zero, each answer with the number of its question. */
function askThrough(to, from) {
  const waiting = new Map();
  let lastId = 0;
  let heard = "";
  from.setEncoding("utf8").on("data", (text) => {
    const messages = (heard + text).split("\0");
    heard = messages.pop();
    for (const { id, result, error } of messages.map((message) => JSON.parse(message))) {
      waiting.get(id)?.(error === undefined ? Promise.resolve(result) : Promise.reject(new Error(error.message)));
      waiting.delete(id);
    }
  });
  return (method, params = {}, sessionId = undefined) =>
    new Promise((resolve) => {
      lastId += 1;
      waiting.set(lastId, resolve);
      to.write(`${JSON.stringify({ id: lastId, method, params, sessionId })}\0`);
    });
}

/** A page with its own cookies, of a desktop's size. */
async function openPage(askBrowser) {
  const { browserContextId } = await askBrowser("Target.createBrowserContext");
  const { targetId } = await askBrowser("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await askBrowser("Target.attachToTarget", { targetId, flatten: true });
  const ask = (method, params) => askBrowser(method, params, sessionId);
  await ask("Emulation.setDeviceMetricsOverride", { ...DESKTOP, deviceScaleFactor: 1, mobile: false });
  await ask("Performance.enable", { timeDomain: "threadTicks" });
  /** Runs a function in the page and gives what comes of it. */
  const run = async (what, ...args) => {
    const { result, exceptionDetails } = await ask("Runtime.evaluate", {
      expression: `(${what})(...${JSON.stringify(args)})`,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails !== undefined) {
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    }
    return result.value;
  };
  return {
    run,
    go: (url) => ask("Page.navigate", { url }),
    /** Waits until this is there, once the page has been loaded that it is on. */
    async until(selector, words = "") {
      const isThere = (wanted, holding) => [...document.querySelectorAll(wanted)].some(({ textContent }) => textContent.includes(holding));
      // While the page is being left there is nothing to look at.
      while (!(await run(isThere, selector, words).catch(() => false))) {
        await new Promise((soon) => setTimeout(soon, 50));
      }
    },
    /** How much time the page's main thread has spent, in seconds, and its heap; "at rest" without what nothing needs any more. */
    async thread(when = "now") {
      if (when === "at rest") {
        await ask("HeapProfiler.collectGarbage");
      }
      const { metrics } = await ask("Performance.getMetrics");
      const of = (name) => metrics.find((metric) => metric.name === name)?.value ?? 0;
      return {
        task: of("TaskDuration"),
        script: of("ScriptDuration"),
        layout: of("LayoutDuration") + of("RecalcStyleDuration"),
        layouts: of("LayoutCount"),
        heap: of("JSHeapUsedSize"),
        at: performance.now() / 1000,
      };
    },
    close: () => askBrowser("Target.disposeBrowserContext", { browserContextId }),
  };
}
