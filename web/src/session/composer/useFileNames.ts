// Names of files in the session's directory that go on from what was written after an @.
import { useEffect, useState } from "react";

import { useHttp } from "../../app/AppContext";
import type { SessionId } from "../../wire/names";

const PAUSE_MS = 120;
const NONE: readonly string[] = [];

/** Nothing is asked for while `written` is null. */
export function useFileNames(session: SessionId, written: string | null): readonly string[] {
  const http = useHttp();
  const [found, setFound] = useState<{ written: string; names: readonly string[] } | null>(null);
  useEffect(() => {
    if (written === null) {
      return undefined;
    }
    let wanted = true;
    const timer = setTimeout(() => {
      void http.files(session, written).then((answer) => {
        // Without an answer an @ is only an @.
        if (wanted) {
          setFound({ written, names: answer.ok ? answer.value.files.map(({ path }) => path) : NONE });
        }
      });
    }, PAUSE_MS);
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [http, session, written]);
  // Names for what was written before would be accepted in place of what is written now.
  return found !== null && found.written === written ? found.names : NONE;
}
