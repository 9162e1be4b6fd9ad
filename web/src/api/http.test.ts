// What is sent with every call, and what comes of the ways in which one can end.
import type { Mock } from "vitest";
import { expect, test, vi } from "vitest";

import { createHttp, failureWords } from "./http";

function open(answer: () => Promise<Response>) {
  const fetched = vi.fn((_request: Request) => answer());
  vi.stubGlobal("fetch", fetched);
  const onSignedOut = vi.fn();
  return { http: createHttp({ proof: () => "half", onSignedOut }), fetched, onSignedOut };
}

/** The one request that was sent. */
function sentBy(fetched: Mock<(request: Request) => unknown>): Request {
  const [request] = fetched.mock.calls[0] ?? [];
  expect(request).toBeDefined();
  return request as Request;
}

function pathOf({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

const json = (status: number, body: unknown) => () => Promise.resolve(new Response(JSON.stringify(body), { status }));

test("every call carries the proof, and a body is JSON", async () => {
  const { http, fetched } = open(json(202, { interactionId: "i", turn: null }));
  const answer = await http.sendPrompt("s", { text: "hello", key: "k" });
  expect(answer).toEqual({ ok: true, value: { interactionId: "i", turn: null } });
  const request = sentBy(fetched);
  expect(`${request.method} ${pathOf(request)}`).toBe("POST /api/v1/sessions/s/prompts");
  expect(request.headers.get("x-throughline-proof")).toBe("half");
  expect(request.headers.get("content-type")).toBe("application/json");
  expect(request.credentials).toBe("same-origin");
  expect(await request.text()).toBe('{"text":"hello","key":"k"}');
});

test("names and questions are sent as they are, whatever stands in them", async () => {
  const { http, fetched } = open(json(200, { files: [] }));
  await http.files("a/b", "c d&e=ü");
  expect(pathOf(sentBy(fetched))).toBe("/api/v1/sessions/a%2Fb/files?prefix=c%20d%26e%3D%C3%BC");
});

test("a refusal keeps the server's code, words and details", async () => {
  const { http } = open(json(409, { error: { code: "turn_running", message: "a turn is running", details: { turn: 3 } } }));
  const answer = await http.deleteSession("s");
  expect(answer).toEqual({
    ok: false,
    failure: { kind: "refused", status: 409, code: "turn_running", message: "a turn is running", details: { turn: 3 } },
  });
  expect(answer.ok || failureWords(answer.failure)).toBe("A turn is running.");
});

test("an answer to the agent goes to what it asked", async () => {
  const { http, fetched } = open(json(200, { success: true }));
  await http.answerPermission("s", "p7", { option: "yes", fields: null });
  const request = sentBy(fetched);
  expect(pathOf(request)).toBe("/api/v1/sessions/s/permissions/p7");
  expect(await request.text()).toBe('{"option":"yes","fields":null}');
});

test("an answer without a body is an answer", async () => {
  const { http } = open(() => Promise.resolve(new Response(null, { status: 204 })));
  expect(await http.deleteSession("s")).toEqual({ ok: true, value: undefined });
});

test("an error that is not the server's own is still put into words", async () => {
  const { http } = open(() => Promise.resolve(new Response("<html>", { status: 502 })));
  const answer = await http.agents();
  expect(answer.ok || failureWords(answer.failure)).toBe("The server answered with status 502.");
});

test("no answer is a failure of its own", async () => {
  const { http } = open(() => Promise.reject(new TypeError("failed to fetch")));
  expect(await http.agents()).toEqual({ ok: false, failure: { kind: "unreachable" } });
});

test("a credential that is not in force is told at once, but not while signing in", async () => {
  const { http, onSignedOut } = open(json(401, { error: { code: "unauthenticated", message: "sign in", details: {} } }));
  expect(await http.exchangeCode("c")).toEqual({ ok: false, failure: { kind: "signed_out" } });
  expect(onSignedOut).not.toHaveBeenCalled();
  await http.agents();
  expect(onSignedOut).toHaveBeenCalledOnce();
});
