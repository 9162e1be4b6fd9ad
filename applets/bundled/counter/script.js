const [shown, less, more, reset, note] = ["count", "less", "more", "reset", "note"].map((id) => document.getElementById(id));

// What is in the state may come from an agent or from a file that somebody edited.
const count = () => (Number.isSafeInteger(throughline.state.count) ? throughline.state.count : 0);

function show() {
  shown.textContent = count().toLocaleString("en").replace("-", "−");
  reset.disabled = throughline.past || count() === 0;
}

function change(to) {
  if (Number.isSafeInteger(to)) {
    throughline.setState({ count: to }).catch((error) => {
      note.textContent = `The number could not be kept: ${error.message}`;
      note.className = "error";
    });
  }
}

less.addEventListener("click", () => change(count() - 1));
more.addEventListener("click", () => change(count() + 1));
reset.addEventListener("click", () => {
  change(0);
  more.focus();
});

throughline.onState(show);
throughline.ready.then(() => {
  if (throughline.past) {
    [less.disabled, more.disabled] = [true, true];
    note.textContent = "Nothing can be changed here. Open the applet of today to count on.";
  }
  show();
});
