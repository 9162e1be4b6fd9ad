// A page that was built into a folder, in front of a server that has another one: to measure a change of the page without
// building the program, and pages of different commits beside each other.
import { readFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { connect } from "node:net";
import path from "node:path";

const TYPES = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html" };

/** What is not of the page goes on to the server, which hears its own address in the place of ours. */
export async function servePageFrom(folder, server) {
  const { hostname, port, host } = new URL(server.origin);
  const policy = (await fetch(server.origin)).headers.get("content-security-policy");
  const headersFor = (headers) => ({ ...headers, host, ...(headers.origin !== undefined && { origin: server.origin }) });
  const front = createServer((asked, answer) => {
    if (/^\/(?:api|healthz)\b/.test(asked.url)) {
      const passed = request({ hostname, port, path: asked.url, method: asked.method, headers: headersFor(asked.headers) }, (come) => {
        answer.writeHead(come.statusCode, come.headers);
        come.pipe(answer);
      });
      // A server that is gone answers nobody.
      passed.on("error", () => answer.destroy());
      asked.pipe(passed);
      return;
    }
    void answerWithFile(folder, new URL(asked.url, server.origin).pathname, policy, answer);
  });
  front.on("upgrade", (asked, socket, first) => {
    const passed = connect(Number(port), hostname, () => {
      const lines = Object.entries(headersFor(asked.headers)).map(([name, value]) => `${name}: ${value}\r\n`);
      passed.write(`${asked.method} ${asked.url} HTTP/1.1\r\n${lines.join("")}\r\n`);
      passed.write(first);
      passed.pipe(socket).pipe(passed);
    });
    const end = () => {
      passed.destroy();
      socket.destroy();
    };
    for (const side of [passed, socket]) {
      side.setNoDelay(true).on("error", end).on("close", end);
    }
  });
  await new Promise((listening) => front.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${front.address().port}`,
    end() {
      front.closeAllConnections();
      front.close();
    },
  };
}

async function answerWithFile(folder, address, policy, answer) {
  const name = path.extname(address) === "" ? "index.html" : address;
  try {
    const body = await readFile(path.join(folder, name));
    answer.writeHead(200, { "content-type": TYPES[path.extname(name)] ?? "application/octet-stream", "content-security-policy": policy });
    answer.end(body);
  } catch {
    answer.writeHead(404);
    answer.end();
  }
}
