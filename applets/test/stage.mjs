// What every test here needs: a page on the loopback address that shows applets in frames as Throughline's page does, and
// a browser. Without a browser the tests are skipped, unless `CI=true`.
//
// Invariant: everything listens on 127.0.0.1 only, and ends with the test that asked for it.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";

import { FRAME_HEADERS, SANDBOX, frameDocument } from "./document.mjs";

const CHROME = process.env.CHROME || "/usr/bin/chromium";
const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--no-first-run",
  "--disable-component-update",
  "--disable-sync",
  // Else WebRTC does not speak to this machine itself, and what would arrive elsewhere would not be seen here.
  "--allow-loopback-in-peer-connection",
];

const playwright = new URL("../../web/node_modules/playwright-core/index.mjs", import.meta.url);

/** Why there is no browser for the tests, or false. */
export const NO_BROWSER =
  process.env.CI !== "true" &&
  ((!existsSync(playwright) && "playwright-core is missing: run `npm ci` in web/") ||
    (!existsSync(CHROME) && `there is no browser at ${CHROME}: set CHROME to one`));

/** A browser with a profile of its own, which a test closes at its end. */
export async function launchBrowser(flags = []) {
  const { chromium } = await import(playwright);
  const profile = await mkdtemp(path.join(tmpdir(), "throughline-applets-"));
  await mkdir(path.join(profile, "Default"));
  // Connecting and resolving in advance, as it is in most browsers; Debian's has it off.
  await writeFile(path.join(profile, "Default", "Preferences"), JSON.stringify({ net: { network_prediction_options: 0 } }));
  const browser = await chromium.launchPersistentContext(profile, { executablePath: CHROME, headless: true, args: [...BROWSER_FLAGS, ...flags] });
  browser.on("close", () => rm(profile, { recursive: true, force: true, maxRetries: 5 }));
  return browser;
}

/** The server of the page and of the frames' documents. */
export async function startStage() {
  const pages = new Map();
  const asked = new Map();
  const server = createServer((request, response) => {
    asked.set(request.url, (asked.get(request.url) ?? 0) + 1);
    const page = pages.get(request.url);
    response.writeHead(page === undefined ? 404 : 200, page?.headers);
    response.end(page?.body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${server.address().port}`;
  const hostScript = await readFile(new URL("host.js", import.meta.url), "utf8");
  let made = 0;
  const put = (prefix, body, headers) => {
    made += 1;
    pages.set(`${prefix}${made}`, { body, headers });
    return `${prefix}${made}`;
  };

  return {
    origin,
    /** A frame's document at an address of its own. */
    async frame(applet, { headers = FRAME_HEADERS, runtime = true } = {}) {
      return put("/applet-frame/", await frameDocument(applet, { runtime }), headers);
    },
    /** A page that shows these frames: `{ url, context, files… }` each; see host.js. */
    page(frames, { frameSources = `${origin}/applet-frame/`, sandbox = SANDBOX } = {}) {
      const headers = { "content-type": "text/html; charset=utf-8", "referrer-policy": "no-referrer" };
      if (frameSources !== null) {
        headers["content-security-policy"] =
          `default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; frame-src ${frameSources}; base-uri 'none'; form-action 'none'`;
      }
      const given = JSON.stringify({ frames, sandbox }).replaceAll("<", "\\u003c");
      const body = `<!doctype html><html lang="en"><title>host</title><style>html, body { height: 100%; margin: 0; } iframe { display: block; width: 100%; height: 100%; border: 0; }</style><body><script>${hostScript}\nstart(${given});</script></body></html>`;
      return `${origin}${put("/page/", body, headers)}`;
    },
    /** How often this address was asked for. */
    asked: (url) => asked.get(url) ?? 0,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
