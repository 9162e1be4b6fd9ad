// Every answer that is remembered, over the session in which one of them was given again.
import { RememberedList } from "../../remembered/RememberedList";
import { Dialog } from "../../ui/Dialog";

export function RememberedDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Remembered permissions" onClose={onClose}>
      <RememberedList />
    </Dialog>
  );
}
