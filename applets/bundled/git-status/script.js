// What differs from the last commit. Each file opens its differences.
const STATUS = { created: ["A", "new"], changed: ["M", "changed"], deleted: ["D", "deleted"], moved: ["R", "moved"] };
const SLOW_MS = 1_200;

const part = (id) => document.getElementById(id);
const number = (count) => count.toLocaleString("en");
const counted = (count, one) => `${number(count)} ${one}${count === 1 ? "" : "s"}`;

async function load() {
  part("again").disabled = true;
  part("files").setAttribute("aria-busy", "true");
  const slow = setTimeout(() => say("Still loading. If you are asked above, allow reading files to see what changed."), SLOW_MS);
  try {
    draw(await throughline.git.status());
  } catch (error) {
    part("files").replaceChildren();
    part("rest").hidden = true;
    say(error.code === "not_granted" ? "Allow reading files above to see what changed." : `What changed could not be read: ${error.message}`, true);
    part("again").textContent = "Try again";
  }
  clearTimeout(slow);
  part("files").removeAttribute("aria-busy");
  part("again").disabled = false;
  part("again").hidden = false;
}

function draw({ git, gitTrouble, files, lines, more, leftOut = [] }) {
  part("again").textContent = "Refresh";
  part("files").replaceChildren(...(git ? files.map(drawFile) : []));
  say(
    gitTrouble ? `Git can not be compared with: ${gitTrouble}`
    : !git ? "This session does not work in a git repository."
    : files.length === 0 ? "Nothing changed since the last commit."
    : `${counted(files.length + more, "file")}, ${counted(lines.added, "line")} added, ${number(lines.removed)} removed.`,
    Boolean(gitTrouble),
  );
  const rest = [...(more > 0 ? [`${counted(more, "more file")} ${more === 1 ? "is" : "are"} not listed.`] : []), ...leftOut];
  part("rest").textContent = rest.join(" ");
  part("rest").hidden = !git || rest.length === 0;
}

function drawFile({ name, path, status, from, lines }) {
  const row = part("file").content.firstElementChild.cloneNode(true);
  const text = (of, value) => (row.querySelector(of).textContent = value);
  const [sign, word] = STATUS[status] ?? ["?", status];
  const cut = name.lastIndexOf("/") + 1;
  row.dataset.status = status;
  text(".sign", sign);
  text(".unseen", `${word}: `);
  text(".folder", name.slice(0, cut));
  text(".base", name.slice(cut));
  row.querySelector("button").title = from ? `${path}, moved from ${from}` : path;
  if (lines) {
    text(".added", lines.added > 0 ? `+${number(lines.added)}` : "");
    text(".removed", lines.removed > 0 ? `−${number(lines.removed)}` : "");
  }
  row.querySelector("button").addEventListener("click", () => {
    throughline.openApplet("git-diff", { path }).catch((error) => say(`It could not be opened: ${error.message}`, true));
  });
  return row;
}

function say(text, isError = false) {
  part("note").textContent = text;
  part("note").className = isError ? "error" : "muted";
}

part("again").addEventListener("click", load);
document.addEventListener("visibilitychange", () => (document.hidden || part("again").disabled ? undefined : load()));
load();
