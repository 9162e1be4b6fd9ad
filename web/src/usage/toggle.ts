// How a choice among a few looks.

export const TOGGLE =
  "min-h-8 rounded-md border border-rule px-2.5 text-[0.8125rem] text-soft hover:text-ink aria-pressed:border-edge aria-pressed:bg-press aria-pressed:text-ink pointer-coarse:min-h-11";
