// What is open, as the picker calls it: the work that the session belongs to, if it belongs to one. Opens the picker.
import { useAppState } from "../app/AppContext";
import { useFrame } from "../app/FrameContext";
import { workOf } from "../state/works";
import { Icon } from "../ui/Icon";
import { inOneLine } from "../ui/shown";
import type { SessionId } from "../wire/names";
import { SESSIONS_LABEL } from "./options";

export function PickerButton({ session }: { session: SessionId }) {
  const { show } = useFrame();
  const work = useAppState((state) => {
    const row = state.list.rows.get(session);
    return row === undefined ? null : (workOf(state.works, row)?.name ?? state.followed.get(session)?.work?.name ?? null);
  });
  return (
    <button
      type="button"
      aria-haspopup="dialog"
      aria-keyshortcuts="g"
      aria-label={work === null ? `${SESSIONS_LABEL}; go to another session` : `Work ${inOneLine(work)}; go to another session`}
      className="-ml-1.5 flex h-7 min-w-0 items-center gap-0.5 rounded-md px-1.5 text-[0.9375rem] text-soft hover:bg-press hover:text-ink max-md:ml-0 max-md:h-11 max-md:min-w-11"
      onClick={() => show("picker")}
    >
      <span className="truncate" dir="auto">
        {work === null ? SESSIONS_LABEL : inOneLine(work)}
      </span>
      <span className="shrink-0 [&>svg]:size-4">
        <Icon name="open" />
      </span>
    </button>
  );
}
