// Pictures that came with a prompt or from a tool: small, and larger when asked for.
//
// Invariant: only the kinds below are handed to the browser, and no picture comes from another server: its bytes are in the page, or kept
// beside the session's log.
import type { RefObject } from "react";
import { use, useEffect, useState } from "react";

import { useHttp } from "../../app/AppContext";
import { Dialog } from "../../ui/Dialog";
import type { BodyRef, Image } from "../../wire/names";
import { useNear } from "../outputs/useOutput";
import { ItemsSessionContext } from "./ItemsSessionContext";

/** The look of a small picture. */
const SMALL = "size-24 object-cover";
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
  return image.body ? <KeptPicture image={image} body={image.body} name={name} /> : <PictureFrom source={sourceOf(image)} name={name} className={SMALL} />;
}

/** One that is kept beside the log: it is read when it is near to what is in sight. */
function KeptPicture({ image, body, name }: { image: Image; body: BodyRef; name: string }) {
  const http = useHttp();
  const session = use(ItemsSessionContext);
  const [ref, near] = useNear();
  const [source, setSource] = useState<string | null>(null);
  const [failed, setFailed] = useState(false);
  const { mimeType } = image;
  const sha256 = body.sha256 ?? null;
  useEffect(() => {
    if (!near || session === null || sha256 === null) {
      return undefined;
    }
    let mounted = true;
    let address: string | null = null;
    void http.body(session, sha256).then((answer) => {
      if (!mounted) {
        return;
      }
      if (!answer.ok || !KINDS.has(mimeType)) {
        setFailed(true);
        return;
      }
      address = URL.createObjectURL(new Blob([answer.value as unknown as Blob], { type: mimeType }));
      setSource(address);
    });
    return () => {
      mounted = false;
      if (address !== null) {
        URL.revokeObjectURL(address);
      }
    };
  }, [http, session, sha256, mimeType, near]);
  if (failed || sha256 === null) {
    return <p className="text-sm text-soft">{name}: it is gone, its file was moved, removed or edited.</p>;
  }
  // As large as the picture will be, so that nothing moves when it comes.
  return source === null ? <span ref={ref as RefObject<HTMLSpanElement | null>} role="img" aria-label={`${name}, not read yet`} className="block size-24 rounded-lg border border-rule" /> : <PictureFrom source={source} name={name} className={SMALL} />;
}

interface PictureFromProps {
  /** Its address, which is never one of another server; null if it cannot be shown. */
  source: string | null;
  name: string;
  /** The look of the small one. */
  className: string;
}

export function PictureFrom({ source, name, className }: PictureFromProps) {
  const [open, setOpen] = useState(false);
  const [broken, setBroken] = useState(false);
  if (source === null || broken) {
    return <p className="text-sm text-soft">{name}: this kind of picture cannot be shown.</p>;
  }
  return (
    <>
      <button type="button" className="block max-w-full overflow-hidden rounded-lg border border-rule" aria-label={`${name}, show larger`} onClick={() => setOpen(true)}>
        <img src={source} alt="" className={className} onError={() => setBroken(true)} />
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
