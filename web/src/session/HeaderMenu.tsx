// What can be done with the session, in one menu: what has no button of its own, and where the header has no room for
// buttons, what would have one.
import type { ReactNode, RefObject } from "react";
import { useState } from "react";

import { useAction, useActions } from "../app/actions";
import { useHttp } from "../app/AppContext";
import { useFrame } from "../app/FrameContext";
import { isArchived, isPinned } from "../state/sessionList";
import { TagDialog } from "../tags/TagDialog";
import { Anchored } from "../ui/Anchored";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { MenuRow } from "../ui/MenuRow";
import { takeFocus, useMenu } from "../ui/useMenu";
import type { SessionRow } from "../wire/names";
import { ExportRows } from "./export/ExportRows";
import { useExport } from "./export/useExport";
import type { SideTab } from "./side/useSide";
import type { Reporting } from "./useReport";

interface HeaderMenuProps {
  row: SessionRow;
  onShow(tab: SideTab): void;
  onDelete(): void;
  /** The agents to hand over to; null where nothing can be handed over. */
  handOver: ((onDone: () => void) => ReactNode) | null;
  /** What came of what has no place in the menu to say it. */
  reporting: Reporting;
  className?: string;
  /** Around its button. */
  ref: RefObject<HTMLDivElement | null>;
}

/** For what has a button where there is room. */
const NARROW = "@min-[40rem]:hidden";

export function HeaderMenu({ row, onShow, onDelete, handOver, reporting, className = "", ref: anchor }: HeaderMenuProps) {
  const { fail, say } = reporting;
  const { view, id, show: open, close, then, around, button } = useMenu<"menu" | "hand-over" | "export">("menu");
  const http = useHttp();
  const { run, show } = useFrame();
  // The title and the session offer them, where they can be done.
  const rename = useAction("rename");
  const fork = useAction("fork");
  const applets = useAction("applets");
  const [tagging, setTagging] = useState(false);
  const archived = isArchived(row);
  const pinned = isPinned(row);
  const archive = () => void run({ kind: "archive", archived: !archived }, [row]);
  const pin = () => void run({ kind: "pin", pinned: !pinned }, [row]);
  const save = useExport(row, reporting);
  const copy = async () => {
    const answer = await http.markdown(row.id, null);
    if (!answer.ok) {
      fail(answer.failure);
      return;
    }
    try {
      await navigator.clipboard.writeText(answer.value);
      say({ kind: "done", words: "The session is copied." });
    } catch {
      // Without a secure connection, or without leave, the browser has no clipboard to write to.
      say({ kind: "failed", words: "The browser does not let it be copied. Save it as a file instead." });
    }
  };
  useActions({
    "copy-session": () => void copy(),
    "save-session": () => void save("markdown"),
    [archived ? "unarchive-session" : "archive-session"]: archive,
    [pinned ? "unpin-session" : "pin-session"]: pin,
    "tag-session": () => setTagging(true),
  });
  return (
    <div ref={anchor} className={className} {...around}>
      <IconButton label="More of this session" {...button}>
        <Icon name="more" />
      </IconButton>
      {view !== null && (
        <Anchored id={id} anchor={anchor} side="end" label="What can be done with this session" className="w-72 max-w-[calc(100vw-1rem)]" onPressElsewhere={close}>
          {view === "hand-over" && handOver !== null ? (
            <div ref={takeFocus} tabIndex={-1} className="outline-none">
              {handOver(close)}
            </div>
          ) : view === "export" ? (
            <div ref={takeFocus} tabIndex={-1} className="outline-none">
              <ExportRows
                onExport={(format) => {
                  close();
                  void save(format);
                }}
              />
            </div>
          ) : (
            <>
              <MenuRow icon="search" onClick={then(() => show("search"))}>
                Search every session
              </MenuRow>
              <MenuRow icon="picture" onClick={then(() => onShow("shown"))}>
                What was shown
              </MenuRow>
              {applets !== undefined && (
                <MenuRow icon="applet" onClick={then(applets)}>
                  Applets
                </MenuRow>
              )}
              <MenuRow icon="mark" className={NARROW} onClick={then(() => onShow("context"))}>
                Context
              </MenuRow>
              <MenuRow icon="changes" className={NARROW} onClick={then(() => onShow("changes"))}>
                Changes
              </MenuRow>
              {handOver !== null && (
                <MenuRow icon="handOver" className={NARROW} onClick={() => open("hand-over")}>
                  Hand over to…
                </MenuRow>
              )}
              {rename !== undefined && (
                <MenuRow icon="pencil" onClick={then(rename)}>
                  Rename
                </MenuRow>
              )}
              {fork !== undefined && (
                <MenuRow icon="fork" onClick={then(fork)}>
                  Fork…
                </MenuRow>
              )}
              <MenuRow icon="copy" onClick={then(() => void copy())}>
                Copy as Markdown
              </MenuRow>
              <MenuRow icon="down" onClick={() => open("export")}>
                Export as…
              </MenuRow>
              <MenuRow icon="pin" onClick={then(pin)}>
                {pinned ? "Unpin" : "Pin"}
              </MenuRow>
              <MenuRow icon="archive" onClick={then(archive)}>
                {archived ? "Unarchive" : "Archive"}
              </MenuRow>
              <MenuRow icon="tag" onClick={then(() => setTagging(true))}>
                <span className="shrink-0">Tags…</span>
                <span className="min-w-0 flex-1 truncate text-right text-sm text-soft" dir="auto">
                  {(row.tags ?? []).map((tag) => `#${tag}`).join(" ")}
                </span>
              </MenuRow>
              <MenuRow icon="trash" onClick={then(onDelete)}>
                Delete session
              </MenuRow>
            </>
          )}
        </Anchored>
      )}
      {tagging && <TagDialog rows={[row]} onRun={(action) => void run(action, [row])} onClose={() => setTagging(false)} />}
    </div>
  );
}
