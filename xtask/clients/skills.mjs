// The skills that come with the program, as resources and as prompts of the mount. A new file is a new line.
import assert from "node:assert/strict";

const SKILLS = "throughline://skills/";
const FILES = [
  "throughline/SKILL.md",
  "throughline/references/next.md",
  "throughline/references/usecase.md",
  "throughline/references/eventmodel.md",
  "throughline/references/tasks.md",
  "pipeline/SKILL.md",
  "pipeline/phases/research.md",
  "pipeline/phases/requirements.md",
  "pipeline/phases/architecture.md",
  "pipeline/phases/plan.md",
  "pipeline/phases/tasks.md",
  "pipeline/phases/build.md",
];
/** Some hosts put both lists in front of every conversation. */
const MOST_OF_THE_RESOURCES = 4_000;
const MOST_OF_THE_PROMPTS = 1_500;
const MOST_CHARACTERS = 20_000;

export async function checkResources(client) {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri), FILES.map((file) => SKILLS + file), "the resources, in their order");
  assert.ok(JSON.stringify(resources).length <= MOST_OF_THE_RESOURCES, "the list of resources");
  for (const { uri, size } of resources) {
    const { contents } = await client.readResource({ uri });
    assert.equal(contents.length, 1, uri);
    const [{ text, mimeType }] = contents;
    assert.deepEqual([contents[0].uri, mimeType, Buffer.byteLength(text)], [uri, "text/markdown", size]);
  }
  const next = await client.readResource({ uri: `${SKILLS}throughline/references/next.md` });
  assert.match(next.contents[0].text, /^# throughline:next$.*^```throughline:next$/ms);
  for (const uri of [`${SKILLS}none/SKILL.md`, `${SKILLS}throughline/../pipeline/SKILL.md`, "file:///etc/passwd"]) {
    await assert.rejects(client.readResource({ uri }), /there is no resource.*resources\/list/s, uri);
  }
}

export async function checkPrompts(client) {
  const { prompts } = await client.listPrompts();
  const takes = ({ name, arguments: list }) => [name, ...list.map((one) => (one.required ? `${one.name}*` : one.name))];
  assert.deepEqual(prompts.map(takes), [["next", "work"], ["pipeline", "work*", "goal"]], "the prompts");
  assert.ok(JSON.stringify(prompts).length <= MOST_OF_THE_PROMPTS, "the list of prompts");

  const said = async (request) => {
    const { messages } = await client.getPrompt(request);
    assert.deepEqual(messages.map(({ role, content }) => [role, content.type]), [["user", "text"]]);
    const { text } = messages[0].content;
    assert.ok(text.length <= MOST_CHARACTERS, `${text.length} characters`);
    return text;
  };
  assert.match(await said({ name: "next", arguments: { work: "loom" } }), /named "loom".*# throughline:next/s);
  assert.match(await said({ name: "next" }), /# throughline:next/);
  assert.match(
    await said({ name: "pipeline", arguments: { work: "loom", goal: "Weave faster." } }),
    /^Use the pipeline skill: phase research of the work loom\. What is wanted: Weave faster\.$/m,
  );
  await assert.rejects(client.getPrompt({ name: "pipeline" }), /work is missing/);
  await assert.rejects(client.getPrompt({ name: "pipeline", arguments: { work: "a\nb" } }), /work is one line/);
  await assert.rejects(client.getPrompt({ name: "none" }), /there is no prompt "none"; there are next and pipeline/);
}
