// The page of a host of MCP Apps, made of the host side that the standard's own makers publish. What is around it (a page in which the
// document gets a frame of another origin, and the way to the server) is as the standard asks it of hosts.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const HOST = { name: "a host of MCP Apps", version: "1" };
const OFFERED = { serverTools: {}, logging: {}, openLinks: {} };

/** What the page said to the host, beside calls. */
const heard = { sizes: [], logs: [], app: null };

/**
 * Shows a document; with a tool's result, as the page of that tool. `callServer` is the host's connection to the server, which this
 * page does not have by itself.
 */
async function show({ html, proxy, theme, input, result }) {
  const frame = document.createElement("iframe");
  frame.title = "App";
  frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-forms");
  const bridge = new AppBridge(null, HOST, OFFERED, { hostContext: { theme, displayMode: "inline" } });
  const isProxyReady = new Promise((resolve) => (bridge.onsandboxready = resolve));
  const isOpen = new Promise((resolve) => (bridge.oninitialized = resolve));
  bridge.oncalltool = (params) => window.callServer(params);
  bridge.onsizechange = (size) => {
    heard.sizes.push(size);
    frame.style.height = `${size.height}px`;
  };
  bridge.onloggingmessage = (log) => heard.logs.push(log);
  document.body.append(frame);
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.src = proxy;
  await isProxyReady;
  await bridge.sendSandboxResourceReady({ html, csp: {}, permissions: {} });
  await isOpen;
  heard.app = bridge.getAppVersion();
  if (result !== undefined) {
    await bridge.sendToolInput({ arguments: input });
    await bridge.sendToolResult(result);
  }
  window.takeAway = async () => {
    const answer = await bridge.teardownResource({});
    frame.remove();
    return answer;
  };
}

Object.assign(window, { show, heard });
