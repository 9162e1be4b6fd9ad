// Pictures of an earlier prompt with their bytes, to be sent again: a new prompt refers to nothing.
import type { Answer, Http } from "../../api/http";
import type { Image, NewImage, SessionId } from "../../wire/names";

export async function wholeImages(http: Http, session: SessionId | null, images: readonly Image[]): Promise<Answer<readonly NewImage[]>> {
  const whole: NewImage[] = [];
  for (const { mimeType, data, body } of images) {
    const sha256 = body?.sha256;
    if (typeof sha256 !== "string" || session === null) {
      whole.push({ mimeType, data });
      continue;
    }
    const answer = await http.body(session, sha256);
    if (!answer.ok) {
      return answer;
    }
    whole.push({ mimeType, data: await base64Of(answer.value as unknown as Blob) });
  }
  return { ok: true, value: whole };
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let signs = "";
  // In pieces: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 32_768) {
    signs += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  }
  return btoa(signs);
}
