// A page that has only one thing to say, at the end of a broken thread.
import type { ReactNode } from "react";

import { BrokenEnd, Knot } from "./Knot";

export function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="m-auto w-full max-w-md px-6 py-12">
      <div aria-hidden="true" className="relative mb-6 h-16 w-3.5">
        <span className="thread-line bottom-auto h-10" />
        <span className="absolute top-3 left-0">
          <Knot shape="solid" />
        </span>
        <span className="absolute top-10 left-0">
          <BrokenEnd side="above" />
        </span>
      </div>
      <h1 className="text-2xl font-semibold tracking-tight text-balance">{title}</h1>
      <div className="mt-3 text-soft">{children}</div>
    </div>
  );
}
