// What can be done with the session, in one menu: what has no button of its own, and where the header has no room for
// buttons, what would have one.
import type { ReactNode } from "react";
import { useId, useRef, useState } from "react";

import { Anchored } from "../ui/Anchored";
import { IconButton } from "../ui/Button";
import { CopyRow } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";
import { MenuRow } from "../ui/MenuRow";
import type { SessionRow } from "../wire/names";
import { fileName, saveAs, useMarkdown } from "./export/useMarkdown";

interface HeaderMenuProps {
  row: SessionRow;
  onFind: (() => void) | null;
  onOpenContext(): void;
  onDelete(): void;
  /** The agents to hand over to; null where nothing can be handed over. */
  handOver: ((onDone: () => void) => ReactNode) | null;
  className?: string;
}

/** For what has a button where there is room. */
const NARROW = "@min-[40rem]:hidden";

export function HeaderMenu({ row, onFind, onOpenContext, onDelete, handOver, className = "" }: HeaderMenuProps) {
  const anchor = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<"closed" | "menu" | "hand-over">("closed");
  const id = useId();
  const close = () => setOpen("closed");
  const markdown = useMarkdown(row.id, null);
  const [saving, setSaving] = useState<"ready" | "failed">("ready");
  const save = async () => {
    try {
      saveAs(fileName(row.title), await markdown());
      setSaving("ready");
      close();
    } catch {
      setSaving("failed");
    }
  };
  const then = (action: () => void) => () => {
    close();
    action();
  };
  return (
    <div
      ref={anchor}
      className={className}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open !== "closed") {
          event.stopPropagation();
          close();
          anchor.current?.querySelector("button")?.focus();
        }
      }}
    >
      <IconButton
        label="More of this session"
        aria-expanded={open !== "closed"}
        aria-controls={open === "closed" ? undefined : id}
        onClick={() => setOpen(open === "closed" ? "menu" : "closed")}
      >
        <Icon name="more" />
      </IconButton>
      {open !== "closed" && (
        <Anchored id={id} anchor={anchor} side="end" label="What can be done with this session" className="w-72 max-w-[calc(100vw-1rem)]" onPressElsewhere={close}>
          {open === "hand-over" && handOver !== null ? (
            handOver(close)
          ) : (
            <>
              {onFind !== null && (
                <MenuRow icon="search" onClick={then(onFind)}>
                  Find in this session
                </MenuRow>
              )}
              <MenuRow icon="mark" className={NARROW} onClick={then(onOpenContext)}>
                Context
              </MenuRow>
              {handOver !== null && (
                <MenuRow icon="handOver" className={NARROW} onClick={() => setOpen("hand-over")}>
                  Hand over to…
                </MenuRow>
              )}
              <CopyRow text={markdown} words="Copy as Markdown" icon="copy" />
              <MenuRow icon="down" onClick={() => void save()}>
                {saving === "failed" ? "Could not save; try again" : "Save as Markdown"}
              </MenuRow>
              <MenuRow icon="trash" onClick={then(onDelete)}>
                Delete session
              </MenuRow>
            </>
          )}
        </Anchored>
      )}
    </div>
  );
}
