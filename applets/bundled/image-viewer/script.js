// A picture of the session. It is shown as an image only, so what is in an SVG can not run and reaches nothing.
const TYPES = { png: "image/png", jpg: "image/jpeg", jpeg: "image/jpeg", gif: "image/gif", webp: "image/webp", avif: "image/avif", bmp: "image/bmp", ico: "image/x-icon", svg: "image/svg+xml" };
const SLOW_MS = 1_200;

const part = (id) => document.getElementById(id);
const picture = part("picture");

let bytes = 0;
let asked = 0;

async function open(path) {
  const mine = (asked += 1);
  for (const id of ["size", "again", "browse", "stage"]) {
    part(id).hidden = true;
  }
  part("name").textContent = path?.split("/").at(-1) || "Image viewer";
  part("name").title = path ?? "";
  if (!path) {
    say("No picture was chosen.");
    part("browse").hidden = false;
    return;
  }
  say("Loading…");
  const slow = setTimeout(() => say("Still loading. If you are asked above, allow reading files to see the picture."), SLOW_MS);
  try {
    const read = await throughline.files.read(path);
    if (mine === asked) {
      show(path, read);
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

function show(path, read) {
  const type = TYPES[path.split(".").at(-1).toLowerCase()];
  if (type === undefined) {
    say("Pictures of this kind can not be shown.");
  } else if (read.cut) {
    say("This picture is too large to be shown here.");
  } else {
    bytes = read.bytes;
    const name = path.split("/").at(-1);
    picture.alt = name;
    picture.src = `data:${type}${read.encoding === "base64" ? `;base64,${read.content}` : `,${encodeURIComponent(read.content)}`}`;
  }
}

picture.addEventListener("load", () => {
  const { naturalWidth: width, naturalHeight: height } = picture;
  say(`${width.toLocaleString("en")} × ${height.toLocaleString("en")} pixels, ${sized(bytes)}`);
  part("stage").hidden = part("size").hidden = false;
});
picture.addEventListener("error", () => {
  say("This file could not be shown: it is not the picture that its name promises.", true);
});

function explained(error) {
  switch (error.code) {
    case "not_granted":
      return "Allow reading files above to see the picture.";
    case "not_found":
      return "There is no such file, or it may not be read.";
    case "too_large":
      return "This picture is too large to be shown here.";
    default:
      return `The picture could not be read: ${error.message}`;
  }
}

function sized(count) {
  const [amount, unit] = count < 1024 ? [count, "bytes"] : count < 1024 ** 2 ? [count / 1024, "KB"] : [count / 1024 ** 2, "MB"];
  return `${amount.toLocaleString("en", { maximumFractionDigits: amount < 10 && unit !== "bytes" ? 1 : 0 })} ${unit}`;
}

function say(text, isError = false) {
  part("note").textContent = text;
  part("note").className = isError ? "error" : "muted";
}

part("again").addEventListener("click", () => open(throughline.params.path));
part("browse").addEventListener("click", () => throughline.openApplet("file-browser").catch((error) => say(`It could not be opened: ${error.message}`, true)));
part("size").addEventListener("click", () => throughline.setState({ actual: throughline.state.actual !== true }).catch((error) => say(`The setting could not be kept: ${error.message}`, true)));
throughline.onState(({ actual }) => {
  part("size").setAttribute("aria-pressed", String(actual === true));
  part("stage").classList.toggle("actual", actual === true);
});
throughline.ready.then(() => {
  part("size").disabled = throughline.past;
  throughline.onParams(({ path }) => open(path));
});
