// Which session the items are of: what is kept beside its log is read from there.
import { createContext } from "react";

import type { SessionId } from "../../wire/names";

export const ItemsSessionContext = createContext<SessionId | null>(null);
