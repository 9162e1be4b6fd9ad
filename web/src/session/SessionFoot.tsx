// Below the transcript: where the next prompt is written, or why none can be, and what the session is about.
import type { RefObject } from "react";

import type { Fence } from "../state/words";
import { Alert } from "../ui/Alert";
import { PanelBoundary } from "../ui/Boundary";
import type { SessionRow } from "../wire/names";
import type { Compose } from "./composer/ComposeContext";
import { ContextFooter } from "./context/ContextFooter";
import { ImportedCard } from "./agent/ImportedCard";
import { PromptArea } from "./composer/PromptArea";
import type { Standing } from "./standing";
import { TourBar } from "./tour/TourBar";
import type { OpenChain } from "./transcript/useChain";

interface SessionFootProps {
  row: SessionRow;
  chain: OpenChain;
  standing: Standing;
  leaving: boolean;
  fresh: boolean;
  composer: RefObject<Compose | null>;
  field: RefObject<HTMLTextAreaElement | null>;
  onSent(): void;
  onOpenFile(path: string): void;
  onOpenContext(): void;
}

export function SessionFoot({ row, chain, standing, leaving, fresh, composer, field, onSent, onOpenFile, onOpenContext }: SessionFootProps) {
  const { followed } = chain.open;
  const { fence, writable, running, empty } = standing;
  return (
    <div inert={leaving} className="beside-scrollbar safe-x md:px-8">
      <div className="reading">
        {fence !== null ? (
          <Fenced why={fence} />
        ) : row.readOnly === "imported" ? (
          <ImportedCard row={row} />
        ) : (
          <PanelBoundary key={`prompt ${row.id}`} name="The composer">
            <TourBar key={`tour ${row.id}`} row={row} transcript={followed.transcript} onSent={onSent} />
            <PromptArea
              ref={composer}
              row={row}
              followed={followed}
              running={running}
              fresh={fresh}
              goneOn={chain.above.length > 0 && row.from?.session === chain.above.at(-1)?.session}
              empty={empty}
              field={field}
              onSent={onSent}
            />
          </PanelBoundary>
        )}
        <PanelBoundary key={`footer ${row.id}`} name="The context">
          <ContextFooter row={row} context={followed.context} writable={writable} onOpenFile={onOpenFile} onOpenPanel={onOpenContext} />
        </PanelBoundary>
      </div>
    </div>
  );
}

function Fenced({ why }: { why: Fence }) {
  switch (why) {
    case "damaged":
      return (
        <Alert className="safe-bottom">
          The log of this session is damaged from here on. What came before is shown; it takes no more prompts. Run{" "}
          <code>throughline doctor</code> to see what is wrong.
        </Alert>
      );
    case "newer":
      return (
        <p role="status" className="safe-bottom py-3 text-soft">
          A newer version of Throughline wrote this session from here on. Nothing is lost: what came before is shown, and it goes on when that
          version runs again.
        </p>
      );
  }
}
