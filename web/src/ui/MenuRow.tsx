// A line of a menu: a sign and what it does.
import type { ReactNode } from "react";

import type { IconName } from "./Icon";
import { Icon } from "./Icon";

interface MenuRowProps {
  icon: IconName;
  className?: string;
  onClick(): void;
  children: ReactNode;
}

export function MenuRow({ icon, className = "", onClick, children }: MenuRowProps) {
  return (
    <button type="button" className={`${className} flex min-h-11 w-full items-center gap-3 rounded-lg px-2.5 text-left text-[0.9375rem] hover:bg-press md:min-h-10`} onClick={onClick}>
      <span className="text-soft">
        <Icon name={icon} />
      </span>
      {children}
    </button>
  );
}
