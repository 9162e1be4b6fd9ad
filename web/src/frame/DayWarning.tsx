// A word when today has cost more than the person set. It stops nothing, and goes when it is dismissed.
import { useEffect, useState } from "react";

import { useHttp } from "../app/AppContext";
import { warningWords } from "../state/usageWords";
import { Link } from "../ui/Link";
import { dayOf } from "../usage/days";
import type { UsagePage } from "../wire/usage";

const AGAIN_MS = 60_000;

export function DayWarning() {
  const today = useToday();
  const [seen, setSeen] = useState<string | null>(null);
  const warning = today !== null && seen !== today.day ? today.warning : null;
  // What is read out has its place before its words: some screen readers would not say them otherwise.
  return (
    <div className={warning ? "safe-bottom flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-rule bg-shade px-4 py-2 text-[0.9375rem]" : ""}>
      <p role="status" className={warning ? "border-l-2 border-warning pl-3" : ""}>
        {warning && warningWords("Today", warning)}
      </p>
      {warning && (
        <>
          <Link href="/usage" className="small-button inline-flex items-center">
            Usage
          </Link>
          <button type="button" className="small-button ml-2" onClick={() => setSeen(today?.day ?? null)}>
            Dismiss
          </button>
        </>
      )}
    </div>
  );
}

/** Read again now and then, but only where there is a limit to warn of. */
function useToday(): UsagePage["today"] | null {
  const http = useHttp();
  const [today, setToday] = useState<UsagePage["today"] | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let wanted = true;
    const read = async () => {
      const day = dayOf(new Date());
      const answer = await http.usage({ by: "agent", from: day, to: day, limit: "1" });
      if (!wanted) {
        return;
      }
      if (answer.ok) {
        setToday(answer.value.today);
      }
      if (!answer.ok || answer.value.today.limit) {
        timer = setTimeout(() => void read(), AGAIN_MS);
      }
    };
    void read();
    return () => {
      wanted = false;
      clearTimeout(timer);
    };
  }, [http]);
  return today;
}
