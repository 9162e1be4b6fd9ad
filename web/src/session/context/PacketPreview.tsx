// What the agent would be told if the session were resumed now. Asked for only when somebody looks.
import { useEffect, useState } from "react";

import type { Answer } from "../../api/http";
import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { Alert } from "../../ui/Alert";
import { Fold } from "../../ui/Fold";
import { shown } from "../../ui/shown";
import type { ResumePacket, SessionId } from "../../wire/names";

export function PacketPreview({ session }: { session: SessionId }) {
  return (
    <section aria-label="What the agent would be told after a break" className="border-t border-rule pt-2">
      <Fold line={<span>What the agent would be told after a break</span>}>{() => <Packet session={session} />}</Fold>
    </section>
  );
}

function Packet({ session }: { session: SessionId }) {
  const http = useHttp();
  const [answer, setAnswer] = useState<Answer<ResumePacket> | null>(null);
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    let wanted = true;
    void http.resumePacket(session).then((packet) => {
      if (wanted) {
        setAnswer(packet);
      }
    });
    return () => {
      wanted = false;
    };
  }, [http, session, asked]);
  if (answer === null) {
    return <p className="text-[0.9375rem] text-soft">Putting it together…</p>;
  }
  if (!answer.ok) {
    return <Alert>{failureWords(answer.failure)}</Alert>;
  }
  const { text, characters, tokens } = answer.value;
  return (
    <>
      <p className="flex items-center gap-3 text-[0.8125rem] text-soft tabular-nums">
        {characters.toLocaleString("en")} characters, about {tokens.toLocaleString("en")} tokens
        <button type="button" className="small-button" onClick={() => setAsked(asked + 1)}>
          Look again
        </button>
      </p>
      <p className="verbatim mt-1 max-h-[50vh] overflow-auto rounded-lg bg-shade p-3 font-mono text-[0.8125rem] leading-normal" tabIndex={0} role="region" aria-label="The text">
        {shown(text)}
      </p>
    </>
  );
}
