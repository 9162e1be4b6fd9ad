// The applet beside the transcript, or over it where there is no room: what the page says of it, and its frame.
//
// Invariant: whatever is asked of the person stands in the page's own part of the panel, never in the frame.
import { use, useEffect, useEffectEvent, useLayoutEffect, useMemo, useRef, useState } from "react";

import type { Failure } from "../../api/http";
import { failureWords, sentence } from "../../api/http";
import { useApp, useAppState, useHttp } from "../../app/AppContext";
import { ConnectionNotice } from "../../app/FrameContext";
import type { Followed } from "../../state/followed";
import { turnAt } from "../../state/followed";
import { Alert } from "../../ui/Alert";
import { IconButton } from "../../ui/Button";
import { Icon } from "../../ui/Icon";
import { inOneLine } from "../../ui/shown";
import type { JsonObject } from "../../wire/applets";
import type { OutputId, SessionRow } from "../../wire/names";
import type { AppletAddress } from "./address";
import { SHOWN } from "./address";
import { AppletErrors } from "./AppletErrors";
import { AppletLine } from "./AppletLine";
import type { AppletFailure } from "./appletHost";
import { appletHost } from "./appletHost";
import { AppletMenu } from "./AppletMenu";
import { AskBar } from "./AskBar";
import { Asks } from "./asks";
import type { OpenFrame } from "./frame";
import { openFrame } from "./frame";
import { Grants } from "./grants";
import { openQueue, writeState } from "./unsentState";
import { useLoaded } from "./useLoaded";
import "./AppletPanel.css";

interface AppletPanelProps {
  row: SessionRow;
  followed: Followed;
  address: AppletAddress;
  writable: boolean;
  go(address: AppletAddress | null, how: "push" | "replace"): void;
  onBrowse(): void;
  /** It lies over the transcript. */
  isOver: boolean;
  /** Shown just now, and not opened. */
  fresh: OutputId | null;
}

const MOST_ERRORS = 50;

