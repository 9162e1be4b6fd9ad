// Cuts code into coloured pieces beside the page, one block at a time, so that drawing and writing never wait for it.
import type { CodeLanguage } from "./codeLanguages";
import { codeTokens } from "./codeTokens";

addEventListener("message", (event: MessageEvent<{ code: string; language: CodeLanguage }>) => {
  const { code, language } = event.data;
  codeTokens(code, language).then(postMessage, () => postMessage(null));
});
