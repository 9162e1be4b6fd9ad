// Tags are given by typing them, at once.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../app/inApp";
import type { BulkAction } from "../app/bulkActions";
import type { SessionRow } from "../wire/names";
import { TagDialog } from "./TagDialog";

afterEach(cleanup);

test("what is typed into the dialog is a tag, and Enter gives it", async () => {
  const given: BulkAction[] = [];
  const row = { id: "one", title: "Mend the loom", meta: { name: "" } } as SessionRow;
  const http = { tags: () => Promise.resolve({ ok: true, value: { tags: [] } }) };
  render(<TagDialog rows={[row]} onRun={(action) => given.push(action)} onClose={() => undefined} />, inApp({ http }));
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Add tags" }));
  await userEvent.keyboard("bug{Enter}");
  expect(given).toEqual([{ kind: "tag", add: ["bug"], remove: [] }]);
});
