// Stands before runtime.js in the documents that other hosts of MCP Apps (2026-01-26) show. Such a host speaks the standard and knows
// nothing of `throughline/…`: this script passes on what it understands, and does the rest of our page's part by itself. It gives each call for
// the state the applet's handle, reads the state when it may have changed, and, where the document came without an applet, puts in the one that
// the tool's result names.
//
// Invariant: only messages of the host are read and only the host is written to. This protects nobody from the applet, which can do all
// that this script can; the server gives a handle its own applet and nothing else.
(function () {
  "use strict";

  const READ_EVERY_MS = 5_000;
  const ANSWER_MS = 30_000;
  /** A page as high as its frame would grow for ever. */
  const MOST_SIZES = 50;
  const RESULT_KEY = "throughline/applet";
  const STATE_TOOLS = ["applet_state_get", "applet_state_set"];

  const host = window.parent;
  if (host === window) {
    return;
  }
  const written = document.currentScript.dataset.applet;
  /** What the runtime is told of its applet, with the handle that stays here. */
  let applet = written === "" ? null : about(JSON.parse(written), {});
  let toRuntime = () => {};
  let isOpen = false;
  /** Calls of the runtime whose answer this script reads too. */
  let opening;
  const stateCalls = new Set();

  function about({ handle, ...rest }, params) {
    return { handle, told: { ...rest, params, past: false } };
  }

  // The runtime takes what is here as it starts for the page around it, and gives its listener to it. Then all is as before.
  const parent = Object.getOwnPropertyDescriptor(window, "parent");
  const listen = window.addEventListener.bind(window);
  const page = { postMessage: fromRuntime };
  Object.defineProperty(window, "parent", { configurable: true, value: page });
  window.addEventListener = (type, listener, ...rest) => {
    if (type !== "message") {
      listen(type, listener, ...rest);
      return;
    }
    toRuntime = (message) => listener({ data: { jsonrpc: "2.0", ...message }, source: page, isTrusted: true });
    delete window.addEventListener;
    Object.defineProperty(window, "parent", parent);
  };

  function post(message) {
    host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  function refuse(id, code, message) {
    queueMicrotask(() => toRuntime({ id, error: { code: -32000, message, data: { code } } }));
  }

  // What the runtime says.

  function fromRuntime({ id, method, params, ...rest }) {
    if (method === "tools/call") {
      callTool(id, params);
    } else if (method === "throughline/params") {
      queueMicrotask(() => toRuntime({ id, result: {} }));
    } else if (method === "throughline/error") {
      post({ method: "notifications/message", params: { level: "error", logger: "applet", data: params } });
    } else if (method?.startsWith("throughline/")) {
      refuse(id, "unknown_tool", "this works only within Throughline");
    } else {
      opening = method === "ui/initialize" ? id : opening;
      post({ ...(id !== undefined && { id }), ...(method !== undefined && { method, params }), ...rest });
      if (method === "ui/notifications/initialized") {
        isOpen = true;
        follow();
        reportSize();
      }
    }
  }

  function callTool(id, { name, arguments: args }) {
    if (!STATE_TOOLS.includes(name)) {
      refuse(id, "unknown_tool", `${name} works only within Throughline`);
    } else if (applet === null) {
      refuse(id, "not_found", "there is no applet yet");
    } else {
      stateCalls.add(id);
      post({ id, method: "tools/call", params: { name, arguments: { ...args, handle: applet.handle } } });
    }
  }

  // What the host says.

  listen("message", (event) => {
    const message = event.data;
    if (event.source !== host || !event.isTrusted || message?.jsonrpc !== "2.0") {
      return;
    }
    if (calls.has(message.id) && message.method === undefined) {
      calls.get(message.id)(message);
    } else if (message.method === "ping") {
      post({ id: message.id, result: {} });
    } else if (message.method === "ui/notifications/tool-result") {
      shown(message.params);
    } else if (message.method === undefined && message.id === opening && message.result) {
      const hostContext = { ...message.result.hostContext, ...(applet && { throughline: applet.told }) };
      toRuntime({ ...message, result: { ...message.result, hostContext } });
    } else {
      toRuntime(message);
      if (message.method === undefined && stateCalls.delete(message.id)) {
        readState();
      }
    }
  });

  // Our own calls.

  let lastCall = 0;
  const calls = new Map();

  function tool(name, args) {
    const id = `bridge-${++lastCall}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => calls.get(id)({ error: { message: `no answer to ${name}` } }), ANSWER_MS);
      calls.set(id, ({ result, error }) => {
        clearTimeout(timer);
        calls.delete(id);
        if (error || result.isError) {
          reject(new Error(error?.message ?? wordsOf(result)));
        } else {
          resolve(result.structuredContent);
        }
      });
      post({ id, method: "tools/call", params: { name, arguments: { ...args, handle: applet.handle } } });
    });
  }

  function wordsOf({ content }) {
    return (content ?? []).map(({ text }) => text ?? "").join("\n");
  }

  // The state. Nobody here says when it changes, so it is read after each write, and now and then.

  let version = -1;
  let isReading = false;
  let isReadAgain = false;
  let isFollowed = false;

  function follow() {
    if (isOpen && applet !== null && !isFollowed) {
      isFollowed = true;
      readState();
      setInterval(readWhileSeen, READ_EVERY_MS);
      document.addEventListener("visibilitychange", readWhileSeen);
    }
  }

  function readWhileSeen() {
    if (document.visibilityState === "visible") {
      readState();
    }
  }

  async function readState() {
    if (isReading) {
      isReadAgain = true;
      return;
    }
    isReading = true;
    do {
      isReadAgain = false;
      try {
        const now = await tool("applet_state_get", version > 0 ? { version } : {});
        if (now.state !== undefined && now.version > version) {
          version = now.version;
          toRuntime({ method: "throughline/state", params: { state: now.state, version } });
        }
      } catch (error) {
        console.error(error);
      }
    } while (isReadAgain);
    isReading = false;
  }

  // The applet that a tool shows, in a document that came without one.

  async function shown(result) {
    const named = result?._meta?.[RESULT_KEY];
    if (applet !== null) {
      return;
    }
    if (!named?.handle) {
      document.getElementById("applet").textContent = wordsOf(result ?? {});
      return;
    }
    applet = about(named, named.params ?? {});
    try {
      const { html, js, css, ...rest } = await tool("applet_document", {});
      applet = about({ ...rest, handle: named.handle }, named.params ?? {});
      toRuntime({ method: "ui/notifications/host-context-changed", params: { throughline: applet.told } });
      put(html, js, css);
      follow();
    } catch (error) {
      // The next result may show one.
      applet = null;
      document.getElementById("applet").textContent = error.message;
    }
  }

  function put(html, js, css) {
    const [style, script] = ["style", "script"].map((name) => document.createElement(name));
    style.textContent = css;
    document.head.append(style);
    document.getElementById("applet").replaceChildren(document.createRange().createContextualFragment(html));
    script.textContent = `(function () {${js}\n})();\n//# sourceURL=script.js`;
    document.body.append(script);
  }

  // How high it is: hosts give a page the room that it asks for.

  function reportSize() {
    const root = document.documentElement;
    let [sizes, last] = [0, 0];
    const measure = () => {
      const before = root.style.height;
      root.style.height = "max-content";
      const height = Math.ceil(root.getBoundingClientRect().height);
      root.style.height = before;
      if (height !== last && sizes < MOST_SIZES) {
        [sizes, last] = [sizes + 1, height];
        post({ method: "ui/notifications/size-changed", params: { width: Math.ceil(window.innerWidth), height } });
      }
    };
    const observer = new ResizeObserver(measure);
    [root, document.body, document.getElementById("applet")].filter(Boolean).forEach((element) => observer.observe(element));
    measure();
  }
})();
