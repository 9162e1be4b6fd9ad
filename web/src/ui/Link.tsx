// A link within the page. With a modifier or another button it behaves as links do, in a new tab or window.
import type { AnchorHTMLAttributes } from "react";

import { navigate } from "./navigation";

export function Link({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (plain && !event.defaultPrevented) {
          event.preventDefault();
          navigate(href);
        }
      }}
    />
  );
}
