// Where a forked session comes from.
import { Link } from "../../ui/Link";
import { inOneLine } from "../../ui/shown";
import type { SessionId } from "../../wire/names";
import { useOtherSession } from "../blocks/useOtherSession";

export function ForkedFrom({ session, turn }: { session: SessionId; turn: number }) {
  const { title, gone } = useOtherSession(session);
  const place = turn === 0 ? "the beginning" : `turn ${turn}`;
  if (gone) {
    return <>Forked from {place} of a session that was deleted</>;
  }
  return (
    <>
      Forked from{" "}
      <Link href={`/s/${session}${turn === 0 ? "" : `#t${turn}`}`} className="underline underline-offset-2">
        {turn === 0 ? "" : `${place} of `}
        {title === null ? "another session" : inOneLine(title)}
      </Link>
      {turn === 0 && ", before its first turn"}
    </>
  );
}
