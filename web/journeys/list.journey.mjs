// The list as a place to keep order in: filter, pin, archive, tags, several at once, folded works, deleted ones; at both sizes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { checkAccessibility } from "./axe.mjs";
import { api, comesToBe, DESKTOP, newPage, open, PHONE, signIn } from "./support.mjs";

async function fill(server, dataDir) {
  const made = {};
  for (const name of ["Mend the loom", "Flaky upload", "Old notes", "Weave a border"]) {
    const metaContext = name === "Mend the loom" || name === "Weave a border" ? { metaContext: "Loom" } : {};
    made[name] = (await api(server, dataDir, "/sessions", { agent: "guide", cwd: "/usr", name, ...metaContext })).id;
  }
  return made;
}

for (const viewport of [DESKTOP, PHONE]) {
  const rows = (page) => page.getByRole("navigation", { name: "Sessions" }).locator("a[data-row]");
  const row = (page, name) => rows(page).filter({ hasText: name });
  const choose = async (page, label, option) => {
    await page.getByRole("button", { name: "What the list shows" }).click();
    await page.getByRole("combobox", { name: label }).selectOption(option);
    await page.keyboard.press("Escape");
  };

  test(`the list is filtered, grouped and kept in order at ${viewport.width} px`, async (t) => {
    const { server, browser, dataDir } = await open(t);
    await fill(server, dataDir);
    const { page, complaints } = await newPage(browser, { viewport });
    await signIn(page, server.link());

    // Sessions of one work are one row, the newest on top, and unfold.
    await row(page, "Weave a border").waitFor();
    assert.equal(await row(page, "Mend the loom").count(), 0);
    await page.getByRole("button", { name: /1 more of the same work/ }).click();
    await row(page, "Mend the loom").waitFor();
    await page.getByRole("heading", { name: /Today/ }).waitFor();

    // Words narrow it, by title, project, agent, work and tag.
    await page.getByRole("searchbox", { name: "Filter the list" }).fill("upload");
    await comesToBe(() => rows(page).count(), 1);
    await checkAccessibility(page, "filtered list");
    await page.getByRole("searchbox", { name: "Filter the list" }).press("Escape");
    await row(page, "Old notes").waitFor();

    // Several at once: chosen, tagged, archived, and taken back.
    await page.getByRole("button", { name: "What the list shows" }).click();
    await page.getByRole("button", { name: "Select several" }).click();
    await row(page, "Old notes").click();
    await row(page, "Flaky upload").click();
    await page.getByText("2 sessions selected").waitFor();
    await checkAccessibility(page, "selecting");
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await page.getByRole("textbox", { name: "Add tags" }).fill("Chores");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("Tagged 2 sessions.").waitFor();
    await row(page, /Old notes.*#chores/s).waitFor();
    await choose(page, "Tag", "chores");
    await comesToBe(() => rows(page).count(), 2);
    await page.getByRole("button", { name: "Remove filter #chores" }).click();

    await page.getByRole("button", { name: "What the list shows" }).click();
    await page.getByRole("button", { name: "Select several" }).click();
    await row(page, "Old notes").click();
    await page.getByRole("button", { name: "Archive", exact: true }).click();
    await row(page, "Old notes").waitFor({ state: "detached" });
    await choose(page, "Show", "archived");
    await row(page, "Old notes").waitFor();
    await comesToBe(() => rows(page).count(), 1);
    await checkAccessibility(page, "archived");
    await page.getByRole("button", { name: "Undo" }).click();
    await row(page, "Old notes").waitFor({ state: "detached" });
    await choose(page, "Show", "listed");
    await row(page, "Old notes").waitFor();

    // Deleted, and restored from the list of deleted ones.
    await page.getByRole("button", { name: "What the list shows" }).click();
    await page.getByRole("button", { name: "Select several" }).click();
    await row(page, "Flaky upload").click();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("Deleted 1 session.").waitFor();
    await page.getByRole("button", { name: "Dismiss" }).click();
    await choose(page, "Show", "deleted");
    await page.getByRole("button", { name: "Restore Flaky upload" }).waitFor();
    await checkAccessibility(page, "deleted");
    await page.getByRole("button", { name: "Restore Flaky upload" }).click();
    await choose(page, "Show", "listed");
    await row(page, "Flaky upload").waitFor();

    await choose(page, "Group by", "work");
    await page.getByRole("heading", { name: /Loom 2/ }).waitFor();
    assert.deepEqual(complaints, []);
  });
}

test("keys choose, pin and archive; what needs you comes back and stands first", async (t) => {
  const { server, browser, dataDir } = await open(t);
  const made = await fill(server, dataDir);
  const { page, complaints } = await newPage(browser, { viewport: DESKTOP });
  await signIn(page, server.link());
  const first = page.locator("a[data-row]").first();
  const line = (name) => page.locator("a[data-row]").filter({ hasText: name });
  await line("Old notes").waitFor();
  await line("Old notes").focus();
  await page.keyboard.press("p");
  await page.getByRole("heading", { name: /Pinned 1/ }).waitFor();
  await comesToBe(async () => (await first.innerText()).includes("Old notes"), true);

  // By name it is done with the row that had the focus when the palette was opened.
  await line("Weave a border").focus();
  await page.keyboard.press("Control+K");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  await page.keyboard.type("pin or unpin");
  await page.getByRole("option", { name: /Pin or unpin/ }).click();
  await page.getByRole("heading", { name: /Pinned 2/ }).waitFor();
  await page.getByText("Pinned 1 session.").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("heading", { name: /Pinned 1/ }).waitFor();

  await line("Flaky upload").focus();
  await page.keyboard.press("e");
  await line("Flaky upload").waitFor({ state: "detached" });
  const filter = page.getByRole("searchbox", { name: "Filter the list" });
  await filter.fill("is:arch");
  await filter.press("Tab");
  await line("Flaky upload").waitFor();
  await comesToBe(() => page.locator("a[data-row]").count(), 1);
  await checkAccessibility(page, "filter for archived sessions");
  await filter.fill("");
  // Its agent asks: it is in the list again, before all others.
  await api(server, dataDir, `/sessions/${made["Flaky upload"]}/prompts`, { text: "run true" });
  await page.getByRole("heading", { name: /Needs you 1/ }).waitFor();
  await comesToBe(async () => (await first.innerText()).includes("Flaky upload"), true);
  await page.getByText("1 needs you").waitFor();

  // A range, with Shift.
  await line("Old notes").click({ modifiers: ["Control"] });
  await line("Weave a border").click({ modifiers: ["Shift"] });
  await page.getByText("2 sessions selected").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("toolbar", { name: "Selected sessions" }).waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});
