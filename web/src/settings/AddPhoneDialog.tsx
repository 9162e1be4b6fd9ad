// Signs a phone in: a QR code where the phone can follow it, and otherwise how the server is made reachable.
import { useCallback } from "react";

import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { Alert } from "../ui/Alert";
import { CopyButton } from "../ui/CopyButton";
import { Dialog } from "../ui/Dialog";
import { timeOfDay, useNow } from "../ui/time";
import type { SignInLink } from "../wire/names";
import { useAsked } from "./useAsked";

const NAME = "phone";

export function AddPhoneDialog({ onClose }: { onClose(): void }) {
  const http = useHttp();
  const ask = useCallback(() => http.signInLink(NAME), [http]);
  const answer = useAsked(ask);
  return (
    <Dialog title="Add a phone" onClose={onClose}>
      {answer === null ? (
        <p className="text-soft">Making a link…</p>
      ) : !answer.ok ? (
        <Alert>{failureWords(answer.failure)}</Alert>
      ) : answer.value.picture ? (
        <Code link={answer.value} picture={answer.value.picture} />
      ) : (
        <NotReachable url={answer.value.url} />
      )}
    </Dialog>
  );
}

function Code({ link, picture }: { link: SignInLink; picture: NonNullable<SignInLink["picture"]> }) {
  const now = useNow();
  return (
    <>
      <p className="text-soft">Point the phone’s camera at the code and open the link.</p>
      <svg
        viewBox={`0 0 ${picture.side} ${picture.side}`}
        role="img"
        aria-label="QR code with the sign-in link"
        shapeRendering="crispEdges"
        className="mx-auto my-4 block aspect-square w-full max-w-72 rounded-lg border border-rule"
      >
        {/* Dark on light in every theme: cameras read no other. */}
        <rect width={picture.side} height={picture.side} fill="#ffffff" />
        <path d={picture.path} fill="#000000" />
      </svg>
      <p className="text-sm text-soft">
        It signs one browser in, once, until {timeOfDay(link.expiresAt, now)}. Whoever opens it first is signed in: show it to nobody else. If the page does
        not open, the phone is not in the same private network.
      </p>
      <div className="mt-3">
        <CopyButton text={link.url} what="the link" />
      </div>
    </>
  );
}

/** The shortest way there is; docs/phone.md has the others. */
function NotReachable({ url }: { url: string }) {
  const port = new URL(url).port || "7417";
  const config = `[server]\nhosts = ["NAME"]\nbehind_proxy = true`;
  return (
    <>
      <p className="text-soft">
        Only this machine reaches the server now, so a code would lead the phone nowhere. With{" "}
        <strong className="font-medium text-ink">Tailscale</strong> on both devices, two steps let your own devices in, over TLS:
      </p>
      <ol className="mt-4 space-y-4">
        <li>
          <p className="text-sm">
            1. Let Tailscale pass requests on. It prints the name, such as <code>box.tail1234.ts.net</code>.
          </p>
          <Lines text={`tailscale serve --bg ${port}`} what="the command" />
        </li>
        <li>
          <p className="text-sm">2. Write that name into config.toml, and start the server again.</p>
          <Lines text={config} what="the lines for config.toml" />
        </li>
      </ol>
      <p className="mt-4 text-sm text-soft">
        Then come back here: the code is shown. Other networks, a certificate of your own and what to do if it fails are in <code>docs/phone.md</code>.
      </p>
    </>
  );
}

function Lines({ text, what }: { text: string; what: string }) {
  return (
    <div className="mt-1.5 flex items-center justify-between gap-2 rounded-lg border border-rule bg-shade px-3 py-1.5 max-md:py-0 pointer-coarse:py-0">
      <pre dir="ltr" className="min-w-0 py-1 font-mono text-[0.8125rem] leading-[1.55] wrap-anywhere whitespace-pre-wrap">
        {text}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
