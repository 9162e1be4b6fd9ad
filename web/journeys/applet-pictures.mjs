// Pictures of applets for screenshots.mjs: a session that showed some, and each of its applets in every state worth looking at.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { answerAsk, ask, frameOf, panelOf, saveApplet } from "./applets.mjs";
import { state } from "./support.mjs";
import { promptField, sendTo } from "./stage.mjs";

const run = promisify(execFile);

const BOARD = {
  title: "Threads to buy",
  html: `<h1>Threads to buy</h1><ul role="list" id="list"></ul><button class="primary" onclick="order()">Send the order</button>`,
  js: `for (const [colour, spools] of [["Madder red", 4], ["Weld yellow", 2], ["Indigo", 7]]) {
    const row = document.createElement("li");
    row.textContent = \`\${spools} spools of \${colour}\`;
    document.getElementById("list").append(row);
  }
  expose({ order: () => throughline.message("Please order 4 spools of madder red, 2 of weld yellow and 7 of indigo.") });`,
};

/** A folder with a repository in it, and the session of the guide beside it; whoever calls removes the folder. */
export async function makeAppletSession(page, { stage, origin }) {
  const { server, dataDir } = stage;
  const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
  await mkdir(path.join(cwd, "pattern"));
  await writeFile(path.join(cwd, "README.md"), "# Loom\n\nWeaves what it is given.\n");
  await writeFile(path.join(cwd, "shuttle.rs"), `// To and fro.\n${Array.from({ length: 30 }, (_, row) => `const ROW_${row + 1}: &str = "x.x.";`).join("\n")}\n`);
  const git = (...args) => run("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...args], { cwd });
  await git("init", "-q");
  await git("add", "-A");
  await git("commit", "-qm", "first");
  await writeFile(path.join(cwd, "shuttle.rs"), `// To and fro, without a knot.\n${Array.from({ length: 30 }, (_, row) => `const ROW_${row + 1}: &str = "${row === 12 ? "xx.." : "x.x."}";`).join("\n")}\n`);
  const session = await stage.begin("guide", cwd, "Small pages beside the conversation");
  await page.goto(`${origin}/s/${session}`);
  await promptField(page).waitFor();
  for (const words of ["plan Set up the warp; Wind the bobbins; Weave the first hand's width; Cut it from the loom", `tool set_applet ${JSON.stringify(BOARD)}`, "applet counter"]) {
    await sendTo(page, words);
    await state(page, "Idle").waitFor();
  }
  await saveApplet(server, dataDir, "threads", { name: BOARD.title, description: "What is still missing, by colour.", html: BOARD.html, js: BOARD.js });
  await saveApplet(server, dataDir, "knotted", { name: "Knotted", html: "<p>Nothing to see.</p>", js: 'null.weave();' });
  for (const count of [3, 8, 12]) {
    await ask(server, dataDir, "POST", "/storage/applet/counter/state", { state: { count } });
    await new Promise((soon) => setTimeout(soon, 1_200));
  }
  return { session, cwd };
}

export async function shootApplets(page, shoot, { session, cwd }, origin) {
  const go = async (search, hash = "") => {
    await page.goto(`${origin}/s/${session}${search}${hash}`);
    await (search === "" ? promptField(page) : frameOf(page).locator("#applet")).waitFor();
  };
  const allowed = async (words) => {
    const bar = page.getByRole("alertdialog", { name: "The applet asks" });
    const asks = await Promise.race([bar.waitFor().then(() => true), frameOf(page).getByText(words).first().waitFor().then(() => false)]);
    if (asks) {
      await answerAsk(page, "", "Allow");
    }
    await frameOf(page).getByText(words).first().waitFor();
  };
  const menu = async (row) => {
    await panelOf(page).getByRole("button", { name: "More of this applet" }).click();
    if (row !== undefined) {
      await page.getByRole("button", { name: row, exact: true }).click();
    }
  };
  await go("", "#t3");
  await page.getByRole("figure", { name: "Applet: Counter" }).waitFor();
  await shoot("applet-card");
  await go("?applet=counter");
  await frameOf(page).getByText("12").waitFor();
  await shoot("applet-counter");
  await menu();
  await shoot("applet-menu");
  await page.keyboard.press("Escape");
  await menu("Versions and undo…");
  await page.getByText("now", { exact: true }).waitFor();
  await shoot("applet-versions");
  await page.keyboard.press("Escape");
  await menu("What it may do…");
  await page.getByRole("checkbox").first().waitFor();
  await shoot("applet-grants");
  await page.keyboard.press("Escape");
  await go("?applet=plan");
  await frameOf(page).getByText("Cut it from the loom").waitFor();
  await shoot("applet-plan");
  await go("?applet=file-browser");
  await allowed("shuttle.rs");
  await shoot("applet-file-browser");
  await go(`?applet=text-editor&path=${encodeURIComponent(path.join(cwd, "shuttle.rs"))}&line=3`);
  await allowed("Line 3,");
  await shoot("applet-text-editor");
  await go("?applet=git-status");
  await allowed("shuttle.rs");
  await shoot("applet-git-status");
  await go(`?applet=git-diff&path=${encodeURIComponent(path.join(cwd, "shuttle.rs"))}`);
  await allowed("without a knot");
  await shoot("applet-git-diff");
  await go("?applet=applet-browser");
  await frameOf(page).getByText("What is still missing").waitFor();
  await shoot("applet-browser");
  await go("?applet=threads");
  await frameOf(page).getByRole("button", { name: "Send the order" }).click();
  await page.getByRole("alertdialog", { name: "The applet asks" }).getByRole("button", { name: "Not now", disabled: false }).waitFor();
  await shoot("applet-asks");
  await go("?applet=knotted");
  await panelOf(page).getByRole("button", { name: "1 error" }).click();
  await shoot("applet-errors");
  await go("", "#t3");
  await page.getByRole("link", { name: "Open Counter as it was in turn 3" }).click();
  await panelOf(page).getByText("as it was shown in turn").waitFor();
  await frameOf(page).getByRole("button", { name: "One more", disabled: true }).waitFor();
  await shoot("applet-past");
}
