// Brings a line into the middle of the region that its text scrolls in, and moves nothing around that.

/** `index` counts from the first line of the region. */
export function scrollToLine(region: HTMLElement, index: number): void {
  const linePx = parseFloat(getComputedStyle(region).lineHeight) || 0;
  region.scrollTop = Math.max(0, (index + 0.5) * linePx - region.clientHeight / 2);
}
