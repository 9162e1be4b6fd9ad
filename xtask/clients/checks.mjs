// What holds for every tool, whatever it does.
import assert from "node:assert/strict";

/** Hosts are known to refuse or cut what has 50,000. */
const MOST_CHARACTERS = 40_000;
/** An error is a sentence, not a page. */
const MOST_OF_AN_ERROR = 600;
const MOST_OF_A_DESCRIPTION = 300;
/** 2,500 tokens: what every conversation of every agent pays. */
const MOST_OF_THE_LIST = 10_000;

/** What tools/list says is what the table says. */
export function checkList(listed, rows) {
  assert.deepEqual(listed.map((tool) => tool.name), rows.map((row) => row.name), "the tools, in their order");
  for (const tool of listed) {
    const row = rows.find(({ name }) => name === tool.name);
    assert.deepEqual(tool.annotations, row.annotations, `${tool.name}: annotations`);
    const required = new Set(tool.inputSchema.required ?? []);
    const takes = Object.keys(tool.inputSchema.properties ?? {}).map((name) => (required.has(name) ? `${name}*` : name));
    assert.deepEqual(takes.toSorted(), row.takes.toSorted(), `${tool.name}: arguments`);
    assert.equal(tool.outputSchema, undefined, `${tool.name}: no schema of a result`);
    assert.equal(tool.inputSchema.additionalProperties, false, `${tool.name}: a closed schema`);
    const { length } = tool.description ?? "";
    assert.ok(length > 0 && length <= MOST_OF_A_DESCRIPTION, `${tool.name}: a description of ${length} characters`);
    const text = JSON.stringify(tool);
    assert.ok(!text.includes("$schema") && !text.includes('"format"'), `${tool.name}: ${text}`);
  }
  const { length } = JSON.stringify(listed);
  assert.ok(length <= MOST_OF_THE_LIST, `the list has ${length} bytes`);
}

/** The text of what a call came to. What is structured beside it says the text too, since some hosts show only that. */
export function textOf(result, { what, fails }) {
  const shown = `${what}: ${JSON.stringify(result)}`;
  assert.deepEqual(result.content.map(({ type }) => type), ["text"], shown);
  const [{ text }] = result.content;
  assert.equal(result.structuredContent?.message ?? text, text, `structured content hides the text in some hosts. ${shown}`);
  assert.equal(result.isError ?? false, fails, shown);
  assert.ok(text.length > 0 && text.length <= MOST_CHARACTERS, `${text.length} characters. ${shown}`);
  if (fails) {
    assert.match(text, /^Nothing was done: .+\.$/s, shown);
    assert.ok(text.length <= MOST_OF_AN_ERROR, `an error of ${text.length} characters. ${shown}`);
  }
  return text;
}

/** Calls that every tool refuses, made from its schema: each with what the refusal must name. */
export function badCalls(tool, works, numbers = []) {
  const { properties = {}, required = [] } = tool.inputSchema;
  const known = Object.keys(properties);
  const bad = [{ with: { ...works, no_such_argument: 1 }, says: ["no_such_argument", ...known] }];
  for (const name of required) {
    const { [name]: _, ...rest } = works;
    bad.push({ with: rest, says: [name] }, { with: { ...works, [name]: null }, says: [name] });
  }
  for (const [name, schema] of Object.entries(properties)) {
    for (const value of numbers.includes(name) ? WRONG_NUMBERS : wrongValues(schema)) {
      bad.push({ with: { ...works, [name]: value }, says: [name] });
    }
  }
  return bad.map((call) => ({ ...call, fails: true }));
}

/** For texts that may be bare numbers from 1. */
const WRONG_NUMBERS = [{ an: "object" }, true, ["a list"], "a text", 0, -1, 1.5, 2 ** 63];

function wrongValues(schema) {
  const wrong = [{ an: "object" }, true];
  switch (schema.type) {
    case "string":
      wrong.push(5, ["a list"]);
      if (schema.enum) wrong.push("no-such-word");
      if (schema.maxLength !== undefined) wrong.push("1".repeat(schema.maxLength + 1));
      break;
    case "integer":
      wrong.push("a text", 1.5, -1);
      if (schema.minimum !== undefined) wrong.push(schema.minimum - 1);
      break;
    case "array":
      wrong.push("a text", 5, [5], Array(schema.maxItems + 1).fill("a text"));
      break;
    case "object":
      wrong.splice(0, 1, "a text", 5, ["a list"]);
      wrong.push(Object.fromEntries(Array.from({ length: schema.maxProperties + 1 }, (_, number) => [number, "a text"])));
      if (schema.additionalProperties) wrong.push({ a: 5 }, { a: "1".repeat(schema.additionalProperties.maxLength + 1) });
      break;
    case "boolean":
      wrong.splice(1, 1, "a text");
      break;
    default:
      assert.fail(`no wrong value is known for ${JSON.stringify(schema)}`);
  }
  return wrong;
}
