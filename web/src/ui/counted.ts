// Numbers with their nouns.

/** "1 turn", "12,000 turns". */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : several}`;
}
