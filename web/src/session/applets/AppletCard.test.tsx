// Cards of applets in the transcript: what they say, and where they lead.
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import type { NewestApplet } from "../../state/followed";
import type { ShownApplet } from "../../state/outputItem";
import type { Output } from "../../wire/names";
import { AppletCard, AppletSaved } from "./AppletCard";
import type { AppletsBeside } from "./AppletsContext";
import { AppletsContext } from "./AppletsContext";

afterEach(cleanup);

const OUTPUT = `out_${"a1".repeat(16)}`;
const output: Output = { id: OUTPUT, type: "applet", mimeType: "application/json", bytes: 9, sha256: "00", title: "Its title" };
const newest = (more: Partial<NewestApplet>): NewestApplet => ({ slug: null, title: "x", params: {}, seq: 4, output: OUTPUT, live: true, ...more });

function show(applet: ShownApplet | undefined, beside: Partial<AppletsBeside> = {}, of: Output = output) {
  render(
    <AppletsContext value={{ session: null, newest: null, fresh: null, past: null, ...beside }}>
      <AppletCard session="s" turn={12} output={of} applet={applet} />
    </AppletsContext>,
  );
  return { words: screen.getByRole("figure").textContent, links: screen.getAllByRole("link").map((link) => link.getAttribute("href")) };
}

test("a saved one leads to today's with what it was shown with, and to what it was", () => {
  const { words, links } = show({ slug: "counter", title: "<b>Counter</b>", params: { a: "1" } });
  expect(words).toBe("<b>Counter</b>counterOpenAs it was");
  expect(links).toEqual(["/s/s?applet=counter&a=1", `/s/s?applet=counter&a=1&_past=t12.${OUTPUT}`]);
});

test("one that nobody saved leads to the session's own while it is the newest", () => {
  expect(show({ slug: null, title: "Board", params: {} }, { newest: newest({}) })).toEqual({
    words: "Boardnot savedOpenAs it was",
    links: ["/s/s?applet=_shown", `/s/s?applet=_shown&_past=t12.${OUTPUT}`],
  });
  cleanup();
  expect(show({ slug: null, title: "Board", params: {} }, { newest: newest({ output: "out_2" }) }).links).toEqual([`/s/s?applet=_shown&_past=t12.${OUTPUT}`]);
  cleanup();
  // One that was saved did not take its place.
  expect(show({ slug: null, title: "Board", params: {} }, { newest: newest({ slug: "counter", output: "out_2" }) }).links).toHaveLength(2);
});

test("without the entry beside it the output says what it is", () => {
  expect(show(undefined, {}, { ...output, slug: "counter" }).words).toBe("Its titlecounterOpenAs it was");
});

test("a new one says so, and so does one that is open as it was", () => {
  expect(show({ slug: "counter", title: "Counter", params: {} }, { fresh: OUTPUT }).words).toContain("new, open it");
  cleanup();
  expect(show({ slug: "counter", title: "Counter", params: {} }, { past: OUTPUT }).words).toContain("open as it was");
});

test("that it was saved is one line, which leads to it", () => {
  render(<AppletSaved session="s" slug="counter" name="Counter" />);
  expect(screen.getByText(/Saved as the applet/).textContent).toBe("Saved as the applet Counter");
  expect(screen.getByRole("link").getAttribute("href")).toBe("/s/s?applet=counter");
});
