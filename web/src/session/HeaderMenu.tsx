// What can be done with the session, in one menu: what has no button of its own, and where the header has no room for
// buttons, what would have one.
import type { ReactNode } from "react";
import { useId, useRef, useState } from "react";

import { Anchored } from "../ui/Anchored";
import { IconButton } from "../ui/Button";
import type { IconName } from "../ui/Icon";
import { CopyRow } from "../ui/CopyButton";
import { Icon } from "../ui/Icon";
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
              {onFind !== null && <Row icon="search" words="Find in this session" onClick={then(onFind)} />}
              <Row icon="mark" words="Context" className={NARROW} onClick={then(onOpenContext)} />
              {handOver !== null && <Row icon="handOver" words="Hand over to…" className={NARROW} onClick={() => setOpen("hand-over")} />}
              <CopyRow text={markdown} words="Copy as Markdown" icon="copy" />
              <Row icon="down" words={saving === "failed" ? "The file did not come; try again" : "Save as Markdown"} onClick={() => void save()} />
              <Row icon="trash" words="Delete session" onClick={then(onDelete)} />
            </>
          )}
        </Anchored>
      )}
    </div>
  );
}

function Row({ icon, words, className = "", onClick }: { icon: IconName; words: string; className?: string; onClick(): void }) {
  return (
    <button type="button" className={`${className} flex min-h-11 w-full items-center gap-3 rounded-lg px-2.5 text-left text-[0.9375rem] hover:bg-press md:min-h-10`} onClick={onClick}>
      <span className="text-soft">
        <Icon name={icon} />
      </span>
      {words}
    </button>
  );
}
