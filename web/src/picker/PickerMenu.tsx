// The picker's list: only the entries in sight are drawn, and the one that the keys have come to.
import type { Range } from "@tanstack/react-virtual";
import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import type { ReactElement, ReactNode } from "react";
import { Children, isValidElement, useId, useLayoutEffect, useRef } from "react";
import type { GroupBase, MenuListProps } from "react-select";

import type { PickerOption } from "./options";

const ROW_PX = 44;
const HEADING_PX = 34;

interface Entry {
  readonly group: number;
  /** Null for the group's heading. */
  readonly option: ReactElement<{ isFocused?: boolean }> | null;
}

type Elements = ReactElement<{ children?: ReactNode; label?: ReactNode }>;

export function PickerMenu({ children, innerProps, innerRef }: MenuListProps<PickerOption, false, GroupBase<PickerOption>>) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  // Groups hold options; without any, there is only what says so.
  const parts = Children.toArray(children).filter((child): child is Elements => isValidElement(child));
  const groups = parts.filter(({ props }) => props.label !== undefined && Array.isArray(props.children));
  const entries = groups.flatMap((group, at): Entry[] => [
    { group: at, option: null },
    ...Children.toArray(group.props.children).map((option) => ({ group: at, option: option as Entry["option"] })),
  ]);
  const focused = entries.findIndex(({ option }) => option?.props.isFocused === true);
  const virtualizer = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (entries[index]?.option === null ? HEADING_PX : ROW_PX),
    getItemKey: (index) => entries[index]?.option?.key ?? `heading ${entries[index]?.group}`,
    overscan: 6,
    paddingEnd: 8,
    rangeExtractor: (range: Range) => {
      const shown = defaultRangeExtractor(range);
      return focused < 0 || shown.includes(focused) ? shown : [...shown, focused].toSorted((a, b) => a - b);
    },
  });
  useLayoutEffect(() => {
    if (focused >= 0) {
      // The first entry of all shows the heading above it, too.
      virtualizer.scrollToIndex(focused === 1 ? 0 : focused, { align: "auto" });
    }
  }, [focused, virtualizer]);
  const items = virtualizer.getVirtualItems();

  return (
    <div
      {...innerProps}
      // What says that there is nothing is no list of options.
      {...(groups.length === 0 && { role: undefined, "aria-multiselectable": undefined })}
      ref={(element) => {
        scroller.current = element;
        if (typeof innerRef === "function") {
          innerRef(element);
        }
      }}
      className="relative min-h-0 flex-1 overflow-y-auto overscroll-contain px-2"
    >
      {groups.length === 0 ? (
        children
      ) : (
        <div role="presentation" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {groups.map((group, at) => (
            <div key={group.key} role="group" aria-labelledby={`${id}-${at}`}>
              <span id={`${id}-${at}`} hidden>
                {group.props.label}
              </span>
              {items.flatMap(({ index, key, start, size }) => {
                const entry = entries[index];
                return entry?.group !== at
                  ? []
                  : [
                      <div key={key} role="presentation" className="absolute inset-x-0 top-0" style={{ transform: `translateY(${start}px)`, height: size }}>
                        {entry.option ?? (
                          <div aria-hidden="true" className="px-2.5 pt-3 text-[0.8125rem] leading-5 font-semibold text-soft">
                            {group.props.label}
                          </div>
                        )}
                      </div>,
                    ];
              })}
            </div>
          ))}
        </div>
      )}
    </div>
  );
}
