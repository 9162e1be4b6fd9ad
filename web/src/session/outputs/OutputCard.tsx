// Something that the agent showed: what it is, its text or picture, and ways to take it along.
//
// Invariant: names and text are text on the page and nothing else, and a picture is only ever an image element. The card has
// its height before its bytes come.
import type { ReactNode } from "react";
import { memo, useState } from "react";

import { failureWords } from "../../api/http";
import { useHttp } from "../../app/AppContext";
import { CopyButton } from "../../ui/CopyButton";
import { counted } from "../../ui/counted";
import { Icon } from "../../ui/Icon";
import { latePart, useLatePart } from "../../ui/latePart";
import { inOneLine } from "../../ui/shown";
import type { Output, OutputRemoval, SessionId } from "../../wire/names";
import { saveFrom } from "../export/useMarkdown";
import { Step } from "../items/Step";
import { EmbedCard } from "./EmbedCard";
import { LINES_IN_SIGHT, linesStyle, OutputLines } from "./OutputLines";
import type { EditedText, Showable } from "./outputWords";
import { detailWords, downloadName, editedOutput, editedWords, endingWords, isPicture, languageOf, loadsUnasked, nameOf, showableOf, sizeWords, TYPE_ICONS, wholeName } from "./outputWords";
import { PictureBox } from "./PictureBox";
import type { MarkedLines } from "./useLineLinks";
import { useLineLinks } from "./useLineLinks";
import type { Loaded } from "./useOutput";
import { LOST, useNear, useOutput, useOutputState } from "./useOutput";
import "../items/CodeBlock.css";
import "../items/exactText.css";
import "./OutputCard.css";

const opened = latePart(() => import("./OpenedOutput"));

interface OutputCardProps {
  session: SessionId;
  /** The turn in which it was shown. */
  turn: number;
  /** It is of a session above the open one. */
  isPast: boolean;
  output: Output;
  removed?: OutputRemoval | null | undefined;
}

export const OutputCard = memo(function OutputCard(props: OutputCardProps) {
  const { output, removed } = props;
  if (removed) {
    return (
      <Frame output={output} detail="">
        <p className="output-note">{removed === "pruned" ? "This output was older than outputs are kept, and was removed." : LOST.removed}</p>
      </Frame>
    );
  }
  return <KeptOutput {...props} />;
});

