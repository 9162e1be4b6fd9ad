// A text file, and what somebody makes of it. A file is saved only over the content that it was made from, so nothing that
// others wrote is lost unknowingly. Text that is not saved yet is in the state, so it outlives this page.
const PICTURE = /\.(png|jpe?g|gif|webp|avif|bmp|ico|svg)$/i;
const SLOW_MS = 1_200;
const KEEP_AFTER_MS = 600;
/** The state holds 256 KiB in all; a character is up to three bytes and more with what JSON adds. */
const MOST_DRAFT_CHARS = 60_000;
const MOST_DRAFTS = 10;

const part = (id) => document.getElementById(id);
const text = part("text");

/** The file as it was read or saved last: { path, content, hash, lineEnd }, or null. */
let file = null;
let asked = 0;
let saving = false;
let keepTimer;

const isDirty = () => file !== null && text.value !== file.content;
const drafts = () => (typeof throughline.state.drafts === "object" && throughline.state.drafts) || {};

// Opening.

async function open(path, { fresh = false } = {}) {
  const mine = (asked += 1);
  file = null;
  for (const id of ["conflict", "editor", "foot", "again", "picture", "browse"]) {
    part(id).hidden = true;
  }
  part("save").disabled = true;
  const cut = (path ?? "").lastIndexOf("/") + 1;
  part("name").textContent = (path ?? "").slice(cut) || "Text editor";
  part("folder").textContent = (path ?? "").slice(0, cut);
  if (!path) {
    say("No file was chosen.");
    part("browse").hidden = false;
    return;
  }
  say("Loading…");
  const slow = setTimeout(() => say("Still loading. If you are asked above, allow reading files to see this one."), SLOW_MS);
  try {
    const read = await throughline.files.read(path);
    if (mine === asked) {
      show(path, read, fresh);
    }
  } catch (error) {
    if (mine === asked) {
      say(unread(error), true);
      part("again").hidden = false;
    }
  } finally {
    clearTimeout(slow);
  }
}

function show(path, { content, encoding, cut, hash }, fresh) {
  if (encoding !== "utf-8") {
    say("This is not a text file.");
    part("picture").hidden = !PICTURE.test(path);
    return;
  }
  const lineEnd = endOfLines(content);
  file = { path, content: content.replaceAll(/\r\n?/g, "\n"), hash, lineEnd };
  const draft = fresh ? undefined : drafts()[path];
  const isKept = typeof draft?.text === "string" && draft.text !== file.content && !cut;
  text.value = isKept ? draft.text : file.content;
  text.readOnly = cut || throughline.past;
  part("editor").hidden = part("foot").hidden = false;
  part("picture").hidden = !PICTURE.test(path);
  number();
  goToLine();
  update();
  if (cut) {
    say("Only the beginning of this file is shown: it is too large to be changed here.");
  } else if (isKept && draft.hash !== hash) {
    file.hash = draft.hash;
    askAboutConflict("Your changes that were not saved are still here, but somebody changed the file since.");
  } else if (isKept) {
    say("These are your changes that were not saved yet.");
  } else if (lineEnd === "mixed") {
    say("The lines of this file end in different ways; saving makes them all the same.");
  } else {
    say("");
  }
}

function endOfLines(content) {
  const [all, windows] = [content.match(/\r\n|\r|\n/g)?.length ?? 0, content.match(/\r\n/g)?.length ?? 0];
  return windows === 0 && !content.includes("\r") ? "\n" : windows === all ? "\r\n" : "mixed";
}

function unread(error) {
  switch (error.code) {
    case "not_granted":
      return "Allow reading files above to see this one.";
    case "not_found":
      return "There is no such file, or it may not be read.";
    default:
      return `This file could not be read: ${error.message}`;
  }
}

// Saving.

async function save() {
  if (saving || text.readOnly || !isDirty() || !part("conflict").hidden) {
    return;
  }
  await write(file.hash);
}

async function write(hash) {
  const [mine, content] = [file, text.value];
  saving = true;
  update();
  say("Saving…");
  const slow = setTimeout(() => say("Still saving. If you are asked above, allow writing files."), SLOW_MS);
  try {
    const written = await throughline.files.write(mine.path, mine.lineEnd === "\r\n" ? content.replaceAll("\n", "\r\n") : content, hash ?? undefined);
    [mine.content, mine.hash] = [content, written.hash];
    if (mine.lineEnd === "mixed") {
      mine.lineEnd = "\n";
    }
    if (mine === file) {
      part("conflict").hidden = true;
      say("Saved.");
      keep();
    }
  } catch (error) {
    if (mine !== file) {
      return;
    }
    if (error.code === "conflict") {
      askAboutConflict("Somebody changed this file since you opened it. Nothing was saved.");
    } else {
      say(error.code === "not_granted" ? "Allow writing files above, then save again. Your changes are kept." : `This file could not be saved: ${error.message}`, true);
    }
  } finally {
    clearTimeout(slow);
    saving = false;
    update();
  }
}

