// Every answer that is remembered, each with the way to forget it.
//
// Invariant: what stands here is what the server says; a row goes when the server has forgotten it.
import { useEffect, useState } from "react";

import { failureWords } from "../api/http";
import { useHttp } from "../app/AppContext";
import { kindWords, rememberedWords } from "../state/words";
import { Alert } from "../ui/Alert";
import { Button } from "../ui/Button";
import { Exact } from "../ui/Exact";
import { inOneLine } from "../ui/shown";
import type { RememberedPermission } from "../wire/names";

export function RememberedList() {
  const http = useHttp();
  const [permissions, setPermissions] = useState<readonly RememberedPermission[] | null>(null);
  const [words, setWords] = useState<string | null>(null);

  useEffect(() => {
    let shown = true;
    void http.remembered().then((answer) => {
      if (!shown) {
        return;
      }
      if (answer.ok) {
        setPermissions(answer.value.permissions);
      } else {
        setWords(failureWords(answer.failure));
      }
    });
    return () => {
      shown = false;
    };
  }, [http]);

  const forget = async (id: string) => {
    const answer = await http.forgetPermission(id);
    // Whoever else has forgotten it has done the same.
    if (answer.ok || (answer.failure.kind === "refused" && answer.failure.code === "permission_not_found")) {
      setPermissions((known) => known?.filter((permission) => permission.id !== id) ?? null);
      setWords(null);
    } else {
      setWords(failureWords(answer.failure));
    }
  };

  return (
    <>
      {words !== null && <Alert className="mb-3">{words}</Alert>}
      {permissions === null && words === null && <p className="text-soft">Loading…</p>}
      {permissions?.length === 0 && <p className="text-soft">Nothing is remembered. An answer that you give for always is listed here, and can be forgotten.</p>}
      <ul className="space-y-4">
        {permissions?.map((permission) => (
          <li key={permission.id} className="flex items-start justify-between gap-3">
            <div className="min-w-0 flex-1">
              <p className="text-[0.8125rem] text-soft">
                {inOneLine(rememberedWords(permission))} · {kindWords(permission.kind)} · {inOneLine(permission.agent)}
              </p>
              <pre
                className="mt-2 max-h-[45vh] overflow-auto rounded-lg border border-rule bg-shade px-3 py-2.5 text-left font-mono text-[0.8125rem] leading-[1.55] wrap-anywhere whitespace-pre-wrap"
                tabIndex={0}
                role="region"
                aria-label="Exactly this"
                dir="ltr"
              >
                <Exact text={permission.subject} />
              </pre>
              {permission.kind === "edit" && <p className="mt-1 text-[0.8125rem] text-soft">with the content it had then</p>}
              <p className="mt-1 truncate text-[0.8125rem] text-soft" dir="ltr">
                {inOneLine(permission.cwd)}
              </p>
            </div>
            <Button look="quiet" onClick={() => void forget(permission.id)}>
              Forget
            </Button>
          </li>
        ))}
      </ul>
    </>
  );
}
