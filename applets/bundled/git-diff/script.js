// How one file differs from the last commit. Lines are text; colour alone says nothing that their sign does not say too.
const STATUS = { created: "New file", changed: "Changed", deleted: "Deleted", moved: "Moved" };
const SIGN = { same: " ", added: "+", removed: "−" };
const WHY = {
  binary: "This is not a text file.",
  too_large: "This file is too large to compare.",
  protected: "This file is protected: nothing of it is shown.",
  link: "This is a symbolic link.",
  submodule: "This is another git repository.",
  elsewhere: "This file lies outside of the session's folders and is not read.",
  not_known: "Nothing is known but that it changed.",
};
const SLOW_MS = 1_200;

const part = (id) => document.getElementById(id);
const number = (count) => count.toLocaleString("en");

let path = "";
let next = null;
let firstLine = null;
/** The numbers that the line after the last one shown would have: a page may go on within a hunk. */
let end = null;
let asked = 0;

async function open(wanted) {
  const mine = (asked += 1);
  path = wanted ?? "";
  [next, firstLine, end] = [null, null, null];
  for (const id of ["again", "edit", "wrap", "more", "lines"]) {
    part(id).hidden = true;
  }
  part("name").textContent = path.split("/").at(-1) || "Differences";
  part("name").title = path;
  if (path === "") {
    say("No file was chosen. Choose one from all changes.");
    return;
  }
  say("Loading…");
  const slow = setTimeout(() => say("Still loading. If you are asked above, allow reading files to see the differences."), SLOW_MS);
  try {
    const diff = await throughline.git.diff(path);
    if (mine === asked) {
      part("lines").replaceChildren();
      part("lines").scrollTop = 0;
      draw(diff);
    }
  } catch (error) {
    if (mine === asked) {
      say(explained(error), true);
      part("again").hidden = false;
    }
  } finally {
    clearTimeout(slow);
  }
}

async function more() {
  const mine = asked;
  part("more").disabled = true;
  try {
    const diff = await throughline.git.diff(path, next);
    if (mine === asked) {
      drawLines(diff);
    }
  } catch (error) {
    say(explained(error), true);
  }
  part("more").disabled = false;
}

function draw(diff) {
  const { file, hunks } = diff;
  const what = [STATUS[file.status] ?? file.status, ...(file.from ? [`from ${file.from}`] : [])].join(" ");
  const counts = file.lines ? `${number(file.lines.added)} ${file.lines.added === 1 ? "line" : "lines"} added, ${number(file.lines.removed)} removed.` : "";
  say(`${what}. ${WHY[file.compared] ?? (hunks.length === 0 ? "No line of it differs." : counts)}`);
  part("edit").hidden = file.status === "deleted" || ["binary", "protected", "submodule"].includes(file.compared);
  part("wrap").hidden = part("lines").hidden = hunks.length === 0;
  drawLines(diff);
}

function drawLines({ hunks, nextAfter }) {
  const rows = document.createDocumentFragment();
  for (const { oldStart, newStart, lines } of hunks) {
    firstLine ??= newStart + Math.max(lines.findIndex(({ kind }) => kind !== "same"), 0);
    if (end !== null && end.join() !== [oldStart, newStart].join()) {
      rows.append(drawCell("gap", "⋯", "lines are left out here"));
    }
    let [before, after] = [oldStart, newStart];
    for (const { kind, text } of lines) {
      rows.append(drawLine(kind, text, kind === "added" ? "" : before, kind === "removed" ? "" : after));
      before += kind === "added" ? 0 : 1;
      after += kind === "removed" ? 0 : 1;
    }
    end = [before, after];
  }
  part("lines").append(rows);
  next = nextAfter ?? null;
  part("more").hidden = next === null;
}

function drawLine(kind, text, before, after) {
  const row = document.createElement("div");
  row.className = `line ${kind}`;
  row.append(drawCell("number", before), drawCell("number", after), drawCell("sign", SIGN[kind], kind === "same" ? "" : kind), drawCell("text", text));
  return row;
}

function drawCell(className, text, readAs = "") {
  const cell = document.createElement("span");
  cell.className = className;
  cell.textContent = text;
  if (readAs !== "") {
    cell.setAttribute("role", "img");
    cell.setAttribute("aria-label", readAs);
  }
  return cell;
}

function say(text, isError = false) {
  part("note").textContent = text;
  part("note").className = isError ? "error" : "muted";
}

function explained(error) {
  switch (error.code) {
    case "not_granted":
      return "Allow reading files above to see the differences.";
    case "not_found":
      return "This file does not differ from the last commit, or it is not there.";
    default:
      return `The differences could not be read: ${error.message}`;
  }
}

function go(applet, params) {
  throughline.openApplet(applet, params).catch((error) => say(`It could not be opened: ${error.message}`, true));
}

part("more").addEventListener("click", more);
part("again").addEventListener("click", () => open(path));
part("all").addEventListener("click", () => go("git-status", {}));
part("edit").addEventListener("click", () => go("text-editor", { path, ...(firstLine && { line: String(firstLine) }) }));
part("wrap").addEventListener("click", () => throughline.setState({ wrap: throughline.state.wrap !== true }).catch((error) => say(`The setting could not be kept: ${error.message}`, true)));

throughline.onState(({ wrap }) => {
  part("wrap").setAttribute("aria-pressed", String(wrap === true));
  part("lines").classList.toggle("wrapped", wrap === true);
});
throughline.ready.then(() => {
  part("wrap").disabled = throughline.past;
  throughline.onParams((params) => open(params.path));
});
