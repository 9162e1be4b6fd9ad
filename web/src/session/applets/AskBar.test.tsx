// What an applet asks for, and what it was not allowed: whose words are whose, and which presses count.
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Http } from "../../api/http";
import type { AppletGrant, NewAppletGrant } from "../../wire/applets";
import { AskBar } from "./AskBar";
import { Asks } from "./asks";
import { Grants } from "./grants";

const ARMED_MS = 600;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

function open({ title = "Counter", slug = "counter" as string | null, refusal = null as object | null } = {}) {
  const known = new Set<AppletGrant>();
  const grantApplet = vi.fn((_session: string, _applet: string, { grant, granted }: NewAppletGrant) => {
    if (refusal !== null) {
      return Promise.resolve({ ok: false, failure: refusal });
    }
    known[granted ? "add" : "delete"](grant);
    return Promise.resolve({ ok: true, value: { hash: "h", grants: [...known] } });
  });
  const http = { appletGrants: () => Promise.resolve({ ok: true, value: { hash: "h", grants: [...known] } }), grantApplet } as unknown as Http;
  const asks = new Asks();
  const grants = new Grants({ http, session: "s", applet: "counter", hash: "h", asks });
  render(
    <aside data-own-keys tabIndex={-1}>
      <AskBar asks={asks} grants={grants} title={title} slug={slug} />
    </aside>,
  );
  const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
  const need = async (grant: AppletGrant) => {
    grants.need(grant).catch(() => undefined);
    await pass(0);
  };
  const button = (name: string) => screen.getByRole<HTMLButtonElement>("button", { name });
  const press = async (name: string) => {
    button(name).click();
    await pass(0);
  };
  const decline = async (grant: AppletGrant) => {
    await need(grant);
    await pass(ARMED_MS);
    await press("Not now");
  };
  const lines = () => screen.queryAllByRole("status").map(({ textContent }) => textContent);
  return { grants, grantApplet, pass, need, button, press, decline, lines };
}

test.each([
  ["Throughline: your files are safe. Press Allow", "counter", "“Throughline: your files are safe. Press Allow” (counter) wants to read files of this session."],
  ["Notes” wants nothing. “Press Allow", "counter", "“Notes' wants nothing. 'Press Allow” (counter) wants to read files of this session."],
  ["counter", "counter", "“counter” wants to read files of this session."],
  ["A draft", null, "“A draft” wants to read files of this session."],
])("the name %s is a name, and no sentence of the page", async (title, slug, words) => {
  const { need } = open({ title, slug });
  await need("files.read");
  expect(screen.getByRole("alertdialog").querySelector("p")?.textContent).toBe(words);
});

test("what is allowed is said to hold in every session", async () => {
  const { need } = open();
  await need("message");
  screen.getByText("This holds in every session where you open it, until the applet changes. You can take it back in its menu.");
});

test("what was declined can be allowed where it was asked, though not by a press that was meant for the question", async () => {
  const { grantApplet, pass, button, press, decline, lines } = open();
  await decline("files.read");
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(lines()).toEqual(["You did not allow “Counter” to read files of this session. Allow"]);
  const allow = "Allow it to read files of this session";
  await press(allow);
  await pass(ARMED_MS - 1);
  expect([button(allow).disabled, grantApplet.mock.calls.length]).toEqual([true, 0]);
  await pass(1);
  await press(allow);
  expect(grantApplet).toHaveBeenCalledExactlyOnceWith("s", "counter", { hash: "h", grant: "files.read", granted: true });
  expect(lines()).toEqual([]);
});

test("each that was declined has a line until it is allowed, and one that moves does not take the press for another", async () => {
  const { grants, pass, button, decline, lines } = open();
  await decline("files.read");
  await decline("files.write");
  await pass(ARMED_MS);
  expect(lines()).toHaveLength(2);
  expect(button("Allow it to write files of this session").disabled).toBe(false);
  // As the menu does.
  await grants.set("files.read", true);
  await pass(0);
  expect(lines()).toEqual(["You did not allow “Counter” to write files of this session. Allow"]);
  expect(button("Allow it to write files of this session").disabled).toBe(true);
});

test("whoever answered is in the panel afterwards, where no letter is a shortcut", async () => {
  const { need, pass, button, press } = open();
  await need("files.read");
  await pass(ARMED_MS);
  for (const name of ["Not now", "Allow it to read files of this session"]) {
    button(name).focus();
    await press(name);
    expect(document.activeElement).toBe(screen.getByRole("complementary"));
    await pass(ARMED_MS);
  }
});

test("a grant that can not be given says why", async () => {
  const { pass, press, decline, lines } = open({ refusal: { kind: "refused", status: 409, code: "applet_changed", message: "it has other content by now" } });
  await decline("files.read");
  await pass(ARMED_MS);
  await press("Allow it to read files of this session");
  expect(lines()).toEqual(["You did not allow “Counter” to read files of this session. Allow It has other content by now."]);
});
