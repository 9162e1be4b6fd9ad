// How wide the browser's scrollbar is, for the columns that stand above and below one that scrolls: `--scrollbar`.
//
// Invariant: zero where scrollbars lie over the page, as on phones.

export function keepScrollbarWidth(): void {
  const measure = () => {
    const probe = document.createElement("div");
    probe.style.cssText =
      "position: absolute; visibility: hidden; width: 100px; height: 100px; overflow-y: auto; scrollbar-gutter: stable";
    // By what is left inside: some browsers keep the room and show no scrollbar.
    const inside = probe.appendChild(document.createElement("div"));
    document.body.append(probe);
    document.documentElement.style.setProperty("--scrollbar", `${probe.offsetWidth - inside.offsetWidth}px`);
    probe.remove();
  };
  measure();
  // Zooming changes it, and is a change of size.
  addEventListener("resize", measure);
}
