// What can be done with an open applet: loading it anew, earlier versions of its state, what it may do, deleting it.
import { useId, useRef, useState } from "react";

import { Anchored } from "../../ui/Anchored";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { MenuRow } from "../../ui/MenuRow";
import type { Grants } from "./grants";
import { GrantRows } from "./GrantRows";
import type { VersionsOf } from "./VersionRows";
import { VersionRows } from "./VersionRows";

interface AppletMenuProps {
  name: string;
  /** Null before it is loaded. */
  grants: Grants | null;
  /** Null where its state can not be changed. */
  versions: VersionsOf | null;
  onReload(): void;
  onBrowse(): void;
  /** Gives what went wrong, if it did; null where it can not be deleted. */
  onDelete: (() => Promise<string | null>) | null;
}

type Shown = "closed" | "menu" | "versions" | "grants" | "delete";

/** The row that led here is gone, and the focus with it. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus({ preventScroll: true });
}

export function AppletMenu({ name, grants, versions, onReload, onBrowse, onDelete }: AppletMenuProps) {
  const [shown, setShown] = useState<Shown>("closed");
  const [failed, setFailed] = useState<string | null>(null);
  const anchor = useRef<HTMLDivElement>(null);
  const id = useId();
  const close = () => setShown("closed");
  const then = (action: () => void) => () => {
    close();
    action();
  };
  return (
    <div
      ref={anchor}
      onKeyDown={(event) => {
        if (event.key === "Escape" && shown !== "closed") {
          event.stopPropagation();
          close();
          anchor.current?.querySelector("button")?.focus();
        }
      }}
    >
      <IconButton
        label="More of this applet"
        className="md:size-9!"
        aria-expanded={shown !== "closed"}
        aria-controls={shown === "closed" ? undefined : id}
        onClick={() => {
          setFailed(null);
          setShown(shown === "closed" ? "menu" : "closed");
        }}
      >
        <Icon name="more" />
      </IconButton>
      {shown !== "closed" && (
        <Anchored id={id} anchor={anchor} side="end" label="What can be done with this applet" className="w-72 max-w-[calc(100vw-1rem)]" onPressElsewhere={close}>
          {shown === "menu" ? (
            <>
              {versions !== null && (
                <MenuRow icon="history" onClick={() => setShown("versions")}>
                  Versions and undo…
                </MenuRow>
              )}
              {grants !== null && (
                <MenuRow icon="check" onClick={() => setShown("grants")}>
                  What it may do…
                </MenuRow>
              )}
              <MenuRow icon="switch" onClick={then(onReload)}>
                Load it anew
              </MenuRow>
              <MenuRow icon="applet" onClick={then(onBrowse)}>
                All applets
              </MenuRow>
              {onDelete !== null && (
                <MenuRow icon="trash" onClick={() => setShown("delete")}>
                  Delete applet…
                </MenuRow>
              )}
            </>
          ) : (
            <div key={shown} ref={takeFocus} tabIndex={-1} className="outline-none">
              {shown === "versions" && versions !== null ? (
                <VersionRows of={versions} onDone={close} />
              ) : shown === "grants" && grants !== null ? (
                <GrantRows grants={grants} />
              ) : (
                shown === "delete" &&
                onDelete !== null && (
                  <div className="space-y-3 p-2.5 text-[0.9375rem]">
                    <p>
                      Delete <strong className="font-semibold">{name}</strong> and its state, for every session?
                    </p>
                    {failed !== null && <p role="alert">{failed}</p>}
                    <div className="flex gap-2">
                      <Button look="primary" onClick={() => void onDelete().then(setFailed)}>
                        Delete
                      </Button>
                      <Button onClick={close}>Keep</Button>
                    </div>
                  </div>
                )
              )}
            </div>
          )}
        </Anchored>
      )}
    </div>
  );
}
