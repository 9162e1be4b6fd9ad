// Walks through folders. Where it stands is in the address, so that "back" goes back and a link leads here.
const PICTURE = /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i;
const SLOW_MS = 1_200;
const SIZES = ["bytes", "KB", "MB", "GB", "TB"];

const part = (id) => document.getElementById(id);

/** The session's own folder, as soon as it is known: what the trail begins with. */
let root = null;
/** The folder that is shown and, with more to come, where the next page of it begins. */
let shown = null;
let asked = 0;

async function open(path) {
  const mine = (asked += 1);
  part("again").hidden = true;
  part("more").hidden = true;
  part("files").setAttribute("aria-busy", "true");
  const slow = setTimeout(() => say("Still loading. If you are asked above, allow reading files to see them."), SLOW_MS);
  try {
    root ??= (await throughline.files.list()).path;
    const page = await throughline.files.list(path || root);
    if (mine === asked) {
      shown = { path: page.path, next: page.nextCursor ?? null };
      part("files").replaceChildren(...drawn(page.files));
      finish();
    }
  } catch (error) {
    if (mine === asked) {
      shown = { path: path || root || "", next: null };
      part("files").replaceChildren();
      finish(error);
    }
  } finally {
    clearTimeout(slow);
  }
}

async function more() {
  const mine = asked;
  part("more").disabled = true;
  try {
    const page = await throughline.files.list(shown.path, shown.next);
    if (mine === asked) {
      const rows = drawn(page.files);
      shown.next = page.nextCursor ?? null;
      part("files").append(...rows);
      finish();
      rows[0]?.querySelector("button").focus();
    }
  } catch (error) {
    say(explained(error), true);
  }
  part("more").disabled = false;
}

function finish(error) {
  drawTrail();
  part("files").removeAttribute("aria-busy");
  part("more").hidden = !shown.next;
  part("again").hidden = error === undefined;
  say(error ? explained(error) : part("files").childElementCount === 0 ? "This folder is empty." : "", error !== undefined);
}

function say(text, isError = false) {
  part("note").textContent = text;
  part("note").className = isError ? "error" : "muted";
}

function explained(error) {
  switch (error.code) {
    case "not_granted":
      return "Allow reading files above to see them.";
    case "not_found":
      return "This folder is not there any more, or it may not be read.";
    default:
      return `This folder could not be read: ${error.message}`;
  }
}

/** Folders first, by name as people sort them. */
function drawn(files) {
  const rank = ({ type }) => (type === "directory" ? 0 : 1);
  return [...files].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name, "en", { numeric: true })).map(drawFile);
}

function drawFile({ name, size, type }) {
  const row = part("file").content.firstElementChild.cloneNode(true);
  const button = row.querySelector("button");
  row.dataset.type = type;
  row.querySelector(".name").textContent = type === "directory" ? `${name}/` : name;
  row.querySelector(".size").textContent = type === "file" ? sized(size) : type === "link" ? "link" : "";
  // What is no file, as a socket, and what has no name in text can not be opened.
  button.disabled = type === "other" || name.includes("\ufffd");
  button.addEventListener("click", () => follow(`${shown.path.replace(/\/$/, "")}/${name}`, type));
  return row;
}

async function follow(path, type) {
  const isFolder = type === "directory" || (type === "link" && (await leadsToFolder(path)));
  if (isFolder) {
    throughline.setParams({ path }, { push: true });
  } else {
    throughline.openApplet(PICTURE.test(path) ? "image-viewer" : "text-editor", { path }).catch((error) => say(`It could not be opened: ${error.message}`, true));
  }
}

function leadsToFolder(path) {
  return throughline.files.list(path).then(() => true, () => false);
}

function sized(bytes) {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log(bytes) / Math.log(1024)), SIZES.length - 1);
  const amount = bytes / 1024 ** power;
  return `${amount.toLocaleString("en", { maximumFractionDigits: power > 0 && amount < 10 ? 1 : 0 })} ${SIZES[power]}`;
}

/** From the session's folder on, or, elsewhere, from the root of the disk. */
function drawTrail() {
  const path = shown.path;
  const isWithin = root !== null && (path === root || path.startsWith(`${root.replace(/\/$/, "")}/`));
  const start = isWithin ? root : path.startsWith("/") ? "/" : "";
  const steps = path.slice(start.length).split("/").filter(Boolean);
  const names = [[start.split("/").filter(Boolean).at(-1) ?? (start || "Files"), start]];
  for (const step of steps) {
    names.push([step, `${names.at(-1)[1].replace(/\/$/, "")}/${step}`.replace(start === "" ? /^\// : /^$/, "")]);
  }
  part("trail").replaceChildren(...names.map(([name, to], at) => drawStep(name, to, at === names.length - 1)));
}

function drawStep(name, to, isLast) {
  const step = document.createElement("li");
  const inner = document.createElement(isLast ? "span" : "button");
  inner.textContent = name;
  if (isLast) {
    inner.setAttribute("aria-current", "location");
  } else {
    inner.type = "button";
    inner.className = "quiet";
    inner.addEventListener("click", () => throughline.setParams({ path: to }, { push: true }));
  }
  step.append(inner);
  return step;
}

part("more").addEventListener("click", more);
part("again").addEventListener("click", () => open(throughline.params.path));
throughline.ready.then(() => throughline.onParams(({ path }) => open(path)));
