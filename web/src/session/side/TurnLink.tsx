// A link to a turn, from what stands beside the transcript.
import { jumpToTurn, placeHref } from "../../ui/place";

export function TurnLink({ turn, onJump }: { turn: number; onJump(): void }) {
  return (
    <a
      href={placeHref({ turn, tool: null })}
      className="inline-flex min-h-6 items-center text-xs text-soft tabular-nums underline decoration-rule underline-offset-3 hover:decoration-current max-md:min-h-11 pointer-coarse:min-h-11"
      title={`Turn ${turn}`}
      onClick={(event) => {
        event.preventDefault();
        onJump();
        jumpToTurn(turn);
      }}
    >
      t{turn}
    </a>
  );
}
