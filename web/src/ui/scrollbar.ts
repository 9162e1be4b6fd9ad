// How wide the browser's scrollbar is, for the columns that stand above and below one that scrolls: `--scrollbar`.
//
// Invariant: zero where scrollbars lie over the page, as on phones.

export function keepScrollbarWidth(): void {
  const measure = () => {
    const probe = document.createElement("div");
    probe.style.cssText = "position: absolute; visibility: hidden; width: 100px; height: 100px; overflow-y: scroll";
    document.body.append(probe);
    document.documentElement.style.setProperty("--scrollbar", `${probe.offsetWidth - probe.clientWidth}px`);
    probe.remove();
  };
  measure();
  // Zooming changes it, and is a change of size.
  addEventListener("resize", measure);
}
