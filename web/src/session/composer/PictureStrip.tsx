// The pictures that will go with the prompt; each can be left out again.
import { Icon } from "../../ui/Icon";
import { inOneLine } from "../../ui/shown";
import type { Picture } from "./outbox";

export function PictureStrip({ pictures, onRemove }: { pictures: readonly Picture[]; onRemove(id: string): void }) {
  return (
    <ul aria-label="Pictures" className="flex flex-wrap gap-2 px-2 pt-2 pb-1">
      {pictures.map(({ id, name, mimeType, data }, index) => {
        const words = name === "" ? `Picture ${index + 1}` : inOneLine(name);
        return (
          <li key={id} className="relative">
            <img src={`data:${mimeType};base64,${data}`} alt={words} title={words} className="size-16 rounded-lg border border-rule object-cover" />
            <button
              type="button"
              aria-label={`Remove ${words}`}
              className="absolute -top-2 -right-2 inline-flex size-6 items-center justify-center rounded-full border border-rule bg-paper text-soft shadow-sheet after:absolute after:-inset-2.5 hover:text-ink [&>svg]:size-3.5"
              onClick={() => onRemove(id)}
            >
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}
