// What the server said, as an applet is told it: by the server's codes, since a status is not always there.
import { expect, test } from "vitest";

import { refusalOf } from "./refusal";

const refused = (code: string, status: number, details: object = {}) => refusalOf({ kind: "refused", status, code, message: "the words", details });

test.each([
  // Over the WebSocket, without a status.
  ["applet_state_conflict", 0, "conflict"],
  ["applet_state_too_large", 0, "too_large"],
  ["applet_state_too_deep", 0, "too_large"],
  ["applet_not_found", 0, "not_found"],
  ["too_many_requests", 0, "busy"],
  ["invalid_frame", 0, "bad_arguments"],
  ["applet_slug_invalid", 0, "bad_arguments"],
  // Over HTTP.
  ["applet_changed", 409, "conflict"],
  ["file_changed", 412, "conflict"],
  ["not_granted", 403, "not_granted"],
  ["path_not_allowed", 403, "not_found"],
  ["file_not_found", 404, "not_found"],
  ["session_deleted", 404, "not_found"],
  ["output_gone", 410, "not_found"],
  ["no_such_version", 404, "not_found"],
  ["no_repository", 409, "not_found"],
  ["file_not_changed", 404, "not_found"],
  ["not_a_file", 400, "bad_arguments"],
  ["directory_not_absolute", 400, "bad_arguments"],
  ["file_too_large", 413, "too_large"],
  ["prompt_too_long", 413, "too_large"],
  ["queue_full", 409, "busy"],
  ["turn_running", 409, "busy"],
  ["stopping", 503, "busy"],
  ["storage_busy", 503, "busy"],
  ["marks_full", 429, "busy"],
  // Nothing that the applet could do about it.
  ["applet_state_unreadable", 409, "failed"],
  ["applet_files_unusable", 503, "failed"],
  ["storage_full", 507, "failed"],
  ["internal", 500, "failed"],
])("%s with the status %i is %s", (code, status, told) => {
  expect(refused(code, status)).toMatchObject({ message: "The words.", data: { code: told } });
});

test("a conflict says which version there is, and nothing else of what the server knows", () => {
  expect(refused("applet_state_conflict", 409, { version: 7, hash: "h" }).data).toEqual({ code: "conflict", version: 7 });
  expect(refused("applet_changed", 409, { version: "7" }).data).toEqual({ code: "conflict" });
});

test.each(["unreachable", "signed_out"] as const)("%s: no answer came", (kind) => {
  expect(refusalOf({ kind }).data).toEqual({ code: "timeout" });
});
