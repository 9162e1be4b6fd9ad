// The deleted sessions: older ones come once for two presses.
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../app/inApp";
import type { DeletedSession } from "../wire/names";
import { DeletedList } from "./DeletedList";

const AT = "2026-01-02T03:04:05.006Z";

function deleted(id: string): DeletedSession {
  return { id, agent: "guide", project: "/w", title: `Session ${id}`, turns: 1, deletedAt: AT };
}

afterEach(cleanup);

test("older ones come once for two presses, and are asked for again after a failure", async () => {
  const asked: (string | null)[] = [];
  let down = false;
  const http = {
    deletedSessions: (after: string | null) => {
      asked.push(after);
      if (down) {
        return Promise.resolve({ ok: false, failure: { kind: "unreachable" } });
      }
      return Promise.resolve({ ok: true, value: after === null ? { sessions: [deleted("a")], nextCursor: "1" } : { sessions: [deleted("b")] } });
    },
  };
  render(<DeletedList />, inApp({ http }));
  const older = await screen.findByRole("button", { name: "Older ones" });
  down = true;
  fireEvent.click(older);
  await screen.findByText("The server did not answer.");
  down = false;
  fireEvent.click(older);
  fireEvent.click(older);
  await screen.findByText("Session b");
  expect(screen.getAllByText(/^Session/).map(({ textContent }) => textContent)).toEqual(["Session a", "Session b"]);
  expect(asked).toEqual([null, "1", "1"]);
});
