// The addresses of editors.
import { expect, test } from "vitest";

import { editorAddress } from "./editors";

test("each editor is asked in its own way, and nothing but a whole path is handed on", () => {
  const path = "/w/a b/#1?x.rs";
  expect(editorAddress("vscode", path, 7)).toBe("vscode://file/w/a%20b/%231%3Fx.rs:7");
  expect(editorAddress("zed", path, 7)).toBe("zed://file/w/a%20b/%231%3Fx.rs:7");
  expect(editorAddress("idea", path, 7)).toBe("idea://open?file=%2Fw%2Fa%20b%2F%231%3Fx.rs&line=7");
  expect(editorAddress("none", path, 7)).toBeNull();
  expect(editorAddress("vscode", "javascript:alert(1)", 1)).toBeNull();
});
