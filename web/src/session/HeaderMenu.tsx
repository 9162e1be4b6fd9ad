// What can be done with the session, in one menu, where the header has no room for a button each.
import type { ReactNode } from "react";
import { useId, useRef, useState } from "react";

import { Anchored } from "../ui/Anchored";
import { IconButton } from "../ui/Button";
import type { IconName } from "../ui/Icon";
import { Icon } from "../ui/Icon";

interface HeaderMenuProps {
  onFind: (() => void) | null;
  onOpenContext(): void;
  onDelete(): void;
  /** The agents to hand over to; null where nothing can be handed over. */
  handOver: ((onDone: () => void) => ReactNode) | null;
  className?: string;
}

export function HeaderMenu({ onFind, onOpenContext, onDelete, handOver, className = "" }: HeaderMenuProps) {
  const anchor = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<"closed" | "menu" | "hand-over">("closed");
  const id = useId();
  const close = () => setOpen("closed");
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
              <Row icon="mark" words="Context" onClick={then(onOpenContext)} />
              {handOver !== null && <Row icon="handOver" words="Hand over to…" onClick={() => setOpen("hand-over")} />}
              <Row icon="trash" words="Delete session" onClick={then(onDelete)} />
            </>
          )}
        </Anchored>
      )}
    </div>
  );
}

function Row({ icon, words, onClick }: { icon: IconName; words: string; onClick(): void }) {
  return (
    <button type="button" className="flex min-h-11 w-full items-center gap-3 rounded-lg px-2.5 text-left text-[0.9375rem] hover:bg-press md:min-h-10" onClick={onClick}>
      <span className="text-soft">
        <Icon name={icon} />
      </span>
      {words}
    </button>
  );
}
