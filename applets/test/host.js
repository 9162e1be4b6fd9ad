// The page's side of the bridge as small as the tests need it, with everything in memory. `window.host` is for the tests.
//
// Invariant: a message counts only if it comes from the window of the frame that it is for, as in Throughline's page.
function start({ frames, sandbox }) {
  const stores = new Map();
  window.host = { frames: [], outcomes: {} };
  for (const given of frames) {
    const element = document.createElement("iframe");
    const context = { theme: "light", displayMode: "inline", locale: "en", ...given.context };
    context.throughline = { applet: "test", title: "Test", session: "s1", params: {}, hash: "h", past: false, ...given.context?.throughline };
    const slug = context.throughline.applet;
    if (!stores.has(slug)) {
      stores.set(slug, { state: given.state ?? {}, version: given.version ?? 1, followers: [] });
    }
    const frame = { element, context, store: stores.get(slug), files: given.files ?? {}, tools: given.tools ?? {}, errors: [], calls: [], answers: new Map(), initialized: false, silent: given.silent ?? false };
    frame.post = (message) => element.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
    frame.ask = (id, method, params) => new Promise((resolve) => {
      frame.answers.set(id, resolve);
      frame.post({ id, method, params });
    });
    window.host.frames.push(frame);
    element.title = context.throughline.title;
    element.name = given.named === false ? "" : JSON.stringify(context);
    if (sandbox !== null) {
      element.setAttribute("sandbox", sandbox);
    }
    element.referrerPolicy = "no-referrer";
    element.src = given.url;
    document.body.append(element);
  }
  window.addEventListener("message", (event) => {
    // What an attempt to leave a frame says of itself.
    if (typeof event.data?.attempt === "string") {
      window.host.outcomes[event.data.attempt] = event.data.outcome;
      return;
    }
    const frame = window.host.frames.find(({ element }) => element.contentWindow === event.source);
    if (frame !== undefined && event.data?.jsonrpc === "2.0" && !frame.silent) {
      hear(frame, event.data);
    }
  });
}

function hear(frame, { id, method, params, result }) {
  if (method === undefined) {
    frame.answers.get(id)?.(result);
  } else if (id === undefined) {
    if (method === "ui/notifications/initialized") {
      frame.initialized = true;
      frame.store.followers.push(frame);
      sendState(frame);
    } else if (method === "throughline/error") {
      frame.errors.push(params);
    }
  } else {
    frame.calls.push({ method, params });
    try {
      frame.post({ id, result: answer(frame, method, params) });
    } catch (error) {
      frame.post({ id, error: { code: error.rpc ?? -32000, message: error.message, data: error.data } });
    }
  }
}

function refuse(code, message, data) {
  throw Object.assign(new Error(message), { data: { code, ...data } });
}

function sendState({ post, store }) {
  post({ method: "throughline/state", params: { state: store.state, version: store.version } });
}

/** Sets the state as another writer does. */
function setState(store, change) {
  if (change.version !== undefined && change.version !== store.version) {
    refuse("conflict", "the state has another version", { version: store.version });
  }
  const merged = change.state ?? Object.fromEntries(Object.entries({ ...store.state, ...change.merge }).filter(([, value]) => value !== null));
  if (JSON.stringify(merged).length > 256 * 1024) {
    refuse("too_large", "the state is larger than 256 KiB");
  }
  store.state = merged;
  store.version += 1;
  store.followers.forEach(sendState);
  return { version: store.version };
}

function answer(frame, method, params) {
  switch (method) {
    case "ui/initialize":
      return { protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" }, hostCapabilities: {}, hostContext: frame.context };
    case "ui/message":
    case "ui/open-link":
    case "throughline/open-applet":
      return {};
    case "throughline/params":
      frame.context.throughline.params = params.params;
      return {};
    case "tools/call": {
      const structuredContent = tool(frame, params.name, params.arguments);
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    }
    default:
      throw Object.assign(new Error(`unknown method: ${method}`), { rpc: -32601 });
  }
}

function tool(frame, name, args) {
  const { files, tools, store } = frame;
  if (tools[name]?.error) {
    refuse(tools[name].error, tools[name].message ?? tools[name].error);
  }
  switch (name) {
    case "applet_state_get":
      return { state: store.state, version: store.version };
    case "applet_state_set":
      return setState(store, args);
    case "read_file":
      return { path: args.path, bytes: files[args.path]?.content.length, encoding: "utf-8", cut: false, hash: "h1", ...(files[args.path] ?? refuse("not_found", `there is no file ${args.path}`)) };
    case "write_file": {
      const hash = files[args.path]?.hash ?? "h1";
      if (args.hash !== undefined && args.hash !== hash) {
        refuse("conflict", "the file is another by now", { hash });
      }
      files[args.path] = { content: args.content, hash: `${hash}+` };
      return { hash: `${hash}+` };
    }
    default:
      return tools[name]?.[args.path ?? ""] ?? tools[name] ?? refuse("unknown_tool", `unknown tool: ${name}`);
  }
}
