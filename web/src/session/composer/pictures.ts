// Pictures that go with a prompt: which the server takes, and how many.
import type { Picture } from "./outbox";

export const PICTURE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
export const MOST_PICTURES = 8;
/** Of Base64, all pictures of a prompt together. */
export const MOST_BYTES = 8 << 20;

export interface Added {
  /** Those that can go with the prompt, the earlier ones first. */
  pictures: readonly Picture[];
  /** Why some can not. */
  refusal: string | null;
}

/** Adds files to the pictures that a prompt has already. The first objection is told; the other files are added. */
export async function addPictures(have: readonly Picture[], files: readonly File[]): Promise<Added> {
  let pictures = have;
  let refusal: string | null = null;
  for (const file of files) {
    if (!PICTURE_TYPES.includes(file.type)) {
      refusal ??= `${quoted(file.name)} cannot be sent: only PNG, JPEG, GIF and WebP pictures can.`;
    } else if (pictures.length >= MOST_PICTURES) {
      refusal ??= `At most ${MOST_PICTURES} pictures go with a prompt.`;
    } else if (base64Size(pictures) + base64Length(file.size) > MOST_BYTES) {
      refusal ??= `${quoted(file.name)} is too large: the pictures of a prompt may have about 6 MB together.`;
    } else {
      const data = await readBase64(file);
      if (data === null) {
        refusal ??= `${quoted(file.name)} could not be read.`;
      } else {
        pictures = [...pictures, { id: crypto.randomUUID(), name: file.name, mimeType: file.type, data }];
      }
    }
  }
  return { pictures, refusal };
}

function quoted(name: string): string {
  return name === "" ? "This file" : `“${name}”`;
}

function base64Size(pictures: readonly Picture[]): number {
  return pictures.reduce((sum, { data }) => sum + data.length, 0);
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Null where it cannot be read, or holds nothing. */
function readBase64(file: File): Promise<string | null> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => {
      const url = typeof reader.result === "string" ? reader.result : "";
      resolve(url.slice(url.indexOf(",") + 1) || null);
    };
    reader.onerror = () => resolve(null);
    reader.readAsDataURL(file);
  });
}
