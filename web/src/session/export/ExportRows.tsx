// The files that a session can be kept as, in its menu.
import { MenuRow } from "../../ui/MenuRow";
import type { ExportFormat } from "./useExport";

export function ExportRows({ onExport }: { onExport(format: ExportFormat): void }) {
  return (
    <>
      <p className="px-3 pt-2 pb-1 text-sm text-soft">Export as</p>
      <MenuRow icon="down" onClick={() => onExport("markdown")}>
        Markdown
      </MenuRow>
      <MenuRow icon="down" onClick={() => onExport("html")}>
        Web page
      </MenuRow>
      <MenuRow icon="down" onClick={() => onExport("bundle")}>
        Bundle
      </MenuRow>
      <p className="px-3 pt-1 pb-2 text-sm text-soft">A bundle has everything. `throughline import` takes it in on another machine.</p>
    </>
  );
}
