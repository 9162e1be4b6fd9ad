// The app that a part of the page belongs to: its state, and the two ways to the server.
import { createContext, use } from "react";
import { useStore } from "zustand";

import type { Http } from "../api/http";
import type { App, AppState } from "../state/app";

export const AppContext = createContext<App | null>(null);

export function useApp(): App {
  const app = use(AppContext);
  if (app === null) {
    throw new Error("this part of the page stands outside of the app");
  }
  return app;
}

export function useHttp(): Http {
  return useApp().http;
}

/** What `pick` takes from the app's state; what uses it is drawn again when that changes. */
export function useAppState<T>(pick: (state: AppState) => T): T {
  return useStore(useApp().store, pick);
}
