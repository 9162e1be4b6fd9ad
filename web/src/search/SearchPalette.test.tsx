// A command of the palette runs on the page, not under the dialog.
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { afterEach, expect, test } from "vitest";

import { inApp } from "../app/inApp";
import SearchPalette from "./SearchPalette";

afterEach(cleanup);

test("a command runs once the dialog is closed, so that it can move the focus", async () => {
  const open: boolean[] = [];
  function Page() {
    const [shown, setShown] = useState(true);
    const write = () => {
      open.push(document.querySelector("dialog") !== null);
      document.querySelector("textarea")?.focus();
    };
    return (
      <>
        <textarea aria-label="Prompt" />
        {shown && <SearchPalette commands={[{ name: "Write a prompt", keys: "/", run: write }]} onClose={() => setShown(false)} />}
      </>
    );
  }
  const none = () => new Promise(() => undefined);
  render(<Page />, inApp({ http: { agents: none, tags: none, search: none, settings: none } }));
  await userEvent.type(screen.getByRole("combobox"), "Write{Enter}");
  expect(open).toEqual([false]);
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Prompt" }));
});
