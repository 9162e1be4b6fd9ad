// The directory of a new session, completed from those on the server's machine while it is written.
//
// Invariant: what is suggested never gets into what is being written unless it is accepted.
import type { KeyboardEvent, RefObject } from "react";
import { useEffect, useLayoutEffect, useMemo, useState } from "react";

import { useHttp } from "../app/AppContext";
import type { FieldIds } from "../ui/Field";
import { FIELD } from "../ui/Field";
import { PathText } from "../ui/PathText";
import { inOneLine } from "../ui/shown";
import { SuggestionList } from "../ui/SuggestionList";
import { optionId, useSuggesting } from "../ui/suggestions";
import type { DirectoryPage } from "../wire/names";

const PAUSE_MS = 120;
const MOST_RECENT = 6;
const LIST_PX = 288;
const GAP_PX = 4;

interface DirectoryFieldProps {
  ids: FieldIds;
  field: RefObject<HTMLInputElement | null>;
  value: string;
  onChange(value: string): void;
}

interface Offer {
  path: string;
  isRecent: boolean;
  isProject: boolean;
}

export function DirectoryField({ ids, field, value, onChange }: DirectoryFieldProps) {
  const http = useHttp();
  const [open, setOpen] = useState(false);
  const [page, setPage] = useState<DirectoryPage | null>(null);
  useEffect(() => {
    if (!open) {
      return undefined;
    }
    let wanted = true;
    const timer = setTimeout(() => {
      void http.directories(value.trim()).then((answer) => {
        // Without an answer there is nothing to offer; the path can be written all the same.
        if (wanted) {
          setPage(answer.ok ? answer.value : null);
        }
      });
    }, PAUSE_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [http, open, value]);

  const offers = useMemo(() => (page === null ? [] : offersFor(value.trim(), page)), [page, value]);
  const suggesting = useSuggesting(offers, null);
  const showing = open && offers.length > 0;
  const { chosen } = suggesting;

  const accept = (index: number) => {
    const offer = offers[index];
    if (offer !== undefined) {
      // Below a directory there may be the one that is meant; a recent one is meant itself.
      onChange(offer.isRecent ? offer.path : `${offer.path.replace(/\/+$/, "")}/`);
      setOpen(!offer.isRecent);
      field.current?.focus();
    }
  };

  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) {
      return;
    }
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        event.preventDefault();
        setOpen(true);
        if (showing) {
          suggesting.move(event.key === "ArrowDown" ? 1 : -1);
        }
        break;
      case "Enter":
        if (showing && chosen !== null) {
          event.preventDefault();
          accept(chosen);
        } else {
          // The form is sent; what it answers must not lie below the list.
          setOpen(false);
        }
        break;
      case "Tab": {
        // As in a shell, half a name is completed; a whole one lets the focus go on.
        const completed = chosen ?? offers.findIndex((offer) => !offer.isRecent && completes(value.trim(), offer.path));
        if (showing && !event.shiftKey && completed >= 0) {
          event.preventDefault();
          accept(completed);
        }
        break;
      }
      case "Escape":
        if (showing) {
          // Otherwise it would close the dialog.
          event.preventDefault();
          event.stopPropagation();
          setOpen(false);
        }
        break;
    }
  };

  return (
    <>
      <input
        {...ids}
        ref={field}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={showing}
        aria-controls={showing ? suggesting.listId : undefined}
        aria-activedescendant={showing && chosen !== null ? optionId(suggesting.listId, chosen) : undefined}
        className={`${FIELD} font-mono text-[0.9375rem]`}
        data-first-focus=""
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
          setOpen(true);
        }}
        onClick={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
        placeholder="/home/you/project"
        autoComplete="off"
        autoCapitalize="off"
        autoCorrect="off"
        spellCheck={false}
        required
      />
      {showing && <Below field={field} offers={offers} suggesting={suggesting} onAccept={accept} />}
    </>
  );
}

interface BelowProps {
  field: RefObject<HTMLInputElement | null>;
  offers: readonly Offer[];
  suggesting: ReturnType<typeof useSuggesting>;
  onAccept(index: number): void;
}

/** The list lies over the dialog, which would otherwise cut it off: it is placed by where the field is in the window. */
function Below({ field, offers, suggesting, onAccept }: BelowProps) {
  const [place, setPlace] = useState<{ top: number; left: number; width: number; maxHeight: number } | null>(null);
  useLayoutEffect(() => {
    const look = () => {
      const box = field.current?.getBoundingClientRect();
      if (box !== undefined) {
        // Not over the button that sends the form, if that is below.
        const button = field.current?.form?.querySelector('[type="submit"]')?.getBoundingClientRect().top ?? innerHeight;
        const end = button > box.bottom ? Math.min(button, innerHeight) : innerHeight;
        const room = end - box.bottom - 2 * GAP_PX;
        setPlace({ top: box.bottom + GAP_PX, left: box.left, width: box.width, maxHeight: Math.max(96, Math.min(LIST_PX, room)) });
      }
    };
    look();
    addEventListener("resize", look);
    addEventListener("scroll", look, true);
    return () => {
      removeEventListener("resize", look);
      removeEventListener("scroll", look, true);
    };
  }, [field]);

  return (
    <SuggestionList
      label="Directories"
      className="fixed"
      style={place ?? { visibility: "hidden" }}
      items={offers.map(({ path, isRecent, isProject }) => ({
        key: `${isRecent} ${path}`,
        group: isRecent ? "Recent" : "Directories",
        label: isProject ? `${inOneLine(path)}, project` : inOneLine(path),
        content: (
          <>
            <span className="min-w-0 flex-1">
              <PathText path={inOneLine(path)} />
            </span>
            {isProject && <span className="shrink-0 text-xs text-soft">project</span>}
          </>
        ),
      }))}
      suggesting={suggesting}
      onAccept={onAccept}
    />
  );
}

function offersFor(written: string, { directories, recent }: DirectoryPage): Offer[] {
  const sought = written.toLowerCase();
  const bare = written.replace(/(?<=.)\/+$/, "");
  const projects = new Set(directories.filter(({ isProject }) => isProject).map(({ path }) => path));
  const recentOffers = recent
    .filter(({ path }) => path !== bare && path.toLowerCase().includes(sought))
    .slice(0, MOST_RECENT)
    .map(({ path }) => ({ path, isRecent: true, isProject: projects.has(path) }));
  const listed = new Set(recentOffers.map(({ path }) => path));
  return [
    ...recentOffers,
    ...directories
      .filter(({ path }) => path !== bare && !listed.has(path))
      .map(({ path, isProject }) => ({ path, isRecent: false, isProject })),
  ];
}

/** What was written is the beginning of the last name in `path`. */
function completes(written: string, path: string): boolean {
  const name = written.slice(written.lastIndexOf("/") + 1).toLowerCase();
  return name !== "" && name !== "~" && path.slice(path.lastIndexOf("/") + 1).toLowerCase().startsWith(name);
}
