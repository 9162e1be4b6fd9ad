// Pictures that came with a prompt or from a tool: small, and larger when asked for.
//
// Invariant: a picture is never fetched: its bytes are already here, and only the kinds below are handed to the browser.
import { useState } from "react";

import { Dialog } from "../../ui/Dialog";
import type { Image } from "../../wire/names";

const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

export function Pictures({ images }: { images: readonly Image[] }) {
  return (
    <ul aria-label="Pictures" className="mt-2 flex flex-wrap gap-2">
      {images.map((image, index) => (
        <li key={index}>
          <Picture image={image} name={images.length === 1 ? "Picture" : `Picture ${index + 1}`} />
        </li>
      ))}
    </ul>
  );
}

export function Picture({ image, name }: { image: Image; name: string }) {
  const [open, setOpen] = useState(false);
  const [broken, setBroken] = useState(false);
  const source = sourceOf(image);
  if (source === null || broken) {
    return <p className="text-sm text-soft">{name}: this kind of picture cannot be shown.</p>;
  }
  return (
    <>
      <button type="button" className="block overflow-hidden rounded-lg border border-rule" aria-label={`${name}, show larger`} onClick={() => setOpen(true)}>
        <img src={source} alt="" className="size-24 object-cover" onError={() => setBroken(true)} />
      </button>
      {open && (
        <Dialog title={name} wide onClose={() => setOpen(false)}>
          <img src={source} alt={name} className="mx-auto max-h-[75dvh] max-w-full object-contain" />
        </Dialog>
      )}
    </>
  );
}

function sourceOf({ mimeType, data }: Image): string | null {
  return KINDS.has(mimeType) && /^[A-Za-z0-9+/]*={0,2}$/.test(data) ? `data:${mimeType};base64,${data}` : null;
}
