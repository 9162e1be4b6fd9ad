// Chooses a session or a piece of work, by typing or from the list.
//
// Invariant: the focus stays in the field. A work is chosen for as long as any of its sessions is open, and leads to the
// newest of them.
import { CacheProvider } from "@emotion/react";
import { useEffect, useMemo, useRef } from "react";
import type { AriaOnFocus, GroupBase, SelectInstance } from "react-select";
import Select from "react-select";

import { useAppState } from "../app/AppContext";
import { IconButton } from "../ui/Button";
import { Icon } from "../ui/Icon";
import { Palette } from "../ui/Palette";
import { navigate } from "../ui/navigation";
import type { SessionId } from "../wire/names";
import type { PickerOption } from "./options";
import { chosenOf, groupsOf, hrefOf, isMatch } from "./options";
import { PickerRow } from "./PickerRow";
import { PickerMenu } from "./PickerMenu";
import { pickerStyles } from "./styles";
import { useEverything } from "./useEverything";

interface SessionPickerProps {
  current: SessionId | null;
  onClose(): void;
}

const COMPONENTS = { MenuList: PickerMenu, Option: PickerRow, DropdownIndicator: null, IndicatorSeparator: null };

export default function SessionPicker({ current, onClose }: SessionPickerProps) {
  const select = useRef<SelectInstance<PickerOption, false, GroupBase<PickerOption>>>(null);
  const works = useAppState((state) => state.works);
  const worksLabel = useAppState((state) => state.worksLabel);
  const row = useAppState((state) => (current === null ? undefined : state.list.rows.get(current)));
  const { rows, busy, cut } = useEverything();
  const groups = useMemo(() => groupsOf(works, worksLabel, rows), [works, worksLabel, rows]);
  const chosen = useMemo(() => chosenOf(groups, works, row), [groups, works, row]);
  useEffect(() => select.current?.focus(), []);

  const choose = (option: PickerOption | null) => {
    const href = option === null ? null : hrefOf(option);
    if (href !== null) {
      onClose();
      navigate(href);
    }
  };

  return (
    <Palette label="Go to a session" className="md:w-[min(36rem,calc(100vw-3rem))]" onClose={onClose}>
      <div className="safe-top relative flex max-h-full flex-col max-md:h-full md:h-[min(36rem,76dvh)]">
        <CacheProvider value={pickerStyles}>
          <Select<PickerOption, false, GroupBase<PickerOption>>
            ref={select}
            unstyled
            className="flex min-h-0 flex-1 flex-col"
            classNames={CLASS_NAMES}
            aria-label="Session or piece of work"
            placeholder="Go to…"
            options={groups as GroupBase<PickerOption>[]}
            value={chosen}
            components={COMPONENTS}
            menuIsOpen
            controlShouldRenderValue={false}
            backspaceRemovesValue={false}
            menuShouldScrollIntoView={false}
            captureMenuScroll={false}
            tabSelectsValue={false}
            filterOption={(option, input) => isMatch(option.data, input)}
            isOptionDisabled={(option) => option.kind === "nothing"}
            noOptionsMessage={() => "Nothing is called that."}
            ariaLiveMessages={{ onFocus: focusWords }}
            onChange={choose}
            onKeyDown={(event) => {
              if (event.key === "Escape") {
                event.preventDefault();
                onClose();
              }
            }}
          />
        </CacheProvider>
        <IconButton label="Close" className="absolute! top-1.5 right-2 safe-top" onClick={onClose}>
          <Icon name="close" />
        </IconButton>
        <p role="status" className="safe-bottom border-t border-rule px-4 pt-2.5 text-[0.8125rem] text-soft">
          {busy ? "Reading older sessions…" : cut ? "Older ones are not listed here; the search finds them." : "Enter opens it, Esc closes"}
        </p>
      </div>
    </Palette>
  );
}

const CLASS_NAMES = {
  control: () => "flex! min-h-14! border-b border-rule pr-14 pl-4",
  valueContainer: () => "text-base",
  placeholder: () => "text-soft",
  menu: () => "static! flex min-h-0 flex-1 flex-col",
  noOptionsMessage: () => "px-2.5 py-6 text-left! text-soft",
};

const focusWords: AriaOnFocus<PickerOption> = ({ focused, isSelected }) =>
  `${focused.kind === "work" ? "Piece of work" : "Session"} ${focused.label}${isSelected ? ", open" : ""}`;
