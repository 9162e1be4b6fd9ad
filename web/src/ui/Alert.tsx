// Words about something that went wrong, said at once to those who listen.
import type { ReactNode } from "react";

export function Alert({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <p role="alert" className={`border-l-2 border-failed pl-3 text-[0.9375rem] ${className}`}>
      {children}
    </p>
  );
}