function KeptOutput({ session, turn, isPast, output }: OutputCardProps) {
  const http = useHttp();
  const [figure, near] = useNear();
  const marking = useLineLinks({ session, turn, output: output.id, isPast });
  const [pressed, setPressed] = useState(false);
  const [open, setOpen] = useState(false);
  const [pixels, setPixels] = useState("");
  const showable = showableOf(output);
  const isText = showable === "text" || showable === "pages";
  const asked = pressed || showable !== "picture" || loadsUnasked(output);
  // A card that was asked for may not have come near yet.
  const reached = near || marking.sought !== null;
  const wanted = asked && reached;
  const hasThumbnail = output.type === "embed" && isPicture(output);
  const { loaded, retry } = useOutput(session, output, !wanted ? "nothing" : hasThumbnail ? "picture" : showable);
  const late = useLatePart(opened, open || (wanted && showable === "pages"));
  const name = nameOf(output);
  // A text that is read whole comes with it.
  const stateNow = useOutputState(session, output, reached && showable !== "text");
  const loss = stateNow?.state === "gone" || stateNow?.state === "removed" ? stateNow.state : null;
  const isGone = loss !== null || loaded.kind === "gone" || loaded.kind === "removed";
  const changed = stateNow?.state === "changed" || (loaded.kind === "text" && loaded.changed);
  const text = loaded.kind === "text" ? loaded.text : null;
  const known = editedText(text, stateNow?.lines ?? null);
  const now = changed && isText ? editedOutput(output, known) : output;
  const words = changed && isText ? editedWords(output, known) : detailWords(output);
  const edited = changed ? "edited since" : "";
  const readText = async () => {
    const [answer, { plainTextOf }] = await Promise.all([http.outputBytes(session, output.id), import("./OpenedOutput")]);
    if (!answer.ok) {
      throw new Error("the text did not come");
    }
    return plainTextOf(output, await answer.value.text());
  };
  const copied = loaded.kind === "text" && output.type !== "terminal" ? loaded.text : readText;
  const takeAlong = (
    <>
      {isText && !isGone && loaded.kind !== "bytes" && <CopyButton text={copied} what={name} />}
      {!isGone && output.type !== "embed" && <DownloadButton session={session} output={output} name={name} />}
    </>
  );
  const detail = [marking.said, edited, pixels, words].filter((part) => part !== "");
  return (
    <Frame
      ref={figure}
      output={output}
      detail={output.type === "embed" ? (hasThumbnail && isGone ? "its picture is gone" : edited) : detail.slice(0, marking.said === "" ? 3 : 1).join(" · ")}
      actions={
        <>
          {(isText || showable === "picture") && asked && !isGone && loaded.kind !== "bytes" && (
            <button type="button" className="small-button" aria-label={`Open ${name}`} onClick={() => setOpen(true)}>
              Open
            </button>
          )}
          {takeAlong}
        </>
      }
    >
      {output.cut === true && <p className="output-note">There was more of this output than is kept.</p>}
      {output.type === "embed" ? (
        <EmbedCard output={output} source={loaded.kind === "picture" ? loaded.source : null} />
      ) : loss !== null && loaded.kind !== "picture" ? (
        <Note output={output}>{LOST[loss]}</Note>
      ) : showable === "nothing" ? (
        <p className="output-note">{isText || output.type === "raw" || output.type === "image" ? "This is not text or a picture that can be shown here; it can be downloaded." : "It is too large to be shown here; it can be downloaded."}</p>
      ) : now.bytes === 0 ? (
        <p className="output-note">It is empty.</p>
      ) : !asked ? (
        <div className="output-picture">
          <button type="button" className="small-button mx-0!" onClick={() => setPressed(true)}>
            Show it ({sizeWords(output.bytes)})
          </button>
        </div>
      ) : showable === "pages" ? (
        <>
          {late.kind === "ready" ? (
            <late.part.PagedLines session={session} output={now} label={`Text of ${name}`} marking={marking} extent="card" />
          ) : (
            <Note output={output}>{late.kind === "failed" && <Failed words="A part of the page did not come." onRetry={late.retry} />}</Note>
          )}
          {!isGone && (
            <div className="output-more">
              <button type="button" className="small-button" onClick={() => setOpen(true)}>
                {typeof now.lines !== "number" ? "Open all of it" : `Open all ${counted(now.lines, "line")}`}
              </button>
            </div>
          )}
        </>
      ) : (
        <Body output={now} name={name} showable={showable} loaded={loaded} marking={marking} onRetry={retry} onOpen={() => setOpen(true)} onPixels={setPixels} />
      )}
      {open && late.kind === "ready" && (
        <late.part.OpenedOutput
          session={session}
          output={now}
          name={name}
          detail={[edited, words].filter((part) => part !== "").join(" · ")}
          text={text}
          source={loaded.kind === "picture" ? loaded.source : null}
          marking={marking}
          actions={takeAlong}
          onClose={() => setOpen(false)}
        />
      )}
    </Frame>
  );
}

function editedText(text: string | null, lines: number | null): EditedText {
  return text !== null ? { kind: "text", text } : lines !== null ? { kind: "lines", lines } : { kind: "unknown" };
}

interface FrameProps {
  output: Output;
  detail: string;
  actions?: ReactNode;
  children: ReactNode;
  ref?: React.Ref<HTMLElement>;
}

