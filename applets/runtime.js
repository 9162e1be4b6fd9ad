// The frame's side of the bridge, put into every applet's document before the applet's own content. It speaks JSON-RPC 2.0
// with the page around the frame, in the shapes of MCP Apps (2026-01-26), and offers `throughline` and some global
// functions to the applet. See howto.md.
//
// Invariant: only messages of the page around the frame are read, only that page is written to, and whatever waits is
// bounded. Nothing here protects the person from the applet, which can do all that this script can: the headers of the
// document (its policy, its sandbox) and the page's own checks do that.
(function () {
  "use strict";

  const PROTOCOL = "2026-01-26";
  const MOST_CALLS = 50;
  const MOST_WAITING = 500;
  const MOST_STATE_CALLS = 20;
  const MOST_STATE_BYTES = 256 * 1024;
  const MOST_ERRORS = 20;
  const ANSWER_MS = 30_000;
  /** For calls that the person may have to allow first. */
  const PERSON_MS = 600_000;
  const TEARDOWN_MS = 2_000;

  const page = window.parent;

  // No policy of today's browsers but Connection-Allowlist (Chromium 152 and later) covers WebRTC, so where that header is
  // not known a script could reach any address with it. This takes it out of this window. It can not take it out of the
  // window of a frame within this frame, which has its own copy: such frames are removed before their scripts run, wherever
  // they are put. A shadow root is watched as the document is, and what would make one without a script is taken out, here
  // and (`shadowrootmode`) by whoever composes the document. What an applet may change is used only as it was before.
  const bindCall = Function.prototype.bind.bind(Function.prototype.call);
  const uncurried = (method) => bindCall(method);
  const refuse = (holder, name, why) => Object.defineProperty(holder, name, { value: () => { throw new Error(why); } });
  for (const name of Object.getOwnPropertyNames(window).filter((name) => /^(webkit)?RTC/.test(name))) {
    delete window[name];
    Object.defineProperty(window, name, { value: undefined });
  }
  const [remove, observe, attachShadow] = [Element.prototype.remove, MutationObserver.prototype.observe, Element.prototype.attachShadow].map(uncurried);
  const [inDocument, inShadow] = [Document.prototype.querySelectorAll, DocumentFragment.prototype.querySelectorAll].map(uncurried);
  const Observer = MutationObserver;
  const watch = (root, all) => {
    const removeFrames = () => {
      const frames = all(root, "iframe, frame, object, embed, fencedframe");
      for (let at = 0; frames[at] !== undefined; at += 1) {
        remove(frames[at]);
      }
    };
    observe(new Observer(removeFrames), root, { childList: true, subtree: true });
  };
  watch(document, inDocument);
  Object.defineProperty(Element.prototype, "attachShadow", {
    value(init) {
      // A copy of a shadow root would be one that nobody watches.
      const root = attachShadow(this, { ...init, clonable: false });
      watch(root, inShadow);
      return root;
    },
  });
  for (const holder of [Document, Document.prototype, Element.prototype, ShadowRoot.prototype]) {
    for (const name of Object.getOwnPropertyNames(holder).filter((name) => /HTMLUnsafe$|^write(ln)?$/.test(name))) {
      refuse(holder, name, `${name} is not there for applets: use innerHTML or append`);
    }
  }

  // Calls to the page.

  let lastId = 0;
  const calls = new Map();
  const queue = [];
  /** What the page said of itself; until it answers, what it wrote into the frame's name, so that it is known at once. */
  let context = named();
  let phase = page === window ? "alone" : "opening";

  function named() {
    try {
      const written = JSON.parse(window.name);
      return typeof written?.throughline === "object" ? written : {};
    } catch {
      return {};
    }
  }

  function failure(message, code, data) {
    return Object.assign(new Error(message), { name: "AppletError", code, data });
  }

  function post(message) {
    page.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  function send({ method, params, timeoutMs, resolve, reject }) {
    const id = ++lastId;
    const timer = setTimeout(() => settle(id, { error: { message: `no answer to ${method}`, data: { code: "timeout" } } }), timeoutMs);
    calls.set(id, { resolve, reject, timer });
    try {
      post({ id, method, params });
    } catch (error) {
      settle(id, { error: { message: `${method}: ${error.message}`, data: { code: "bad_arguments" } } });
    }
  }

  function settle(id, { result, error }) {
    const call = calls.get(id);
    if (call === undefined) {
      return;
    }
    calls.delete(id);
    clearTimeout(call.timer);
    if (error) {
      call.reject(failure(String(error.message), error.data?.code ?? error.code, error.data));
    } else {
      call.resolve(result);
    }
    pump();
  }

  function pump() {
    while (phase === "open" && queue.length > 0 && calls.size < MOST_CALLS) {
      send(queue.shift());
    }
  }

  function call(method, params, timeoutMs = ANSWER_MS) {
    return new Promise((resolve, reject) => {
      if (phase === "alone") {
        reject(failure("this page works only as an applet within Throughline", "alone"));
      } else if (queue.length >= MOST_WAITING) {
        reject(failure("too many calls are waiting", "busy"));
      } else {
        queue.push({ method, params, timeoutMs, resolve, reject });
        pump();
      }
    });
  }

  async function tool(name, args, timeoutMs) {
    const result = await call("tools/call", { name, arguments: args }, timeoutMs);
    if (result.isError) {
      throw failure(result.content?.map((part) => part.text).join("\n") || `${name} failed`, result.structuredContent?.code, result.structuredContent);
    }
    return result.structuredContent;
  }

  // State. What is shown is the server's newest state with this frame's writes on top, in their order, as long as the
  // server's state does not have them yet.

  /** A state that nobody ever set has version 0. */
  let server = { state: {}, version: -1 };
  let known = false;
  let version = 0;
  let shown = freeze({});
  let shownText = "{}";
  let writes = [];
  const stateListeners = new Set();

  function freeze(value) {
    if (value !== null && typeof value === "object" && !Object.isFrozen(value)) {
      Object.values(Object.freeze(value)).forEach(freeze);
    }
    return value;
  }

  function applied(state, write) {
    if (write.args.state !== undefined) {
      return write.args.state;
    }
    return Object.fromEntries(Object.entries({ ...state, ...write.args.merge }).filter(([, value]) => value !== null));
  }

  function show(own) {
    const text = JSON.stringify(writes.reduce(applied, server.state));
    const first = !known;
    known ||= server.version >= 0;
    if (text !== shownText || (first && known)) {
      [shown, shownText] = [freeze(JSON.parse(text)), text];
      announce(stateListeners, shown, { version, own });
    }
  }

  function write(kind, value, expected) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) {
      return Promise.reject(failure("the state is an object", "bad_arguments"));
    }
    if (context.throughline?.past) {
      return Promise.reject(failure("this applet is shown as it was in a turn that is past: it can not change its state here", "read_only"));
    }
    const copy = JSON.parse(JSON.stringify(value));
    const last = writes.at(-1);
    if (last?.waiting && expected === undefined && last.args.version === undefined) {
      // It was not sent yet: this goes with it.
      last.args = kind === "state" ? { state: copy } : last.args.state ? { state: applied(last.args.state, { args: { merge: copy } }) } : { merge: { ...last.args.merge, ...copy } };
      show(true);
      return last.promise;
    }
    const next = { args: { [kind]: copy, ...(expected !== undefined && { version: expected }) }, waiting: true };
    if (new TextEncoder().encode(JSON.stringify([...writes, next].reduce(applied, server.state))).length > MOST_STATE_BYTES) {
      return Promise.reject(failure("the state is larger than 256 KiB", "too_large"));
    }
    next.promise = new Promise((resolve, reject) => Object.assign(next, { resolve, reject }));
    writes.push(next);
    show(true);
    sendWrites(MOST_STATE_CALLS);
    return next.promise;
  }

  function sendWrites(most) {
    for (const next of writes) {
      if (writes.filter((write) => write.sent).length >= most) {
        return;
      }
      if (next.waiting && phase !== "opening") {
        [next.waiting, next.sent] = [false, true];
        tool("applet_state_set", next.args).then(
          (result) => {
            // It stays on top until the server's state that has it arrives.
            [next.sent, next.ackedAt] = [false, result.version];
            version = Math.max(version, result.version);
            writes = writes.filter((write) => !(write.ackedAt <= server.version));
            next.resolve({ version: result.version });
            show(true);
            sendWrites(MOST_STATE_CALLS);
          },
          (error) => {
            writes = writes.filter((write) => write !== next);
            next.reject(error);
            show(false);
            sendWrites(MOST_STATE_CALLS);
          },
        );
      }
    }
  }

  // Parameters and theme.

  let params = freeze({ ...context.throughline?.params });
  const paramsListeners = new Set();
  const themeListeners = new Set();
  const closeListeners = new Set();

  function setParams(changes, { push = false } = {}) {
    const next = { ...params };
    for (const [name, value] of Object.entries(changes)) {
      next[name] = value === null || value === undefined ? "" : String(value);
    }
    const kept = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== ""));
    if (!showParams(kept, true)) {
      return Promise.resolve({});
    }
    return call("throughline/params", { params: kept, history: push ? "push" : "replace" });
  }

  function showParams(next, own) {
    const order = (of) => JSON.stringify(Object.entries(of).sort());
    if (order(next) === order(params)) {
      return false;
    }
    params = freeze({ ...next });
    announce(paramsListeners, params, { own });
    return true;
  }

  function showTheme() {
    const { theme, styles } = context;
    if (theme !== undefined && document.documentElement.dataset.theme !== theme) {
      document.documentElement.dataset.theme = theme;
      announce(themeListeners, theme);
    }
    for (const [name, value] of Object.entries(styles?.variables ?? {})) {
      document.documentElement.style.setProperty(name.startsWith("--") ? name : `--${name}`, value);
    }
  }

  function announce(listeners, ...args) {
    for (const listener of [...listeners]) {
      try {
        listener(...args);
      } catch (error) {
        report(error);
      }
    }
  }

  /** Calls `listener` now, if there is something to say, and from now on; gives a function that ends it. */
  function listen(listeners, listener, ...now) {
    listeners.add(listener);
    if (now.length > 0) {
      announce([listener], ...now);
    }
    return () => listeners.delete(listener);
  }

  // Errors.

  let errors = 0;

  /** What the person declined is no error. */
  function reportUndeclined(error) {
    if (error?.code !== "not_granted") {
      report(error);
    }
  }

  function report(error) {
    errors += 1;
    if (errors <= MOST_ERRORS && page !== window) {
      const message = String(error?.message ?? error).slice(0, 2_000);
      console.error(error);
      post({ method: "throughline/error", params: { message, stack: String(error?.stack ?? "").slice(0, 4_000) } });
    }
  }

  window.addEventListener("error", (event) => report(event.error ?? event.message));
  window.addEventListener("unhandledrejection", (event) => report(event.reason));
  document.addEventListener("securitypolicyviolation", (event) => {
    report(`applets have no network: ${event.effectiveDirective} refused ${event.blockedURI}`);
  });

  // What the page says.

  function heard({ method, params: said }) {
    if (method === "throughline/state" && said.version > server.version) {
      const own = writes.some((write) => write.ackedAt === said.version);
      server = { state: said.state ?? {}, version: said.version };
      version = Math.max(version, said.version);
      writes = writes.filter((write) => !(write.ackedAt <= said.version));
      show(own);
    } else if (method === "ui/notifications/host-context-changed") {
      context = { ...context, ...said, throughline: { ...context.throughline, ...said.throughline } };
      showTheme();
      if (said.throughline?.params) {
        showParams(said.throughline.params, false);
      }
    }
  }

  async function asked({ id, method }) {
    if (method !== "ui/resource-teardown") {
      post({ id, error: { code: -32601, message: `unknown method: ${method}` } });
      return;
    }
    announce(closeListeners);
    sendWrites(Infinity);
    const late = new Promise((resolve) => setTimeout(resolve, TEARDOWN_MS));
    await Promise.race([Promise.allSettled(writes.map((write) => write.promise)), late]);
    post({ id, result: {} });
  }

  window.addEventListener("message", (event) => {
    const message = event.data;
    if (event.source !== page || !event.isTrusted || message?.jsonrpc !== "2.0") {
      return;
    }
    if (message.method === undefined) {
      settle(message.id, message);
    } else if (message.id === undefined) {
      heard(message);
    } else {
      asked(message);
    }
  });

  const ready = new Promise((resolve, reject) => {
    if (phase === "alone") {
      return;
    }
    const hello = { protocolVersion: PROTOCOL, appInfo: { name: "throughline-applet", version: "1" }, appCapabilities: {} };
    send({ method: "ui/initialize", params: hello, timeoutMs: ANSWER_MS, resolve, reject });
  }).then(
    (answer) => {
      context = answer.hostContext ?? {};
      phase = "open";
      post({ method: "ui/notifications/initialized" });
      showTheme();
      showParams(context.throughline?.params ?? {}, false);
      sendWrites(MOST_STATE_CALLS);
      pump();
    },
    (error) => {
      phase = "alone";
      queue.splice(0).forEach(({ reject }) => reject(error));
      sendWrites(MOST_STATE_CALLS);
    },
  );
  showTheme();

  // What the sandbox takes from plain HTML and an applet may expect: links, and the `submit` event of forms.

  document.addEventListener("click", (event) => {
    const link = event.composedPath().find((node) => node instanceof Element && node.matches("a[href]"));
    const href = link?.getAttribute("href");
    if (!event.defaultPrevented && link && !href.startsWith("#")) {
      event.preventDefault();
      const query = /^\/?\?/.test(href) ? Object.fromEntries(new URLSearchParams(href.replace(/^\/?\?/, ""))) : {};
      if (query.applet) {
        const { applet, ...rest } = query;
        throughline.openApplet(applet, rest).catch(reportUndeclined);
      } else if (/^https:/i.test(href)) {
        throughline.openLink(href).catch(reportUndeclined);
      }
    }
  });

  // A sandboxed form ends before its `submit` event, so that event is made here. It goes nowhere by itself.
  function submit(form, submitter = null) {
    if (!form.noValidate && !submitter?.formNoValidate && !form.reportValidity()) {
      return;
    }
    const event = new SubmitEvent("submit", { bubbles: true, cancelable: true, submitter });
    if (form.dispatchEvent(event) && form.getAttribute("method") === "dialog") {
      form.closest("dialog")?.close(submitter?.value);
    }
  }

  document.addEventListener("click", (event) => {
    const button = event.composedPath().find((node) => node instanceof Element && node.matches("button, input"));
    if (!event.defaultPrevented && button?.form && ["submit", "image"].includes(button.type)) {
      event.preventDefault();
      submit(button.form, button);
    }
  });
  document.addEventListener("keydown", (event) => {
    // With a button of its own the form is clicked there by the browser.
    const field = event.target;
    if (event.key === "Enter" && !event.defaultPrevented && !event.isComposing && field instanceof HTMLInputElement && field.form && !/^(?:button|submit|reset|image|file|color|checkbox|radio|range)$/.test(field.type)) {
      if (![...field.form.elements].some(({ type }) => type === "submit" || type === "image")) {
        submit(field.form);
      }
    }
  });
  HTMLFormElement.prototype.requestSubmit = function (submitter) {
    submit(this, submitter);
  };

  // What the applet has.

  const throughline = Object.freeze({
    get state() { return shown; },
    get version() { return version; },
    get params() { return params; },
    get session() { return context.throughline?.session ?? ""; },
    get slug() { return context.throughline?.applet ?? ""; },
    get past() { return context.throughline?.past ?? false; },
    get theme() { return context.theme ?? "light"; },
    ready,
    setState: (patch) => write("merge", patch),
    replaceState: (state, expected) => write("state", state, expected),
    onState: (fn) => listen(stateListeners, fn, ...(known ? [shown, { version, own: false }] : [])),
    setParams,
    onParams: (fn) => listen(paramsListeners, fn, params, { own: false }),
    onTheme: (fn) => listen(themeListeners, fn, ...(context.theme ? [context.theme] : [])),
    /** When the page takes the applet away: the last moment to set the state. */
    onClose: (fn) => listen(closeListeners, fn),
    message: (text) => call("ui/message", { role: "user", content: [{ type: "text", text: String(text) }] }, PERSON_MS),
    openLink: (url) => call("ui/open-link", { url: String(url) }, PERSON_MS),
    openApplet: (applet, given = {}) => call("throughline/open-applet", { applet, params: given }),
    applets: async () => (await tool("applet_list", {})).applets,
    plan: () => tool("session_plan", {}),
    files: Object.freeze({
      read: (path) => tool("read_file", { path }, PERSON_MS),
      write: (path, content, hash) => tool("write_file", { path, content, hash }, PERSON_MS),
      list: (path, after) => tool("list_directory", { path, after }, PERSON_MS),
    }),
    git: Object.freeze({
      status: () => tool("git_status", {}, PERSON_MS),
      diff: (path, after) => tool("git_diff", { path, after }, PERSON_MS),
    }),
  });
  Object.defineProperty(window, "throughline", { value: throughline });

  let urlParamsListener = () => {};
  Object.assign(window, {
    setAppletState: throughline.setState,
    onStateUpdate: throughline.onState,
    getAppletSlug: () => throughline.slug,
    getAppletUrlParams: () => ({ ...params }),
    updateAppletUrlParam: (name, value) => setParams({ [name]: value }),
    navigateAppletUrlParam: (name, value) => setParams({ [name]: value }, { push: true }),
    onUrlParamsChange: (fn) => {
      urlParamsListener();
      urlParamsListener = throughline.onParams(fn);
    },
    sendAgentMessage: (text) => throughline.message(text),
    getSessionId: () => throughline.session,
    listApplets: throughline.applets,
    /** Inline handlers (onclick="save()") see only what is on the window: `expose(save, load)` or `expose({ save })`. */
    expose: (...functions) => {
      for (const given of functions) {
        Object.assign(window, typeof given === "function" ? { [given.name]: given } : given);
      }
    },
  });
  Object.defineProperty(window, "appletContainer", { get: () => document.getElementById("applet") ?? document.body });
})();
//# sourceURL=throughline.js
