// The card of a session's titles: five and the rest on demand, the way to a turn, and the pin.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { Http } from "../api/http";
import { inApp } from "../app/inApp";
import type { SessionRow, Title } from "../wire/names";
import { TitleCard } from "./TitleCard";

const AT = "2026-01-02T03:04:05.006Z";
const row = (name: string) => ({ id: "s", title: name || "Title 7", turns: 7, meta: { name, context: {} } }) as SessionRow;
const titles: Title[] = [7, 6, 5, 4, 3, 2, 1].map((turn) => ({ title: `Title ${turn}`, turn, changed_at: AT, by: "terms" }));

afterEach(cleanup);

function show(name: string, answers: Partial<Http>, onGone = () => undefined) {
  const titleHistory = vi.fn().mockResolvedValue({ ok: true, value: { session_id: "s", session_name: "", titles } });
  render(<TitleCard row={row(name)} writable onGone={onGone} />, inApp({ http: { titleHistory, ...answers } }));
}

test("five are shown, newest first, and the rest when it is asked for", async () => {
  show("", {});
  await screen.findByText("Title 7");
  expect(screen.getAllByRole("listitem").map((item) => item.textContent)).toEqual([7, 6, 5, 4, 3].map((turn) => expect.stringContaining(`Title ${turn}t${turn}`)));
  await userEvent.click(screen.getByRole("button", { name: "+2 more" }));
  expect(screen.getAllByRole("listitem")).toHaveLength(7);
  expect(screen.queryByRole("button", { name: /more/ })).toBeNull();
});

test("a title leads to the turn that brought it", async () => {
  const onGone = vi.fn();
  show("", {}, onGone);
  const link = await screen.findByRole("link", { name: /Title 6/ });
  expect(link.getAttribute("href")).toBe("/s/s#t6");
  await userEvent.click(link);
  expect(onGone).toHaveBeenCalledOnce();
});

test("a name is pinned until it is let go, and what goes wrong is said", async () => {
  const setPinnedTitle = vi.fn().mockResolvedValue({ ok: false, failure: { kind: "unreachable" } });
  show("Mine", { setPinnedTitle });
  await userEvent.click(await screen.findByRole("button", { name: "Unpin" }));
  expect(setPinnedTitle).toHaveBeenCalledWith("s", null);
  await screen.findByText("The server did not answer.");
});

test("without a name nothing is pinned", async () => {
  show("", {});
  await screen.findByText("Title 7");
  expect(screen.queryByRole("button", { name: "Unpin" })).toBeNull();
});

test("titles are whole: whoever looks here saw one that was cut", async () => {
  const long = "Refuse entries that leave a gap ".repeat(6).trim();
  show(long, { titleHistory: vi.fn().mockResolvedValue({ ok: true, value: { session_id: "s", session_name: "", titles: [{ ...titles[0], title: long }] } }) });
  await screen.findByRole("listitem");
  const [pinned, title] = screen.getAllByText(long);
  expect([pinned, title].map((element) => element?.closest(".truncate"))).toEqual([null, null]);
});
