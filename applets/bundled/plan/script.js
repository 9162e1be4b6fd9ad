// The session's plan, asked for every few seconds while somebody looks. Text of others goes into the page as text only.
const EVERY_MS = 5_000;
const STATUS = { completed: "done", in_progress: "under way", running: "under way", pending: "still to do" };

const part = (id) => document.getElementById(id);
const copyOf = (id) => part(id).content.firstElementChild.cloneNode(true);
const isDone = (step) => step.status === "completed";
const hidesDone = () => throughline.state.hideDone === true;

let plan = null;
let drawn = "";
let timer;

async function load() {
  clearTimeout(timer);
  part("again").hidden = true;
  try {
    plan = await throughline.plan();
    draw();
  } catch (error) {
    // What is shown stays: it is only older.
    part("summary").textContent = `The plan could not be read: ${error.message}`;
    part("again").hidden = false;
    drawn = "";
  }
  if (!throughline.past) {
    timer = setTimeout(() => (document.hidden ? undefined : load()), EVERY_MS);
  }
}

function draw() {
  const now = JSON.stringify([plan, hidesDone()]);
  if (plan === null || now === drawn) {
    return;
  }
  drawn = now;
  const { title, running, plan: steps, offers } = plan;
  part("title").textContent = title || "Plan";
  part("summary").textContent = summary(steps, offers, running);

  const done = steps.filter(isDone).length;
  part("progress").hidden = steps.length === 0;
  [part("progress").max, part("progress").value] = [Math.max(steps.length, 1), done];

  part("steps").hidden = steps.length === 0;
  part("hide-done").checked = hidesDone();
  part("hide-done").disabled = throughline.past;
  part("steps").querySelector("ol").replaceChildren(...steps.filter((step) => !hidesDone() || !isDone(step)).map(drawStep));

  part("offers").hidden = offers.length === 0;
  part("offers").querySelector("ul").replaceChildren(...offers.map(drawOffer));
}

function summary(steps, offers, running) {
  const working = running ? "The agent is working." : "Nobody is working.";
  if (steps.length === 0) {
    return offers.length === 0 ? `${working} There is no plan yet: it appears here as soon as an agent makes one.` : `${working} There is no plan.`;
  }
  const done = steps.filter(isDone).length;
  return `${done === steps.length ? "All" : done} of ${steps.length} ${steps.length === 1 ? "step" : "steps"} done. ${working}`;
}

function drawStep({ content, status, priority }) {
  const row = copyOf("step");
  row.dataset.status = STATUS[status] ?? STATUS.pending;
  row.querySelector(".text").textContent = content;
  row.querySelector(".unseen").textContent = `(${row.dataset.status}${priority === "high" ? ", important" : ""})`;
  row.classList.toggle("important", priority === "high" && !isDone({ status }));
  return row;
}

function drawOffer({ title }) {
  const row = copyOf("offer");
  const button = row.querySelector("button");
  row.querySelector(".text").textContent = title;
  button.setAttribute("aria-label", `Take it up: ${title}`);
  button.disabled = throughline.past;
  button.addEventListener("click", () => takeUp(title, button));
  return row;
}

/** The page asks the person before anything is sent. */
async function takeUp(title, button) {
  button.disabled = true;
  try {
    await throughline.message(`Please take this up now: ${title}`);
    say("Sent to the agent.");
  } catch (error) {
    say(error.code === "not_granted" ? "Nothing was sent." : `It could not be sent: ${error.message}`);
    button.disabled = false;
  }
}

function say(text) {
  part("said").textContent = text;
  part("said").hidden = false;
}

part("again").addEventListener("click", load);
part("hide-done").addEventListener("change", (event) => {
  throughline.setState({ hideDone: event.target.checked }).catch((error) => say(`The setting could not be kept: ${error.message}`));
});
document.addEventListener("visibilitychange", () => (document.hidden || plan === null ? undefined : load()));
throughline.onState(draw);
load();
