// Signing in: the code leaves the address first, and every way it can end.
import { beforeEach, expect, test, vi } from "vitest";

import { hasCode, signIn, storedProof, takeCode } from "./credential";
import type { Answer, Http } from "./http";

const refused: Answer<never> = { ok: false, failure: { kind: "signed_out" } };
const unreachable: Answer<never> = { ok: false, failure: { kind: "unreachable" } };

function http(exchange: Answer<{ proof: string }>, whoami: Answer<unknown>) {
  return {
    exchangeCode: vi.fn(() => Promise.resolve(exchange)),
    discardCode: vi.fn(() => Promise.resolve(unreachable)),
    whoami: vi.fn(() => Promise.resolve(whoami)),
  } as unknown as Http;
}

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", "/");
});

test("the code is taken out of the address, and the rest of the address stays", () => {
  history.replaceState(null, "", "/s/x?a=1#code=abc&t=4");
  expect(hasCode()).toBe(true);
  expect(takeCode()).toBe("abc");
  expect(location.pathname + location.search + location.hash).toBe("/s/x?a=1#t=4");
  expect(takeCode()).toBeNull();
});

test("a link to a turn becomes its address", () => {
  history.replaceState(null, "", "/s/x#code=abc&at=t7");
  expect(takeCode()).toBe("abc");
  expect(location.pathname + location.hash).toBe("/s/x#t7");
});

test("a good code leaves the proof in this browser", async () => {
  expect(await signIn(http({ ok: true, value: { proof: "half" } }, refused), "abc")).toEqual({ kind: "signed_in" });
  expect(storedProof()).toBe("half");
});

test("a used code is refused, unless the browser is signed in already", async () => {
  expect(await signIn(http(refused, refused), "abc")).toEqual({ kind: "code_refused" });
  localStorage.setItem("throughline.proof", "half");
  expect(await signIn(http(refused, refused), "abc")).toEqual({ kind: "code_refused" });
  expect(await signIn(http(refused, { ok: true, value: {} }), "abc")).toEqual({ kind: "signed_in" });
});

test("without a code the stored proof is asked about, and without one nothing is asked", async () => {
  const asked = http(refused, refused);
  expect(await signIn(asked, null)).toEqual({ kind: "signed_out" });
  expect(asked.whoami).not.toHaveBeenCalled();
  localStorage.setItem("throughline.proof", "half");
  expect(await signIn(asked, null)).toEqual({ kind: "signed_out" });
  expect(await signIn(http(refused, { ok: true, value: {} }), null)).toEqual({ kind: "signed_in" });
  expect(await signIn(http(refused, unreachable), null)).toEqual({ kind: "unreachable" });
});

test("a code that leads somewhere is discarded by a browser that is signed in", async () => {
  history.replaceState(null, "", "/#code=abc&new=/a%20b/%C3%A4");
  expect(takeCode()).toBe("abc");
  expect(new URLSearchParams(location.hash.slice(1)).get("new")).toBe("/a b/ä");
  localStorage.setItem("throughline.proof", "half");
  const signedIn = http({ ok: true, value: { proof: "other" } }, { ok: true, value: {} });
  expect(await signIn(signedIn, "abc", "to_lead")).toEqual({ kind: "signed_in" });
  expect(signedIn.exchangeCode).not.toHaveBeenCalled();
  expect(signedIn.discardCode).toHaveBeenCalledExactlyOnceWith("abc");
  const signedOut = http({ ok: true, value: { proof: "other" } }, refused);
  expect(await signIn(signedOut, "abc", "to_lead")).toEqual({ kind: "signed_in" });
  expect(signedOut.discardCode).not.toHaveBeenCalled();
  expect(storedProof()).toBe("other");
});
