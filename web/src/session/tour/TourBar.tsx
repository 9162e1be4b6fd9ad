// Above the composer of the tour: one button to the next stop, and at its end one to a session of one's own.
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { useFrame } from "../../app/FrameContext";
import { useKeyed } from "../../app/useKeyed";
import type { Transcript } from "../../state/transcript";
import { Alert } from "../../ui/Alert";
import { Button } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import type { SessionRow } from "../../wire/names";
import { tourOffer } from "./stops";

interface TourBarProps {
  row: SessionRow;
  transcript: Transcript;
  onSent(): void;
}

export function TourBar({ row, transcript, onSent }: TourBarProps) {
  const http = useHttp();
  const { show } = useFrame();
  const keyed = useKeyed();
  // The newest turn when it was pressed.
  const [sending, setSending] = useState<number | null>(null);
  const [words, setWords] = useState<string | null>(null);
  const offer = tourOffer(row.agent, transcript);
  const newest = transcript.turns.length;
  if (offer === null) {
    return null;
  }
  // Until the turn that it began is there, the same press is not taken twice.
  const sent = sending === newest;
  const go = async (prompt: string) => {
    setSending(newest);
    const answer = await keyed(`${newest} ${prompt}`, (key) => http.sendPrompt(row.id, { text: prompt, whenBusy: "queue", key }));
    if (answer.ok) {
      setWords(null);
      onSent();
    } else {
      setSending(null);
      setWords(failureWords(answer.failure));
    }
  };
  return (
    <section aria-label="Tour" className="thread-row flex flex-wrap items-center gap-3 pb-3">
      <span aria-hidden="true" className="thread-line thread-line-ahead" />
      {offer.kind === "stop" && (
        <Button look="primary" disabled={sent} onClick={() => void go(offer.prompt)}>
          {offer.label}
          <Icon name="move" />
        </Button>
      )}
      {offer.kind === "step" && <p className="text-sm text-soft">Press the button in the answer to go on.</p>}
      {offer.kind === "own" && (
        <div className="w-full rounded-xl border border-rule bg-shade px-4 py-3">
          <h2 className="font-medium">Now your own</h2>
          <p className="mt-0.5 mb-3 text-sm text-soft">That was the tour. Choose an agent and a directory of yours, and say what you want done.</p>
          <Button look="primary" onClick={() => show("new-session")}>
            <Icon name="plus" />
            Begin your own session
          </Button>
        </div>
      )}
      {words !== null && <Alert>{words}</Alert>}
    </section>
  );
}
