// Signs in, opens the connection and mounts the page, in this order: the one-time code leaves the address bar before
// anything is drawn. The first sheet is imported before the parts, whose own come after it.
import "./styles.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { hasCode, onProofStored, signIn, storedProof, takeCode } from "./api/credential";
import { createHttp } from "./api/http";
import { LiveClient } from "./api/live";
import { AppContext } from "./app/AppContext";
import { Page } from "./frame/Page";
import { NEW_FIELD } from "./routes";
import { SignedOutPage } from "./sign-in/SignedOutPage";
import type { App } from "./state/app";
import { createApp } from "./state/app";
import { logOnce } from "./ui/Boundary";
import { addressField } from "./ui/navigation";
import { keepScrollbarWidth } from "./ui/scrollbar";
import { createSoon } from "./ui/soon";
import { followTheme } from "./ui/theme";

const code = takeCode();
// What a boundary caught is logged once; what none caught is logged by React itself.
const root = createRoot(document.getElementById("root") ?? document.body, { onCaughtError: logOnce });
let app: App | null = null;
keepScrollbarWidth();
followTheme();
const http = createHttp({ proof: storedProof, onSignedOut: () => app?.signOut() });

void start();

async function start(): Promise<void> {
  const leads = addressField(NEW_FIELD) !== null || location.pathname !== "/";
  const result = await signIn(http, code, leads ? "to_lead" : "to_sign_in");
  if (result.kind === "signed_in") {
    app = openApp();
    root.render(
      <StrictMode>
        <AppContext value={app}>
          <Page />
        </AppContext>
      </StrictMode>,
    );
  } else {
    root.render(<SignedOutPage reason={result.kind} />);
  }
  // Another tab may sign this browser in.
  onProofStored(() => {
    if (app === null || app.store.getState().connection.kind === "signed_out") {
      location.reload();
    }
  });
  // A link pasted into a tab that is open already changes only the fragment; the page has to look itself.
  window.addEventListener("hashchange", () => {
    if (hasCode()) {
      location.reload();
    }
  });
}

function openApp(): App {
  return createApp({
    http,
    openLive(listener) {
      const live = new LiveClient(
        {
          url: `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}/api/v1/live`,
          proof: storedProof,
          async isSignedOut() {
            const answer = await http.whoami();
            return !answer.ok && answer.failure.kind === "signed_out";
          },
        },
        listener,
      );
      live.start();
      return live;
    },
    schedule: createSoon(),
  });
}
