// Every applet that there is, the person's own first.
const part = (id) => document.getElementById(id);

let applets = null;

async function load() {
  part("again").hidden = true;
  try {
    applets = await throughline.applets();
    draw();
  } catch (error) {
    say(`The applets could not be read: ${error.message}`, true);
    part("again").hidden = false;
  }
}

function draw() {
  if (applets === null) {
    return;
  }
  const words = part("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ slug, name, description }) => words.every((word) => `${slug} ${name} ${description ?? ""}`.toLowerCase().includes(word));
  // This one is open already.
  const found = applets.filter((applet) => applet.slug !== throughline.slug && fits(applet));
  for (const [id, rows] of [["own", found.filter(({ bundled }) => !bundled)], ["bundled", found.filter(({ bundled }) => bundled)]]) {
    part(id).hidden = rows.length === 0;
    part(id).querySelector("ul").replaceChildren(...rows.map(drawRow));
  }
  const hasOwn = applets.some(({ bundled }) => !bundled);
  say(
    found.length === 0 && words.length > 0 ? "No applet fits these words."
    : words.length > 0 ? `${found.length.toLocaleString("en")} found.`
    : hasOwn ? ""
    : "You have none of your own yet: ask an agent for one, and save it.",
  );
}

function drawRow({ slug, name, description }) {
  const row = part("applet-row").content.firstElementChild.cloneNode(true);
  const text = (of, value) => (row.querySelector(of).textContent = value);
  text(".name", name || slug);
  text(".slug", slug);
  text(".about", description ?? "");
  row.querySelector("button").addEventListener("click", () => {
    throughline.openApplet(slug).catch((error) => say(`It could not be opened: ${error.message}`, true));
  });
  return row;
}

function say(text, isError = false) {
  part("note").textContent = text;
  part("note").className = isError ? "error" : "muted";
}

part("words").addEventListener("input", draw);
part("again").addEventListener("click", load);
document.addEventListener("visibilitychange", () => (document.hidden ? undefined : load()));
throughline.ready.then(load);
