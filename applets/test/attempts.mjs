// What an applet might try, to reach anything outside of its frame.
//
// Invariant: each attempt has listeners of its own, so that whatever reaches one names the attempt. An attempt says how it
// went by `say(text)` where a listener can not tell.
//
// Expected of each: that nothing reaches its listeners. About twenty do nothing in Chromium 156 even where nothing protects
// (a worker, an icon, a prefetch that it refuses in a frame): they stay, as another browser or another version may do it.

/** Names of attempts for which Chromium ends the process of the frame where `connection-allowlist` forbids them. */
export const ENDS_THE_FRAME = /^WebRTC (?:in|of|after) /;

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** `url`: where a request would arrive; `port`: the same; `udp`: the port that counts packets; `dns`: a name that nobody has. */
export function attempts({ url, port, udp, dns }) {
  const stun = `stun:127.0.0.1:${udp}`;
  // Waits for its own candidates, as an applet that sends data in a user name or a host's name would not even have to.
  const dial = (servers) => `
    const caller = new RTCPeerConnection({ iceServers: [${servers}] });
    caller.createDataChannel("x");
    caller.createOffer().then((offer) => caller.setLocalDescription(offer)).then(() => say("dialled"), (error) => say(String(error)));`;
  const withinFrame = (script) => `<script>const say = (outcome) => top.postMessage({ attempt: ATTEMPT, outcome }, "*"); ${script}</script>`;
  /** An inner frame that dials, as text of HTML and as an expression of a script that makes it. */
  const inner = `<iframe srcdoc="${escaped(withinFrame(dial(`{ urls: "${stun}" }`)))}"></iframe>`;
  const made = `Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT)) })`;
  const named = `${JSON.stringify(inner)}.replace("ATTEMPT", JSON.stringify(ATTEMPT).replaceAll('"', "&quot;"))`;
  const click = "document.querySelector('#go').click();";
  const anchor = (attributes) => `<a id="go" href="${url}" ${attributes}>go</a>`;
  return {
    // Requests of scripts.
    "fetch": { js: `fetch("${url}", { mode: "no-cors" }).catch((error) => say(String(error)));` },
    "fetch, keepalive": { js: `fetch("${url}", { mode: "no-cors", method: "POST", body: "x", keepalive: true }).catch(() => {});` },
    "fetchLater": { js: `fetchLater("${url}", { activateAfter: 0 });` },
    "fetch of its own address": { js: `fetch(location.href).then((answer) => say("answered " + answer.status), (error) => say(String(error)));` },
    "XMLHttpRequest": { js: `const request = new XMLHttpRequest(); request.open("GET", "${url}"); request.send();` },
    "WebSocket": { js: `new WebSocket("ws://127.0.0.1:${port}/");` },
    "WebSocketStream": { js: `new WebSocketStream("ws://127.0.0.1:${port}/");` },
    "WebTransport": { js: `new WebTransport("https://127.0.0.1:${udp}/").ready.catch(() => {});` },
    "EventSource": { js: `new EventSource("${url}");` },
    "sendBeacon": { js: `say(String(navigator.sendBeacon("${url}", "x")));` },
    "Worker of a blob": { js: `const worker = new Worker(URL.createObjectURL(new Blob(["fetch('${url}', { mode: 'no-cors' })"]))); worker.onerror = () => say("refused");` },
    "Worker of a blob, importScripts": { js: `new Worker(URL.createObjectURL(new Blob(["importScripts('${url}')"])));` },
    "Worker of a data address": { js: `new Worker("data:text/javascript,fetch('${url}',{mode:'no-cors'})");` },
    "Worker of an address": { js: `new Worker("${url}");` },
    "SharedWorker": { js: `new SharedWorker("data:text/javascript,fetch('${url}',{mode:'no-cors'})");` },
    "import()": { js: `import("${url}").catch(() => {});` },
    "import of a module": { html: `<script type="module">import "${url}";</script>` },
    "script": { html: `<script src="${url}"></script>` },
    "script added by a script": { js: `document.head.append(Object.assign(document.createElement("script"), { src: "${url}" }));` },
    "script with data in it": { html: `<script src="data:text/javascript,fetch('${url}',{mode:'no-cors'})"></script>` },
    "paint worklet": { js: `CSS.paintWorklet.addModule("${url}").catch(() => {});` },
    "audio worklet": { js: `new AudioContext().audioWorklet.addModule("${url}").catch(() => {});` },
    "WebAssembly": { js: `WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])).then(() => say("compiled"), () => say("refused"));` },
    "eval": { js: `say(String(eval("1 + 1")));` },
    "service worker": { js: `navigator.serviceWorker.register("${url}").catch((error) => say(String(error)));` },

    // Hints.
    ...Object.fromEntries(
      ["prefetch", "preconnect", "modulepreload", "prerender", "stylesheet", "icon", "manifest", "compression-dictionary"].map((rel) => [
        `link ${rel}`,
        { html: `<link rel="${rel}" href="${url}">` },
      ]),
    ),
    "link preload as image": { html: `<link rel="preload" as="image" href="${url}">` },
    "link preload as fetch": { html: `<link rel="preload" as="fetch" href="${url}" crossorigin>` },
    "link preload as script": { html: `<link rel="preload" as="script" href="${url}">` },
    "link preconnect added by a script": { js: `document.head.append(Object.assign(document.createElement("link"), { rel: "preconnect", href: "${url}" }));` },
    "link dns-prefetch": { html: `<link rel="dns-prefetch" href="//dns-prefetch.${dns}">`, dns: "dns-prefetch" },
    "link preconnect to a name": { html: `<link rel="preconnect" href="http://preconnect.${dns}">`, dns: "preconnect" },
    "DNS of a link's address": { html: `<meta http-equiv="x-dns-prefetch-control" content="on"><a href="http://anchor.${dns}">x</a>`, dns: "anchor" },
    "speculation rules, prefetch": { html: `<script type="speculationrules">{"prefetch":[{"source":"list","urls":["${url}"]}]}</script>` },
    "speculation rules, prerender": { html: `<script type="speculationrules">{"prerender":[{"source":"list","urls":["${url}"]}]}</script>` },

    // Parts of a document.
    "image": { html: `<img src="${url}" alt="">` },
    "image of a script": { js: `new Image().src = "${url}";` },
    "image, srcset": { html: `<img srcset="${url} 1x" alt="">` },
    "image with attributionsrc": { html: `<img attributionsrc="${url}" src="data:," alt="">` },
    "video": { html: `<video src="${url}" autoplay muted></video>` },
    "video's poster": { html: `<video poster="${url}"></video>` },
    "audio": { html: `<audio src="${url}" preload="auto"></audio>` },
    "track": { html: `<video src="data:video/mp4;base64,"><track default src="${url}"></video>` },
    "input of type image": { html: `<input type="image" src="${url}" alt="">` },
    "body's background": { js: `document.body.setAttribute("background", "${url}");` },
    "svg image": { html: `<svg><image href="${url}"></image></svg>` },
    "svg use": { html: `<svg><use href="${url}#x"></use></svg>` },
    "svg filter image": { html: `<svg><filter id="f"><feImage href="${url}"></feImage></filter><rect filter="url(#f)" width="9" height="9"></rect></svg>` },
    "css url()": { css: `#applet { background: url("${url}"); }` },
    "css image-set()": { css: `#applet { background: image-set("${url}" 1x); }` },
    "css cursor": { css: `body { cursor: url("${url}"), auto; }` },
    "css of a list": { css: `li { list-style-image: url("${url}"); }`, html: `<ul><li>x</li></ul>` },
    "css in an attribute": { html: `<p style="background: url('${url}')">x</p>` },
    "css variable": { js: `document.body.style.setProperty("--x", "url(${url})"); document.body.style.background = "var(--x)";` },
    "css @import": { css: `@import "${url}";` },
    "css @font-face": { css: `@font-face { font-family: leak; src: url("${url}"); } #applet { font-family: leak; }`, html: "x" },
    "css namespace and document": { css: `@namespace url("${url}");` },
    "FontFace": { js: `new FontFace("leak", "url(${url})").load().catch(() => {});` },
    "adopted style sheet": { js: `const sheet = new CSSStyleSheet(); sheet.replaceSync("body { background: url(${url}) }"); document.adoptedStyleSheets = [sheet];` },
    "object": { html: `<object data="${url}"></object>` },
    "embed": { html: `<embed src="${url}">` },
    "iframe": { html: `<iframe src="${url}"></iframe>` },
    "iframe added by a script": { js: `document.body.append(Object.assign(document.createElement("iframe"), { src: "${url}" }));` },
    "iframe with data in it": { html: `<iframe src="data:text/html,<img src='${url}'>"></iframe>` },
    "fencedframe": { html: `<fencedframe></fencedframe>`, js: `document.querySelector("fencedframe").config = new FencedFrameConfig("${url}");` },
    "portal": { html: `<portal src="${url}"></portal>` },
    "base": { html: `<base href="${url}"><img src="x" alt="">` },
    "XSLT": { js: `const xslt = new XSLTProcessor(); xslt.importStylesheet(new DOMParser().parseFromString('<x:stylesheet version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:template match="/"><x:copy-of select="document(&quot;${url}&quot;)"/></x:template></x:stylesheet>', "text/xml")); xslt.transformToDocument(document);` },

    // Going elsewhere.
    "location": { js: `location = "${url}";` },
    "location, a name": { js: `location = "http://navigation.${dns}/";`, dns: "navigation" },
    "iframe, a name": { html: `<iframe src="http://frame.${dns}/"></iframe>`, dns: "frame" },
    "image, a name": { html: `<img src="http://image.${dns}/" alt="">`, dns: "image" },
    "link clicked, a name": { html: `<a id="go" href="http://clicked.${dns}/">go</a>`, js: click, dns: "clicked" },
    "location.replace": { js: `location.replace("${url}");` },
    "meta refresh": { html: `<meta http-equiv="refresh" content="0;url=${url}">` },
    "link clicked": { html: anchor(""), js: click },
    "link clicked, kept from runtime.js": { html: anchor(""), js: `document.querySelector("#go").addEventListener("click", (event) => event.stopPropagation()); ${click}` },
    "link clicked, ping": { html: `<a id="go" href="#x" ping="${url}">go</a>`, js: click },
    "link clicked, other window": { html: anchor(`target="_blank"`), js: click },
    "link clicked, attributionsrc": { html: anchor(`target="_blank" attributionsrc="${url}"`), js: click },
    "download": { html: anchor(`download="x"`), js: click },
    "download of a blob": { js: `const a = document.createElement("a"); a.download = "x"; a.href = URL.createObjectURL(new Blob(["x"])); a.click();` },
    "form, GET": { html: `<form action="${url}"><input name="x" value="1"></form>`, js: `document.forms[0].submit();` },
    "form, POST": { html: `<form action="${url}" method="post"><input name="x" value="1"></form>`, js: `document.forms[0].requestSubmit();` },
    "form to another window": { html: `<form action="${url}" method="post" target="_blank"></form>`, js: `document.forms[0].submit();` },
    "window.open": { js: `say(String(window.open("${url}")));` },
    "window.open over itself": { js: `window.open("${url}", "_self");` },
    "javascript: address": { js: `location = "javascript:fetch('${url}',{mode:'no-cors'})";` },
    "data: address": { js: `location = "data:text/html,<img src='${url}'>";` },
    "blob: address": { js: `location = URL.createObjectURL(new Blob(["<img src='${url}'>"], { type: "text/html" }));` },
    "blob: address with WebRTC": { js: `location = URL.createObjectURL(new Blob([${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT))], { type: "text/html" }));` },
    "another page's frame": { js: `parent.frames[0].location = "${url}";` },
    "navigation.navigate": { js: `navigation.navigate("${url}").committed.catch(() => {});` },
    "address for mail": { js: `location = "mailto:x@y.z";` },
    "document.open, then an image": { js: `setTimeout(() => { document.open(); document.write("<img src='${url}'>"); document.close(); }, 100);` },

    // WebRTC.
    "WebRTC, STUN": { js: dial(`{ urls: "${stun}" }`) },
    "WebRTC, STUN, prefixed name": { js: dial(`{ urls: "${stun}" }`).replace("new RTC", "new webkitRTC") },
    "WebRTC, TURN over TCP": { js: dial(`{ urls: "turn:127.0.0.1:${port}?transport=tcp", username: "data", credential: "x" }`) },
    "WebRTC, name of a server": { js: dial(`{ urls: "stun:webrtc.${dns}:9" }`), dns: "webrtc" },
    "WebRTC, candidate of a peer": {
      js: `
      (async () => {
        const [a, b] = [new RTCPeerConnection(), new RTCPeerConnection()];
        a.createDataChannel("x");
        await a.setLocalDescription(await a.createOffer());
        await b.setRemoteDescription(a.localDescription);
        await b.setLocalDescription(await b.createAnswer());
        await a.setRemoteDescription(b.localDescription);
        await a.addIceCandidate({ candidate: "candidate:1 1 udp 2130706431 127.0.0.1 ${udp} typ host", sdpMid: "0", sdpMLineIndex: 0 });
        say("dialled");
      })().catch((error) => say(String(error)));`,
    },
    "WebRTC in a srcdoc frame": {
      js: `document.body.append(Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT)) }));`,
    },
    "WebRTC in a srcdoc frame of the content": { html: `<iframe srcdoc="${withinFrame(dial(`{ urls: "${stun}" }`)).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`, named: true },
    "WebRTC in a srcdoc frame in a closed shadow root": {
      js: `const host = document.createElement("div"); document.body.append(host); host.attachShadow({ mode: "closed" }).append(Object.assign(document.createElement("iframe"), { srcdoc: ${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT)) }));`,
    },
    "WebRTC in a srcdoc frame in a declared shadow root": {
      html: `<div><template shadowrootmode="closed"><iframe srcdoc="${withinFrame(dial(`{ urls: "${stun}" }`)).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe></template></div>`, named: true,
    },
    "WebRTC of an about:blank frame": {
      js: `const frame = document.createElement("iframe"); document.body.append(frame); try { const RTCPeerConnection = frame.contentWindow.RTCPeerConnection; ${dial(`{ urls: "${stun}" }`)} } catch (error) { say(String(error)); }`,
    },
    "WebRTC of a frame with a javascript: address": {
      js: `const frame = document.createElement("iframe"); frame.src = "javascript:'" + ${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT)).replaceAll("'", "\\\\'") + "'"; document.body.append(frame);`,
    },
    "WebRTC after document.open": {
      js: `setTimeout(() => { document.open(); document.write(${JSON.stringify(`<iframe srcdoc='${withinFrame(dial(`{ urls: "${stun}" }`))}'></iframe>`)}.replace("ATTEMPT", JSON.stringify(ATTEMPT))); document.close(); }, 100);`,
    },
    "WebRTC after a javascript: address of its own": {
      js: `setTimeout(() => { location = "javascript:'" + ${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT)).replaceAll("'", "\\\\'") + "'"; }, 200);`,
    },
    "WebRTC in a frame that can not be removed": {
      js: `Element.prototype.remove = Node.prototype.removeChild = Element.prototype.replaceChildren = NodeList.prototype.forEach = Array.prototype.forEach = () => {}; Document.prototype.querySelectorAll = document.querySelectorAll = () => []; window.MutationObserver = class { observe() {} }; document.body.append(${made});`,
    },
    "WebRTC in a shadow root that can not be watched": {
      js: `window.MutationObserver = class { observe() {} }; MutationObserver.prototype.observe = () => {}; const host = document.createElement("div"); document.body.append(host); try { host.attachShadow({ mode: "open" }); } catch {} host.shadowRoot.append(${made});`,
    },
    "WebRTC in a copy of a shadow root": {
      js: `const host = document.createElement("div"); host.attachShadow({ mode: "closed", clonable: true }).append(${made}); document.body.append(host.cloneNode(true));`,
    },
    "WebRTC in a shadow root within a shadow root": {
      js: `const host = document.createElement("div"); const other = document.createElement("div"); host.attachShadow({ mode: "closed" }).append(other); other.attachShadow({ mode: "closed" }).append(${made}); document.body.append(host);`,
    },
    "WebRTC in a shadow root of setHTMLUnsafe": {
      js: `document.body.setHTMLUnsafe("<div><template shadowrootmode=closed>" + ${named} + "</template></div>");`,
    },
    "WebRTC in a shadow root of parseHTMLUnsafe": {
      js: `document.body.append(document.adoptNode(Document.parseHTMLUnsafe("<div><template shadowrootmode=closed>" + ${named} + "</template></div>").body.firstChild));`,
    },
    "WebRTC in a shadow root of document.write": {
      js: `document.write("<div><template shadowroot"); document.write("mode=closed>" + ${named} + "</template></div>");`,
    },
    "WebRTC in a shadow root, adopted": {
      js: `const other = document.implementation.createHTMLDocument(); const host = other.createElement("div"); host.attachShadow({ mode: "closed" }).append(${made}); document.body.append(host);`,
    },
    "WebRTC in an object's document": {
      js: `document.body.append(Object.assign(document.createElement("object"), { type: "text/html", data: "data:text/html," + encodeURIComponent(${JSON.stringify(withinFrame(dial(`{ urls: "${stun}" }`)))}.replace("ATTEMPT", JSON.stringify(ATTEMPT))) }));`,
    },

    // Other ways to the network.
    "payment method": { js: `new PaymentRequest([{ supportedMethods: "${url}" }], { total: { label: "x", amount: { currency: "EUR", value: "1" } } }).canMakePayment().catch((error) => say(String(error)));` },
    "identity provider": { js: `navigator.credentials.get({ identity: { providers: [{ configURL: "${url}", clientId: "x" }] } }).catch((error) => say(String(error)));` },
    "shared storage worklet": { js: `sharedStorage.worklet.addModule("${url}").catch(() => {});` },
    "report of a policy of its own": { html: `<meta http-equiv="content-security-policy" content="img-src 'none'; report-uri ${url}"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="">` },
    "manifest of a web install": { js: `navigator.install("${url}").catch((error) => say(String(error)));` },
  };
}

