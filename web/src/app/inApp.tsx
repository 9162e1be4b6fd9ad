// For tests: an app of which only the given parts are there, around what is rendered.
import type { ReactNode } from "react";
import { createStore } from "zustand/vanilla";

import type { App, AppState } from "../state/app";
import { INITIAL_STATE } from "../state/app";
import { AppContext } from "./AppContext";

/** The second argument of `render`. */
export function inApp({ http = {}, state = {}, store = createStore(() => ({ ...INITIAL_STATE, ...state })) }: { http?: object; state?: Partial<AppState>; store?: App["store"] }) {
  const app = { http, store } as unknown as App;
  return { wrapper: ({ children }: { children: ReactNode }) => <AppContext value={app}>{children}</AppContext> };
}
