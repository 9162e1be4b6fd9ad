// An entry of the picker. A session's shows its earlier titles where the pointer rests on it.
import { useRef } from "react";
import type { GroupBase, OptionProps } from "react-select";

import { fenceOf } from "../state/words";
import { TitleCard } from "../titles/TitleCard";
import { Anchored } from "../ui/Anchored";
import { useHovering } from "../ui/hovering";
import { Icon } from "../ui/Icon";
import { inOneLine } from "../ui/shown";
import type { PickerOption } from "./options";

export function PickerRow({ data, innerRef, innerProps, isFocused, isSelected, isDisabled }: OptionProps<PickerOption, false, GroupBase<PickerOption>>) {
  const anchor = useRef<HTMLDivElement>(null);
  const hovering = useHovering();
  return (
    <div role="presentation" ref={anchor} {...hovering.props} className="h-full">
      <div
        {...innerProps}
        ref={innerRef}
        aria-disabled={isDisabled || undefined}
        className={`flex h-full items-center gap-3 rounded-lg px-2.5 ${isFocused ? "ground-press" : ""} ${isDisabled ? "text-soft" : "cursor-pointer"}`}
      >
        <span className={`min-w-0 truncate ${data.kind === "work" && data.tail !== null ? "max-w-3/5 shrink-0 max-md:max-w-2/5" : ""} ${isSelected ? "font-semibold" : ""}`} dir="auto">
          {inOneLine(data.label)}
        </span>
        {data.kind === "work" && data.tail !== null && <Tail tail={inOneLine(data.tail)} path={inOneLine(data.about ?? "")} />}
        {isSelected && (
          <span className="ml-auto shrink-0 text-ink [&>svg]:size-4.5">
            <Icon name="check" />
          </span>
        )}
      </div>
      {hovering.shown && data.kind === "session" && (
        <Anchored anchor={anchor} side="right" label={`Titles of “${data.label}”`} className="w-88 max-w-[calc(100vw-1rem)]" onPressElsewhere={hovering.hide}>
          <TitleCard row={data.row} writable={fenceOf(data.row) === null} onGone={hovering.hide} />
        </Anchored>
      )}
    </div>
  );
}

/** The end of a path, whose first part is where it differs from others: of that the beginning stays, of the rest the end. */
function Tail({ tail, path }: { tail: string; path: string }) {
  const cut = tail.indexOf("/", 1);
  return (
    <span className="flex min-w-0 font-mono text-xs text-soft" title={path}>
      {cut > 0 && <span className="min-w-[6ch] truncate">{tail.slice(0, cut)}</span>}
      <span className={`keeps-end ${cut > 0 ? "min-w-[9ch] shrink-[3]" : ""}`}>
        <bdi dir="ltr">{tail.slice(Math.max(cut, 0))}</bdi>
      </span>
    </span>
  );
}
