// What a browser without a credential sees: the commands that give it one.
import type { ReactNode } from "react";

import { BrokenEnd, Knot } from "../ui/Knot";

export type SignedOutReason = "signed_out" | "code_refused" | "unreachable";

const COMMAND = "throughline token link";
const DEVICE_COMMAND = "throughline token new --device NAME";

export function SignedOutPage({ reason }: { reason: SignedOutReason }) {
  if (reason === "unreachable") {
    return (
      <Page title="The server does not answer">
        <p className="mt-3 text-soft">Start it again with the command below, then reload this page.</p>
        <Command text="throughline serve" />
      </Page>
    );
  }
  return (
    <Page title={reason === "code_refused" ? "This link was used or has expired" : "This browser is not signed in"}>
      <p className="mt-3 text-soft">On the machine that runs Throughline, this prints a fresh link to open in this browser:</p>
      <Command text={COMMAND} />
      <p className="mt-6 text-soft">For a phone or another computer, this prints a link, and a code to scan:</p>
      <Command text={DEVICE_COMMAND} />
    </Page>
  );
}

function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="flex h-dvh overflow-y-auto px-6">
      <div className="m-auto w-full max-w-md py-16">
        <div aria-hidden="true" className="relative mb-8 h-28 w-3.5">
          <span className="thread-line bottom-auto h-12" />
          <span className="absolute top-6 left-0">
            <Knot shape="solid" />
          </span>
          <span className="absolute top-12 left-0">
            <BrokenEnd side="above" />
          </span>
          <span className="absolute bottom-2 left-0">
            <Knot shape="ahead" />
          </span>
        </div>
        <p className="text-sm font-medium text-soft">Throughline</p>
        <h1 className="mt-1 text-2xl font-semibold tracking-tight text-balance">{title}</h1>
        {children}
      </div>
    </main>
  );
}

function Command({ text }: { text: string }) {
  return (
    <pre className="mt-4 overflow-x-auto rounded-lg border border-rule bg-shade px-4 py-3.5 text-[0.9375rem] max-sm:px-3 max-sm:text-sm">
      <code className="select-all">{text}</code>
    </pre>
  );
}