/** What an applet might try on its own machine; each says "open: …" where it got through. */
export const CAPABILITIES = {
  "the page's document": `say("open: " + parent.document.title);`,
  "the page's address": `say("open: " + parent.location.href);`,
  "its own frame element": `say(frameElement === null ? "closed" : "open: frameElement");`,
  "origin": `say(origin === "null" ? "closed" : "open: " + origin);`,
  "localStorage": `localStorage.x = "1"; say("open: localStorage");`,
  "sessionStorage": `sessionStorage.x = "1"; say("open: sessionStorage");`,
  "cookies": `document.cookie = "x=1"; say("open: " + document.cookie);`,
  "indexedDB": `const asked = indexedDB.open("x"); asked.onsuccess = () => say("open: indexedDB"); asked.onerror = () => say("closed");`,
  "caches": `caches.open("x").then(() => say("open: caches"), (error) => say(String(error)));`,
  "private files": `navigator.storage.getDirectory().then(() => say("open: files"), (error) => say(String(error)));`,
  "service worker": `navigator.serviceWorker.register("sw.js").then(() => say("open: service worker"), (error) => say(String(error)));`,
  "BroadcastChannel": `const [a, b] = [new BroadcastChannel("t"), new BroadcastChannel("t")]; b.onmessage = () => say("between its own only"); a.postMessage(1); setTimeout(() => say("closed"), 500);`,
  "SharedWorker": `new SharedWorker("data:text/javascript,0").onerror = () => say("closed");`,
  "locks": `navigator.locks.request("x", () => say("open: locks")).catch((error) => say(String(error)));`,
  "clipboard, read": `navigator.clipboard.readText().then(() => say("open: clipboard"), (error) => say(String(error)));`,
  "clipboard, write": `navigator.clipboard.writeText("x").then(() => say("open: clipboard"), (error) => say(String(error)));`,
  "microphone": `navigator.mediaDevices.getUserMedia({ audio: true }).then(() => say("open: microphone"), (error) => say(String(error)));`,
  "screen": `navigator.mediaDevices.getDisplayMedia().then(() => say("open: screen"), (error) => say(String(error)));`,
  "place": `navigator.geolocation.getCurrentPosition(() => say("open: place"), (error) => say(error.message));`,
  "notifications": `Notification.requestPermission().then((answer) => say(answer === "granted" ? "open: notifications" : answer));`,
  "full screen": `document.body.requestFullscreen().then(() => say("open: full screen"), (error) => say(String(error)));`,
  "dialogs": `const begun = performance.now(); say(confirm("x") ? "open: confirm" : "closed");`,
  "printing": `print(); say("nothing seen");`,
  "file picker": `showOpenFilePicker().then(() => say("open: file picker"), (error) => say(String(error)));`,
  "storage access": `document.requestStorageAccess().then(() => say("open: storage access"), (error) => say(String(error)));`,
  "pointer lock": `document.body.requestPointerLock()?.then(() => say("open: pointer lock"), (error) => say(String(error)));`,
  "wake lock": `navigator.wakeLock.request().then(() => say("open: wake lock"), (error) => say(String(error)));`,
  "submit event of a form": `const form = document.createElement("form"); document.body.append(form); form.addEventListener("submit", (event) => { event.preventDefault(); say("fires"); }); form.requestSubmit(); setTimeout(() => say("does not fire"), 200);`,
};
