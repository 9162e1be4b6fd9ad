// An applet's document and the headers that it comes with, made here as the server makes them.
//
// Invariant: what the tests run is what the server sends; whoever changes one changes the other.
import { readFile } from "node:fs/promises";

const folder = new URL("../", import.meta.url);

export const SANDBOX = "allow-scripts";

export const FRAME_POLICY =
  "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; " +
  "font-src data:; connect-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/** No feature that the policy can take: each is one that an applet could ask the person for, or disturb them with. */
export const PERMISSIONS_POLICY = [
  "accelerometer", "ambient-light-sensor", "attribution-reporting", "autoplay", "bluetooth", "browsing-topics", "camera", "clipboard-read",
  "clipboard-write", "compute-pressure", "display-capture", "encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope", "hid",
  "identity-credentials-get", "idle-detection", "join-ad-interest-group", "keyboard-map", "local-fonts", "magnetometer", "microphone", "midi",
  "payment", "picture-in-picture", "private-state-token-issuance", "private-state-token-redemption", "publickey-credentials-create",
  "publickey-credentials-get", "run-ad-auction", "screen-wake-lock", "serial", "shared-storage", "storage-access", "usb", "web-share",
  "window-management", "xr-spatial-tracking",
].map((feature) => `${feature}=()`).join(", ");

export const FRAME_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": FRAME_POLICY,
  // Where a browser knows it (Chromium from 152 on) it covers what a policy does not: WebRTC, hints, navigations.
  "connection-allowlist": "()",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": PERMISSIONS_POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-dns-prefetch-control": "off",
};

/** Text for a `<style>` or `<script>` element, which then can not end it. In a string of a script it means the same. */
function within(text) {
  return text.replaceAll(/<(?=\/(?:script|style)|!--)/gi, "\\x3c");
}

/**
 * HTML in which no shadow root is declared: runtime.js could not see what is in one, and takes frames out of whatever it sees.
 */
function withoutShadow(html) {
  return html.replaceAll(/shadowrootmode/gi, "data-$&");
}

/** The document of an applet. Without `runtime` it has nothing of ours, so that the headers alone are tested. */
export async function frameDocument({ html = "", js = "", css = "" }, { runtime = true } = {}) {
  const [ourScript, ourStyle] = runtime ? await Promise.all(["runtime.js", "runtime.css"].map((name) => readFile(new URL(name, folder), "utf8"))) : ["", ""];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>${ourStyle}</style>
<style>${css.replaceAll(/<(?=\/style)/gi, "\\3c ")}</style>
</head>
<body>
<script>${ourScript}</script>
<div id="applet">
${runtime ? withoutShadow(html) : html}
</div>
<script>(function () {${within(js)}
})();
//# sourceURL=script.js
</script>
</body>
</html>
`;
}
