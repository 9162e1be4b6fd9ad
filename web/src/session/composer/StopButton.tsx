// Stops the running turn. It stands in the header, and on a phone where the thumb is.
import { useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { Button, IconButton } from "../../ui/Button";
import { StopIcon } from "../../ui/Icon";
import type { SessionId } from "../../wire/names";

interface StopButtonProps {
  session: SessionId;
  look?: "sign" | "words";
  className?: string;
}

export function StopButton({ session, look = "sign", className = "" }: StopButtonProps) {
  const http = useHttp();
  const [stopping, setStopping] = useState(false);
  const [words, setWords] = useState<string | null>(null);
  const stop = async () => {
    setStopping(true);
    setWords(null);
    const answer = await http.cancel(session);
    setStopping(false);
    if (!answer.ok) {
      setWords(failureWords(answer.failure));
    }
  };
  return (
    <span className={`relative inline-flex ${className}`}>
      {look === "sign" ? (
        <IconButton label="Stop" disabled={stopping} onClick={() => void stop()}>
          <StopIcon />
        </IconButton>
      ) : (
        <Button className="pl-3! [&>svg]:size-4" disabled={stopping} onClick={() => void stop()}>
          <StopIcon />
          Stop
        </Button>
      )}
      <span
        role="alert"
        className={words === null ? "sr-only" : "absolute right-0 bottom-full z-20 w-max max-w-60 rounded-lg border border-rule bg-paper px-3 py-2 text-sm shadow-sheet md:top-full md:bottom-auto"}
      >
        {words}
      </span>
    </span>
  );
}