function askAboutConflict(why) {
  say("");
  part("conflict-text").textContent = why;
  part("conflict").hidden = false;
  update();
}

/** Over what is there by now, and only over that: whoever writes meanwhile is not overwritten. */
async function overwrite() {
  const mine = file;
  try {
    const now = await throughline.files.read(mine.path).catch((error) => {
      if (error.code === "not_found") {
        return {};
      }
      throw error;
    });
    if (mine === file) {
      part("conflict").hidden = true;
      await write(now.hash);
    }
  } catch (error) {
    say(unread(error), true);
  }
}

function discard() {
  text.value = file.content;
  number();
  keep();
  update();
  say("");
  text.focus();
}

// Keeping what is not saved.

function keep() {
  clearTimeout(keepTimer);
  if (file === null || throughline.past || text.readOnly) {
    return;
  }
  const { [file.path]: before, ...others } = drafts();
  if (!isDirty() && before === undefined) {
    return;
  }
  const tooLong = text.value.length > MOST_DRAFT_CHARS;
  if (isDirty() && tooLong) {
    say("This text is too long to be kept before it is saved.");
  }
  const all = isDirty() && !tooLong ? { [file.path]: { text: text.value, hash: file.hash ?? null, at: Date.now() }, ...others } : others;
  throughline.setState({ drafts: newest(all) }).catch((error) => say(`Your changes could not be kept before they are saved: ${error.message}`, true));
}

/** Old ones go first, so that there is always room for the one that is being written. */
function newest(all) {
  let room = MOST_DRAFT_CHARS;
  const byAge = Object.entries(all).sort(([, a], [, b]) => (b?.at ?? 0) - (a?.at ?? 0));
  return Object.fromEntries(byAge.slice(0, MOST_DRAFTS).filter(([, draft]) => (room -= draft?.text?.length ?? 0) >= 0));
}

// What is seen.

function update() {
  part("save").disabled = saving || text.readOnly || !isDirty() || !part("conflict").hidden;
  part("discard").hidden = !isDirty() || !part("conflict").hidden;
  place();
}

function place() {
  if (file === null) {
    return;
  }
  const before = text.value.slice(0, text.selectionEnd);
  const line = before.split("\n").length;
  const what = text.readOnly ? " · read only" : isDirty() ? " · not saved" : "";
  part("place").textContent = `Line ${line.toLocaleString("en")}, column ${(before.length - before.lastIndexOf("\n")).toLocaleString("en")}${what}`;
}

let numbered = 0;

function number() {
  const lines = text.value.split("\n").length;
  if (lines !== numbered) {
    numbered = lines;
    part("numbers").textContent = Array.from({ length: lines }, (_, at) => at + 1).join("\n");
  }
  follow();
}

function follow() {
  part("numbers").scrollTop = text.scrollTop;
}

function goToLine() {
  const line = Number(throughline.params.line);
  const lines = text.value.split("\n");
  if (Number.isInteger(line) && line >= 1) {
    const at = Math.min(line, lines.length);
    const start = lines.slice(0, at - 1).join("\n").length + (at > 1 ? 1 : 0);
    text.setSelectionRange(start, start + lines[at - 1].length);
    text.focus({ preventScroll: true });
    text.scrollTop = (at - 4) * Number.parseFloat(getComputedStyle(text).lineHeight);
    text.scrollLeft = 0;
  } else {
    text.setSelectionRange(0, 0);
    text.scrollTop = 0;
  }
  follow();
}

function say(words, isError = false) {
  part("note").textContent = words;
  part("note").className = isError ? "error" : "muted";
}

text.addEventListener("input", () => {
  number();
  if (part("conflict").hidden) {
    say("");
  }
  update();
  clearTimeout(keepTimer);
  keepTimer = setTimeout(keep, KEEP_AFTER_MS);
});
text.addEventListener("scroll", follow);
document.addEventListener("selectionchange", place);
document.addEventListener("visibilitychange", () => (document.hidden ? keep() : undefined));
throughline.onClose(keep);
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "s") {
    event.preventDefault();
    save();
  }
});
part("save").addEventListener("click", save);
part("overwrite").addEventListener("click", overwrite);
part("reload").addEventListener("click", async () => {
  const path = file.path;
  await open(path, { fresh: true });
  keep();
});
part("discard").addEventListener("click", discard);
part("again").addEventListener("click", () => open(throughline.params.path));
for (const [id, applet] of [["picture", "image-viewer"], ["browse", "file-browser"]]) {
  part(id).addEventListener("click", () => {
    const { path } = throughline.params;
    throughline.openApplet(applet, path ? { path } : {}).catch((error) => say(`It could not be opened: ${error.message}`, true));
  });
}

// Drafts are in the state, so the first file is opened when that is known.
let path = null;
const known = new Promise((resolve) => throughline.onState(resolve));
Promise.all([throughline.ready, known]).then(() => {
  throughline.onParams((params) => {
    if (params.path !== path || path === undefined) {
      keep();
      path = params.path;
      open(path);
    } else if (file !== null) {
      goToLine();
    }
  });
});
