// Stands where streamdown would settle which of several Tailwind classes wins, with a table of all of them.

export function twMerge(classes: string): string {
  return classes;
}
