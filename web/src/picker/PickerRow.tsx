// An entry of the picker. A session's shows its earlier titles where the pointer rests on it.
import { createContext, use, useRef } from "react";
import type { GroupBase, OptionProps } from "react-select";

import type { Http } from "../api/http";
import { TitleCard } from "../titles/TitleCard";
import { Anchored } from "../ui/Anchored";
import { useHovering } from "../ui/hovering";
import { Icon } from "../ui/Icon";
import { PathText } from "../ui/PathText";
import { inOneLine } from "../ui/shown";
import type { PickerOption } from "./options";

export const HttpContext = createContext<Http | null>(null);

export function PickerRow({ data, innerRef, innerProps, isFocused, isSelected, isDisabled }: OptionProps<PickerOption, false, GroupBase<PickerOption>>) {
  const http = use(HttpContext);
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
        <span className={`min-w-0 truncate ${isSelected ? "font-semibold" : ""}`} dir="auto">
          {inOneLine(data.label)}
        </span>
        {data.kind === "work" && data.about !== null && (
          <span className="flex min-w-0 shrink-[2] text-[0.8125rem] text-soft max-md:max-w-3/5 max-md:shrink-0" title={inOneLine(data.about)}>
            <span className="contents max-md:hidden">
              <PathText path={inOneLine(data.about)} />
            </span>
            <span className="keeps-end font-mono text-[0.9em] md:hidden">
              <bdi dir="ltr">{inOneLine(data.tail ?? data.about)}</bdi>
            </span>
          </span>
        )}
        {isSelected && (
          <span className="ml-auto shrink-0 text-thread [&>svg]:size-4.5">
            <Icon name="check" />
          </span>
        )}
      </div>
      {hovering.shown && data.kind === "session" && http !== null && (
        <Anchored anchor={anchor} side="right" label={`Titles of “${data.label}”`} className="w-88 max-w-[calc(100vw-1rem)]" onPressElsewhere={hovering.hide}>
          <TitleCard http={http} row={data.row} writable={data.row.readOnly !== "damaged"} onGone={hovering.hide} />
        </Anchored>
      )}
    </div>
  );
}
