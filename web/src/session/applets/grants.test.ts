// What the person lets an applet do: asked once, remembered for one content, and never taken from a message of the frame.
import { expect, test, vi } from "vitest";

import type { Http } from "../../api/http";
import type { AppletGrant, NewAppletGrant } from "../../wire/applets";
import { Asks } from "./asks";
import { Grants } from "./grants";

function open({ hash = "h1", granted = [] as AppletGrant[], serverHash = "h1" } = {}) {
  const known = new Set(granted);
  const told: NewAppletGrant[] = [];
  const http = {
    appletGrants: vi.fn(() => Promise.resolve({ ok: true, value: { hash: serverHash, grants: [...known] } })),
    grantApplet: vi.fn((_session: string, _applet: string, grant: NewAppletGrant) => {
      told.push(grant);
      if (grant.hash !== serverHash) {
        return Promise.resolve({ ok: false, failure: { kind: "refused", status: 409, code: "applet_changed", message: "it has other content by now", details: {} } });
      }
      known[grant.granted ? "add" : "delete"](grant.grant);
      return Promise.resolve({ ok: true, value: { hash: serverHash, grants: [...known] } });
    }),
  } as unknown as Http;
  const asks = new Asks();
  return { grants: new Grants({ http, session: "s", applet: "counter", hash, asks }), asks, told, http, known };
}

const asked = (asks: Asks) => vi.waitFor(() => {
  const ask = asks.current();
  expect(ask).not.toBeNull();
  return ask;
});

test("what is granted is not asked for, and what is not is asked for once, however many calls wait for it", async () => {
  const { grants, asks, told } = open({ granted: ["files.read"] });
  expect(await grants.need("files.read")).toBe("granted_before");
  const calls = [grants.need("files.write"), grants.need("files.write"), grants.need("files.write")];
  expect(await asked(asks)).toEqual({ kind: "grant", grant: "files.write", text: null });
  asks.answer(true);
  expect(await Promise.all(calls)).toEqual(["granted_now", "granted_now", "granted_now"]);
  expect(asks.current()).toBeNull();
  expect(told).toEqual([{ hash: "h1", grant: "files.write", granted: true }]);
  expect(await grants.need("files.write")).toBe("granted_before");
});

test("a no is a no until the applet is loaded anew, unless the person gives it in the menu", async () => {
  const { grants, asks, told } = open();
  const call = grants.need("files.read");
  await asked(asks);
  asks.answer(false);
  await expect(call).rejects.toMatchObject({ data: { code: "not_granted" } });
  await expect(grants.need("files.read")).rejects.toMatchObject({ data: { code: "not_granted" } });
  expect([asks.current(), told]).toEqual([null, []]);
  await grants.set("files.read", true);
  expect(await grants.need("files.read")).toBe("granted_before");
  await grants.set("files.read", false);
  expect((await grants.known()).size).toBe(0);
});

test("while one message is asked about, no other waits for the same answer", async () => {
  const { grants, asks } = open();
  const shown = grants.need("message", "shown");
  expect(await asked(asks)).toEqual({ kind: "grant", grant: "message", text: "shown" });
  await expect(grants.need("message", "hidden")).rejects.toMatchObject({ data: { code: "busy" } });
  asks.answer(true);
  expect(await shown).toBe("granted_now");
  expect(await grants.need("message", "later")).toBe("granted_before");
});

test("what was declined is known until it is given, wherever that is", async () => {
  const { grants, asks, known } = open();
  const changed = vi.fn();
  grants.subscribe(changed);
  for (const grant of ["files.read", "message"] as const) {
    const call = grants.need(grant);
    await asked(asks);
    asks.answer(false);
    await expect(call).rejects.toMatchObject({ data: { code: "not_granted" } });
  }
  expect(grants.declined()).toEqual(["files.read", "message"]);
  await grants.set("files.read", true);
  expect(grants.declined()).toEqual(["message"]);
  // On another device.
  known.add("message");
  expect(await grants.need("message")).toBe("granted_before");
  expect(grants.declined()).toEqual([]);
  expect(changed).toHaveBeenCalledTimes(4);
});

test("grants of other content are none, and the server may say that it has changed since", async () => {
  const { grants, asks } = open({ hash: "h2", granted: ["files.write"] });
  const call = grants.need("files.write");
  await asked(asks);
  asks.answer(true);
  await expect(call).rejects.toMatchObject({ data: { code: "conflict" } });
});

test("what nobody answered before the applet was left is a no, and nothing is asked after that", async () => {
  const { grants, asks } = open();
  const call = grants.need("message", "hello");
  expect(await asked(asks)).toEqual({ kind: "grant", grant: "message", text: "hello" });
  asks.close();
  await expect(call).rejects.toMatchObject({ data: { code: "not_granted" } });
  expect(await asks.ask({ kind: "link", url: "https://x.test/" })).toBe(false);
});

test("several things are asked for one after the other", async () => {
  const { asks } = open();
  const answers = [asks.ask({ kind: "link", url: "https://a.test/" }), asks.ask({ kind: "grant", grant: "message", text: "hi" })];
  expect(asks.current()).toEqual({ kind: "link", url: "https://a.test/" });
  asks.answer(true);
  expect(asks.current()).toEqual({ kind: "grant", grant: "message", text: "hi" });
  asks.answer(false);
  expect(await Promise.all(answers)).toEqual([true, false]);
});

test("one link waits at a time, the same asked again is another, and who declines three is asked no more", async () => {
  const { asks } = open();
  const link = { kind: "link", url: "https://a.test/" } as const;
  const seen = new Set<number>();
  for (let declined = 0; declined < 3; declined++) {
    const asked = asks.ask(link);
    expect(await asks.ask({ kind: "link", url: "https://b.test/" })).toBe(false);
    seen.add(asks.nth);
    asks.answer(false);
    expect(await asked).toBe(false);
  }
  expect(seen.size).toBe(3);
  expect(await asks.ask(link)).toBe(false);
  expect(asks.current()).toBeNull();
});
