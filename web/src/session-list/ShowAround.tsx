// Begins a session in which the guide shows a newcomer around.
import { useRef, useState } from "react";

import type { Failure } from "../api/http";
import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { useFrame } from "../app/FrameContext";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { navigate, stillHere } from "../ui/navigation";

/** Also the name of the piece of work that the tour is: its last stop is a second session of it (crates/agents/src/guide/tour.rs). */
const NAME = "Show me around";

export function ShowAround() {
  const http = useHttp();
  const { show } = useFrame();
  const [failure, setFailure] = useState<Failure | null>(null);
  const [sending, setSending] = useState(false);
  // However often it is pressed, it is one session and one prompt.
  const keys = useRef({ session: crypto.randomUUID(), prompt: crypto.randomUUID() });
  const begin = async () => {
    setSending(true);
    setFailure(await beginTour());
    setSending(false);
  };
  /** Gives what went wrong, if it did. */
  const beginTour = async (): Promise<Failure | null> => {
    // Not whether the button is: it goes when the first session comes into the list.
    const isHere = stillHere();
    const who = await http.whoami();
    if (!who.ok) {
      return who.failure;
    }
    const cwd = who.value.tourDirectory;
    if (!cwd) {
      if (isHere()) {
        show("new-session");
      }
      return null;
    }
    const session = await http.createSession({ agent: "guide", cwd, name: NAME, metaContext: NAME, confirm: false, key: keys.current.session });
    if (!session.ok) {
      return session.failure;
    }
    const { id } = session.value;
    const sent = await http.sendPrompt(id, { text: "tour", whenBusy: "queue", key: keys.current.prompt });
    if (!sent.ok) {
      return sent.failure;
    }
    keys.current = { session: crypto.randomUUID(), prompt: crypto.randomUUID() };
    if (isHere()) {
      navigate(`/s/${id}`);
    }
    return null;
  };
  return (
    <>
      <Button disabled={sending} onClick={() => void begin()}>
        {NAME}
      </Button>
      {failure !== null && <Alert className="mt-3">{failureWords(failure)}</Alert>}
    </>
  );
}
