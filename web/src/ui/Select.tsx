// A list to choose one from: the browser's own, with our sign that it opens, which keeps its distance from the edge.
import type { SelectHTMLAttributes } from "react";

import { Icon } from "./Icon";

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  ref?: React.Ref<HTMLSelectElement>;
  /** Of the box around it. */
  boxClass?: string;
}

export function Select({ boxClass = "block", className = "", ...rest }: SelectProps) {
  return (
    <span className={`relative ${boxClass}`}>
      <select {...rest} className={`block w-full appearance-none truncate rounded-lg border border-edge bg-paper pr-9 pl-3 focus-visible:outline-offset-0 ${className}`} />
      <span className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-soft [&>svg]:size-4">
        <Icon name="open" />
      </span>
    </span>
  );
}
