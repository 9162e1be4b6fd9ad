// Sets the theme that was chosen in this browser before the first paint. A file of its own, since the page's policy allows no
// script inside of the page; src/ui/theme.ts changes it later by the same rules.
(() => {
  let chosen = null;
  try {
    chosen = localStorage.getItem("throughline.theme");
  } catch {
    // Without storage the system's setting holds.
  }
  const system = chosen !== "light" && chosen !== "dark" && chosen !== "contrast";
  const theme = system && matchMedia("(prefers-contrast: more)").matches ? "contrast" : system ? null : chosen;
  if (theme !== null) {
    document.documentElement.dataset.theme = theme;
  }
})();
