// What a newer version of the server wrote down, and this page can not read: one muted line, so that nobody takes the turn
// for whole.
import type { NewerItem } from "../../state/transcript";
import { inOneLine } from "../../ui/shown";
import { Step } from "./Step";

export function MadeByNewer({ item }: { item: NewerItem }) {
  return (
    <Step bead={null} label="Made by a newer version">
      <p className="text-[0.9375rem] wrap-anywhere text-soft">
        Made by a newer version: {inOneLine(item.kind)}
        {item.count > 1 && ` (${item.count} times)`}
      </p>
    </Step>
  );
}
