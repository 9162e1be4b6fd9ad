// Changes the newest item of a kind, and leaves the others as they are.
import type { Item } from "./transcript";

export function changeLast<T extends Item>(items: readonly Item[], is: (item: Item) => item is T, change: (item: T) => T): readonly Item[] {
  const at = items.findLastIndex(is);
  const found = items[at];
  return found !== undefined && is(found) ? items.with(at, change(found)) : items;
}
