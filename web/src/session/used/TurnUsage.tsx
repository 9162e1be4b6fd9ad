// What a turn used, at its end. Of a turn that nobody counted there is no line.
import { memo } from "react";

import { isKnown } from "../../state/usageWords";
import type { SessionId } from "../../wire/names";
import { UsageDetails } from "./UsageDetails";
import { useTurnUsed } from "./UsageContext";

export const TurnUsage = memo(function TurnUsage({ session, turn }: { session: SessionId; turn: number }) {
  const known = useTurnUsed(session, turn);
  if (known === null || !isKnown(known.used)) {
    return null;
  }
  return <UsageDetails used={known.used} models={known.models} what={`turn ${turn}`} />;
});
