// Listeners that count who comes: one of TCP and one of UDP, on the loopback address, for each attempt to leave a frame.
//
// Invariant: a listener counts connections, not requests, so that a connection that never asks for anything counts too.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

export async function listenForLeaks() {
  const heard = [];
  const open = new Set();
  const tcp = createServer((socket) => {
    const hit = { kind: "tcp", text: "" };
    heard.push(hit);
    open.add(socket);
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      hit.text = (hit.text + text).slice(0, 200);
      if (/^(?:GET|POST|HEAD|OPTIONS) /.test(hit.text)) {
        socket.end("HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Type: text/html\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi");
      }
    });
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
  });
  const udp = createSocket("udp4", () => heard.push({ kind: "udp", text: "" }));
  tcp.listen(0, "127.0.0.1");
  udp.bind(0, "127.0.0.1");
  await Promise.all([once(tcp, "listening"), once(udp, "listening")]);
  return {
    heard,
    tcp: tcp.address().port,
    udp: udp.address().port,
    close() {
      open.forEach((socket) => socket.destroy());
      tcp.close();
      udp.close();
    },
  };
}
