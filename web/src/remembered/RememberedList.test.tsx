// The list of what is remembered: what the server says, and nothing it has forgotten.
import { cleanup, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Answer } from "../api/http";
import { inApp } from "../app/inApp";
import type { RememberedPage, RememberedPermission } from "../wire/names";
import { RememberedList } from "./RememberedList";

const one: RememberedPermission = {
  id: "r1",
  project: "/home/ada/loom",
  cwd: "/home/ada/loom",
  agent: "guide",
  kind: "execute",
  subject: "make\u202E",
  digest: "d",
  decision: "allow",
  rememberedAt: "2026-01-02T14:02:05.006Z",
  by: { type: "person", name: "phone" },
};
const two: RememberedPermission = { ...one, id: "r2", subject: "rm -rf build", decision: "deny" };

function show(forgotten: Answer<unknown>) {
  const http = {
    remembered: () => Promise.resolve<Answer<RememberedPage>>({ ok: true, value: { permissions: [one, two] } }),
    forgetPermission: vi.fn((_: string) => Promise.resolve(forgotten)),
  };
  render(<RememberedList />, inApp({ http }));
  return http;
}

afterEach(cleanup);

const subjects = () => screen.queryAllByRole("region", { name: "Exactly this" }).map((region) => region.textContent);

test("each is shown with every hidden character, and goes when the server has forgotten it", async () => {
  const http = show({ ok: true, value: undefined });
  await screen.findByText(/^Rejected by phone/);
  expect(subjects()).toEqual(["make⟨U+202E⟩", "rm -rf build"]);
  await userEvent.click(screen.getAllByRole("button", { name: "Forget" })[0] as HTMLElement);
  await waitFor(() => expect(subjects()).toEqual(["rm -rf build"]));
  expect(http.forgetPermission.mock.calls).toEqual([["r1"]]);
});

test("of an edit it says that the content counts too", async () => {
  const edit: RememberedPermission = { ...one, kind: "edit", subject: "/home/ada/loom/a.txt" };
  const remembered = () => Promise.resolve<Answer<RememberedPage>>({ ok: true, value: { permissions: [edit, two] } });
  render(<RememberedList />, inApp({ http: { remembered } }));
  expect(await screen.findAllByText("with the content it had then")).toHaveLength(1);
});

test("what was not forgotten stays, and why is told", async () => {
  show({ ok: false, failure: { kind: "unreachable" } });
  await screen.findByText(/^Rejected by phone/);
  await userEvent.click(screen.getAllByRole("button", { name: "Forget" })[0] as HTMLElement);
  expect((await screen.findByRole("alert")).textContent).toBe("The server did not answer.");
  expect(subjects()).toHaveLength(2);
});
