// What can be done with an open applet: loading it anew, earlier versions of its state, what it may do, deleting it.
import { useRef, useState } from "react";

import { Anchored } from "../../ui/Anchored";
import { Button, IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { MenuRow } from "../../ui/MenuRow";
import { takeFocus, useMenu } from "../../ui/useMenu";
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

export function AppletMenu({ name, grants, versions, onReload, onBrowse, onDelete }: AppletMenuProps) {
  const { view, id, show, close, then, around, button } = useMenu<"menu" | "versions" | "grants" | "delete">("menu");
  const [failed, setFailed] = useState<string | null>(null);
  const anchor = useRef<HTMLDivElement>(null);
  return (
    <div ref={anchor} {...around}>
      <IconButton label="More of this applet" className="md:size-9!" {...button}>
        <Icon name="more" />
      </IconButton>
      {view !== null && (
        <Anchored id={id} anchor={anchor} side="end" label="What can be done with this applet" className="w-72 max-w-[calc(100vw-1rem)]" onPressElsewhere={close}>
          {view === "menu" ? (
            <>
              {versions !== null && (
                <MenuRow icon="history" onClick={() => show("versions")}>
                  Versions and undo…
                </MenuRow>
              )}
              {grants !== null && (
                <MenuRow icon="check" onClick={() => show("grants")}>
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
                <MenuRow
                  icon="trash"
                  onClick={() => {
                    setFailed(null);
                    show("delete");
                  }}
                >
                  Delete applet…
                </MenuRow>
              )}
            </>
          ) : (
            <div key={view} ref={takeFocus} tabIndex={-1} className="outline-none">
              {view === "versions" && versions !== null ? (
                <VersionRows of={versions} onDone={close} />
              ) : view === "grants" && grants !== null ? (
                <GrantRows grants={grants} />
              ) : (
                view === "delete" &&
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
          {/* A phone has no Escape, and the applet's frame is nearly all that could be pressed outside of the menu. */}
          <MenuRow icon="close" className="md:hidden" onClick={close}>
            Close this menu
          </MenuRow>
        </Anchored>
      )}
    </div>
  );
}