function Frame({ output, detail, actions, children, ref }: FrameProps) {
  const name = nameOf(output);
  const ending = endingWords(output);
  return (
    <Step bead={null}>
      <figure ref={ref} data-output={output.id} tabIndex={-1} className="code-block output-card @container/output" aria-label={`Output: ${name}`}>
        <figcaption>
          <Icon name={TYPE_ICONS[output.type]} />
          {/* The title of a page elsewhere stands below. */}
          <span className="output-name" title={wholeName(output)}>
            {output.type === "embed" ? inOneLine(output.provider ?? "") || "Link" : name}
          </span>
          <span className="output-detail" role="status">
            {ending !== null && <strong className={`font-semibold ${ending.failed ? "text-failed" : ""}`}>{ending.words}</strong>}
            {ending !== null && detail !== "" && " · "}
            {detail}
          </span>
          {actions !== undefined && <span className="output-actions">{actions}</span>}
        </figcaption>
        {children}
      </figure>
    </Step>
  );
}

interface BodyProps {
  output: Output;
  name: string;
  showable: Exclude<Showable, "nothing" | "pages">;
  loaded: Loaded;
  marking: MarkedLines;
  onRetry(): void;
  onOpen(): void;
  onPixels(words: string): void;
}

function Body({ output, name, showable, loaded, marking, onRetry, onOpen, onPixels }: BodyProps) {
  switch (loaded.kind) {
    case "loading":
    case "text":
      if (showable === "picture") {
        return <div className="output-picture" aria-busy="true" />;
      }
      return (
        <OutputLines
          text={loaded.kind === "text" ? loaded.text : null}
          language={languageOf(output)}
          first={output.startLine ?? 1}
          known={output.lines ?? null}
          terminal={output.type === "terminal"}
          label={`Text of ${name}`}
          marking={marking}
          extent="card"
        />
      );
    case "picture":
      return <PictureBox key={loaded.source} source={loaded.source} name={name} onOpen={onOpen} onPixels={onPixels} />;
    case "bytes":
      return <Note output={output}>This is not text, so it is not shown.</Note>;
    case "gone":
    case "removed":
      return <Note output={output}>{LOST[loaded.kind]}</Note>;
    case "failed":
      return (
        <Note output={output}>
          <Failed words={loaded.words} onRetry={onRetry} />
        </Note>
      );
  }
}

function Failed({ words, onRetry }: { words: string; onRetry(): void }) {
  return (
    <span role="alert">
      {words}{" "}
      <button type="button" className="small-button mx-0!" onClick={onRetry}>
        Try again
      </button>
    </span>
  );
}

/** In the room of what it stands for. */
function Note({ output, children }: { output: Output; children: ReactNode }) {
  return output.type === "image" ? (
    <div className="output-picture output-note">{children}</div>
  ) : (
    <p className="output-note output-empty" style={linesStyle(Math.min(output.lines ?? 1, LINES_IN_SIGHT))}>
      {children}
    </p>
  );
}

type Download = { kind: "ready" } | { kind: "on_its_way" } | { kind: "failed"; words: string };

function DownloadButton({ session, output, name }: { session: SessionId; output: Output; name: string }) {
  const http = useHttp();
  const [download, setDownload] = useState<Download>({ kind: "ready" });
  const begin = async () => {
    setDownload({ kind: "on_its_way" });
    const answer = await http.outputTicket(session, output.id);
    if (answer.ok) {
      // The browser reads it by itself: however long it is, the page holds none of it.
      saveFrom(answer.value.url, downloadName(output));
    }
    setDownload(answer.ok ? { kind: "ready" } : { kind: "failed", words: failureWords(answer.failure) });
  };
  return (
    <>
      <button type="button" className="small-button" aria-label={`Download ${name}`} disabled={download.kind === "on_its_way"} onClick={() => void begin()}>
        {download.kind === "on_its_way" ? "Loading…" : "Download"}
      </button>
      {download.kind === "failed" && <span role="alert">{download.words}</span>}
    </>
  );
}