/** To be drawn anew for another applet; with other parameters it stays. */
export function AppletPanel({ row, followed, address, writable, go, onBrowse, isOver, fresh }: AppletPanelProps) {
  const app = useApp();
  const http = useHttp();
  const { applet, params, past } = address;
  const session = row.id;
  const output = past?.output ?? null;
  const isPast = past !== null;
  const container = useRef<HTMLDivElement>(null);
  const frame = useRef<OpenFrame | null>(null);
  const [errors, setErrors] = useState<readonly AppletFailure[]>([]);
  const [sent, setSent] = useState<string | null>(null);

  // Its state and its content, live.
  const paramsText = JSON.stringify(params);
  useEffect(() => {
    if (!isPast) {
      app.openApplet(session, applet, JSON.parse(paramsText) as AppletAddress["params"]);
    }
    frame.current?.setParams(JSON.parse(paramsText) as AppletAddress["params"]);
  }, [app, session, applet, isPast, paramsText]);
  useEffect(() => (isPast ? undefined : () => app.closeApplet(session)), [app, session, applet, isPast]);
  const hashNow = useAppState(({ applets }) => {
    const now = isPast ? undefined : applets.get(session);
    return now?.applet === applet ? now.hash : undefined;
  });
  const unreadable = useAppState(({ applets }) => {
    const now = isPast ? undefined : applets.get(session);
    return now?.applet === applet ? now.trouble : null;
  });
  const { loaded, failure, isChanged, reload, dismiss } = useLoaded(session, applet, output, hashNow ?? null, unreadable !== null);
  const ticket = loaded?.ticket ?? null;

  const shown = shownAs(followed, address);
  const title = inOneLine((isPast ? shown?.title : null) ?? loaded?.about?.name ?? shown?.title ?? "") || (applet === SHOWN ? "Applet" : applet);
  // Of this frame: what it asked is no matter of the next one's.
  const access = useMemo(() => {
    const asks = new Asks();
    return ticket === null ? null : { asks, grants: new Grants({ http, session, applet, hash: ticket.hash, asks }) };
  }, [http, session, applet, ticket]);
  const now = useEffectEvent(() => ({ followed, address, writable }));
  const move = useEffectEvent((to: AppletAddress, how: "push" | "replace") => go(to, how));
  const open = useEffectEvent((place: HTMLElement) => {
    if (ticket === null || access === null) {
      return null;
    }
    setErrors([]);
    access.asks.open();
    const writes = openQueue(app, session, applet);
    const host = appletHost({
      app,
      row,
      applet,
      hash: ticket.hash,
      past: isPast,
      ...access,
      queue: writes.queue,
      now: () => now(),
      go: (to, how) => move(to, how),
      onError: (error) => setErrors((before) => [...before, error].slice(-MOST_ERRORS)),
      onSent: setSent,
    });
    const about = { applet, title, session, params, hash: ticket.hash, past: isPast };
    const opened = openFrame(place, { app, session, url: ticket.url, about, read: loaded?.about ?? null, writes, host });
    return {
      ...opened,
      leave() {
        access.asks.close();
        opened.leave();
      },
    };
  });
  // Before the element is gone: the frame is to be moved out of it.
  useLayoutEffect(() => {
    const place = container.current;
    const opening = place === null || ticket === null ? null : open(place);
    frame.current = opening;
    return () => {
      frame.current = null;
      opening?.leave();
    };
  }, [ticket]);

  const remove = async () => {
    const answer = await http.deleteApplet(applet);
    if (answer.ok) {
      go(null, "push");
      return null;
    }
    return failureWords(answer.failure);
  };
  const newer = fresh !== null && followed.newestApplet?.output === fresh ? followed.newestApplet : null;
  const trouble = troubleWords(unreadable, loaded?.trouble ?? null);
  const isLost = use(ConnectionNotice) !== null && !isPast;
  const versions = isPast || !writable
    ? null
    : {
        list: () => http.appletVersions(session, applet),
        read: (version: number) => http.appletVersion(session, applet, version),
        write: (state: JsonObject) => writeState(app, session, applet, state),
      };
  return (
    <>
      <header className="flex items-center gap-1 border-b border-rule pr-1 pl-4">
        <h2 className="min-w-0 flex-1 truncate text-[0.9375rem] font-semibold" title={title} dir="auto">
          {title}
        </h2>
        <span className="shrink-0 text-[0.8125rem] text-soft">{applet === SHOWN ? "not saved" : applet === title ? "" : applet}</span>
        <AppletMenu
          name={title}
          grants={access?.grants ?? null}
          versions={versions}
          onReload={reload}
          onBrowse={onBrowse}
          onDelete={loaded?.about?.bundled === false && applet !== SHOWN && !isPast ? remove : null}
        />
        <IconButton label="Close the applet" className="md:size-9!" onClick={() => go(null, "push")}>
          <Icon name="close" />
        </IconButton>
      </header>
      {past !== null && (
        <AppletLine>
          Its page as it was shown in turn {past.turn}, with the state of today; it changes nothing here.{" "}
          <button type="button" className="small-button mx-0!" onClick={() => go({ ...address, past: null }, "push")}>
            Open today’s
          </button>
        </AppletLine>
      )}
      {isOver && row.state === "needs_you" && (
        <AppletLine>
          <strong className="font-semibold text-thread">The agent needs your answer.</strong>{" "}
          <button type="button" className="small-button mx-0!" onClick={() => go(null, "push")}>
            Show the question
          </button>
        </AppletLine>
      )}
      {newer !== null && (
        <AppletLine>
          The agent shows {inOneLine(newer.title) || newer.slug || "another applet"}.{" "}
          <button type="button" className="small-button mx-0!" onClick={() => go({ applet: newer.slug ?? SHOWN, params: newer.params, past: null }, "push")}>
            Open it
          </button>
        </AppletLine>
      )}
      {hashNow === null && <AppletLine>This applet is not there any more. What is shown is what it was.</AppletLine>}
      {isLost && <AppletLine>The connection is lost. What you do here is kept in this tab until it is back; do not close or reload it.</AppletLine>}
      {trouble !== null && hashNow !== null && (
        <AppletLine>
          {trouble}{" "}
          <button type="button" className="small-button mx-0!" onClick={reload}>
            Try again
          </button>
        </AppletLine>
      )}
      {isChanged && hashNow !== null && <AppletLine onDismiss={dismiss}>It was changed, and is shown as it is now.</AppletLine>}
      {sent !== null && (
        <AppletLine onDismiss={() => setSent(null)}>
          It sent the agent: <span className="text-ink">{inOneLine(sent).slice(0, 200)}</span>
        </AppletLine>
      )}
      <AppletErrors title={title} slug={applet === SHOWN ? null : applet} errors={errors} />
      {access !== null && <AskBar {...access} title={title} slug={applet === SHOWN ? null : applet} />}
      {failure !== null && hashNow !== null && (
        <Alert className="m-4">
          {failureWords(failure)}{" "}
          <button type="button" className="small-button mx-0!" onClick={reload}>
            Try again
          </button>
        </Alert>
      )}
      <div ref={container} className="applet-place" aria-busy={loaded === null && failure === null} />
    </>
  );
}

/** What the transcript says of it, where that is read. */
function shownAs(followed: Followed, { applet, past }: AppletAddress): { title: string } | null {
  if (past === null) {
    const { newestApplet } = followed;
    return newestApplet !== null && (newestApplet.slug ?? SHOWN) === applet ? newestApplet : null;
  }
  const item = turnAt(followed, past.turn)?.items.find((one) => one.type === "output" && one.output.id === past.output);
  return item?.type === "output" ? (item.applet ?? null) : null;
}

/** One line for what the server said by itself and what it answered: both may say the same. */
function troubleWords(unreadable: string | null, failure: Failure | null): string | null {
  const why = unreadable ?? (failure?.kind === "refused" && failure.code === "applet_state_unreadable" ? failure.message : null);
  return why !== null ? sentence(`what this applet saved can not be read: ${why}`) : failure !== null ? failureWords(failure) : null;
}
