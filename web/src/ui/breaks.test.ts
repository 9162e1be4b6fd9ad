// Tests where names may be broken.
import { expect, test } from "vitest";

import { namePartsOf } from "./breaks";

test.each([
  ["SessionAddedToWork", "Session|Added|To|Work"],
  ["sessionId", "session|Id"],
  ["HTTPServerStarted", "HTTP|Server|Started"],
  ["step2Done", "step2|Done"],
  ["session_id", "session_|id"],
  ["crates/model::Slice", "crates/|model::|Slice"],
  ["upload-resumed", "upload-|resumed"],
  ["ÄnderungGespeichert", "Änderung|Gespeichert"],
  ["Two words", "Two words"],
  ["word", "word"],
  ["", ""],
  ["会話追加", "会|話|追|加"],
])("%s: %s", (name, pieces) => {
  expect(namePartsOf(name).join("|")).toBe(pieces);
});
