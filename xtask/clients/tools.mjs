// Every tool of the mount, a row each, in the order in which they are listed. A new tool is a new row.
//
// A row says what tools/list must say of it and which calls must come to what; every way of reaching the mount makes all
// of them, in this order, on a session of its own. What holds for every tool (bad arguments, the shape of results, that a
// reader writes nothing) is not said here: checks.mjs tries it on each, from the tool's own schema.
//
//   name         as it is called
//   annotations  exactly these
//   takes        its arguments, in any order; those with a * are required
//   works        arguments with which it does something: what bad ones are made from
//   calls        [{ with, says, fails }]: arguments; a text that is the whole answer, or patterns that are all in it; and
//                whether it is the tool's own error. Each part may be a function of the scene.
//   after        what is to be seen over HTTP when the calls are done
//
// A scene is { world, way, session, api }: the sessions that were prompted (see clients.rs), the way in use, the session
// it reaches, and `api(path)`, which gets JSON.
import assert from "node:assert/strict";

const MARKS = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false };
const READS = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

const pretty = (value) => JSON.stringify(value, null, 2);

export const TOOLS = [
  {
    name: "set_relevant_context",
    annotations: MARKS,
    takes: ["setName*", "items*", "mode"],
    works: { setName: "files", items: ["/orchard/bell.md"] },
    calls: [
      { with: { setName: "files", items: ["/a.rs", "/b.rs", "/a.rs"] }, says: "Set files: 2 items." },
      { with: { setName: "files", items: ["/c.rs"], mode: "merge" }, says: "Merged files: 3 items." },
      { with: { setName: "files", items: ["/c.rs"], mode: "merge" }, says: "Nothing changed in files: 3 items." },
      { with: { setName: "ports", items: ["8080"] }, says: "Set ports: 1 item." },
      { with: { setName: "ports", items: [], mode: null }, says: "Cleared ports." },
      { with: { setName: "fruit", items: ["quince"] }, says: ["Set fruit: 1 item.", "none of the known sets"] },
      { with: { setName: "files", items: ["two\nlines"] }, fails: true, says: ["is not one line"] },
      { with: { setName: "", items: ["/a.rs"] }, fails: true, says: ["a set's name is one line"] },
    ],
    after: async ({ session, api }) => {
      const { context } = await api(`/sessions/${session.id}/context`);
      assert.deepEqual(context, { files: ["/a.rs", "/b.rs", "/c.rs"], fruit: ["quince"] });
    },
  },
  {
    name: "get_relevant_context",
    annotations: READS,
    takes: ["setName"],
    works: {},
    calls: [
      { with: {}, says: pretty({ files: ["/a.rs", "/b.rs", "/c.rs"], fruit: ["quince"] }) },
      { with: { setName: "files" }, says: pretty({ files: ["/a.rs", "/b.rs", "/c.rs"] }) },
      { with: { setName: "endpoints" }, says: pretty({ endpoints: [] }) },
      { with: { setName: null }, says: ["quince"] },
      { with: { setName: "x".repeat(100) }, fails: true, says: ["a set's name is one line of 1 to 64 characters"] },
    ],
  },
];
