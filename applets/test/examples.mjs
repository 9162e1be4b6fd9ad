// What a session may hold, for the bundled applets to show.
import { deflateSync } from "node:zlib";

const code = `use std::collections::BTreeMap;

/// Counts how often each word is in a text.
pub fn count(text: &str) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    for word in text.split_whitespace() {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_has_a_word_twice_counts_it_twice_and_the_line_is_long_enough_to_need_scrolling() {
        assert_eq!(count("a b a"), BTreeMap::from([("a", 2), ("b", 1)]));
    }
}
`;

const file = (name, status, added, removed, more = {}) => ({ path: `/home/ada/words/${name}`, name, status, by: "session", compared: "lines", lines: { added, removed }, turns: [2], ...more });
const line = (kind, text) => ({ kind, text });

const diff = {
  file: file("src/lib.rs", "changed", 3, 2),
  hunks: [
    {
      oldStart: 3,
      newStart: 3,
      lines: [
        line("same", "/// Counts how often each word is in a text."),
        line("removed", "pub fn count(text: &str) -> HashMap<String, usize> {"),
        line("removed", "    let mut counts = HashMap::new();"),
        line("added", "pub fn count(text: &str) -> BTreeMap<&str, usize> {"),
        line("added", "    let mut counts = BTreeMap::new();"),
        line("same", "    for word in text.split_whitespace() {"),
      ],
    },
    { oldStart: 120, newStart: 120, lines: [line("same", "}"), line("added", "// <img src=x onerror=alert(1)> is text, however long the line that it is a part of may be, and wraps on demand"), line("same", "")] },
  ],
};

const row = (slug, name, description, bundled = true) => ({ slug, name, description, bundled, createdAt: "2026-11-19T00:00:00.000Z", updatedAt: "2026-11-19T00:00:00.000Z", perSession: false, hash: "h" });

/** A PNG of a sunset, made here so that nothing binary is kept. */
function png(width, height) {
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length, 0);
    body.copy(whole, 4);
    whole.writeUInt32BE(crc32(body), body.length + 4);
    return whole;
  };
  const pixels = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const inSun = Math.hypot(x - width * 0.62, y - height * 0.55) < height * 0.18;
      const colour = inSun ? [255, 224, 150] : [120 + (135 * y) / height, 70 + (90 * y) / height, 110 - (60 * y) / height];
      colour.forEach((value, at) => (pixels[y * (width * 3 + 1) + 1 + x * 3 + at] = value));
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), chunk("IHDR", head), chunk("IDAT", deflateSync(pixels)), chunk("IEND", Buffer.alloc(0))]);
}

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
  }
  return ~crc >>> 0;
}

const sunset = png(480, 300);
const home = "/home/ada/words";
const files = {
  [`${home}/src/lib.rs`]: { content: code, hash: "a1" },
  [`${home}/windows.txt`]: { content: "one\r\ntwo\r\n", hash: "b1" },
  [`${home}/sunset.png`]: { content: sunset.toString("base64"), encoding: "base64", bytes: sunset.length },
  [`${home}/data.bin`]: { content: "AAEC", encoding: "base64" },
  [`${home}/long.log`]: { content: "first line\n".repeat(300), cut: true, hash: null },
};
const directory = (path, ...names) => ({ path, files: names.map((name) => (name.endsWith("/") ? { name: name.slice(0, -1), type: "directory", size: 4096 } : { name, type: name === "latest" ? "link" : "file", size: name.length * 777 })) });
const folders = {
  "": directory(home, "src/", "tests/", "target/", "Cargo.toml", "Cargo.lock", "README.md", "sunset.png", "latest", "a-file-with-quite-a-long-name-that-has-to-go-on-in-the-next-line.txt"),
  [`${home}/src`]: directory(`${home}/src`, "bin/", "lib.rs"),
  [`${home}/tests`]: directory(`${home}/tests`),
};
folders[home] = folders[""];

const plan = {
  title: "Count words in a text",
  running: true,
  turns: 4,
  plan: [
    { content: "Read how words are counted now", priority: "medium", status: "completed" },
    { content: "Keep the words in order", priority: "high", status: "completed" },
    { content: "Write a test for a word that is there twice, and for a text that has no words at all", priority: "medium", status: "in_progress" },
    { content: "Say in the README what counts as a word", priority: "high", status: "pending" },
    { content: "Release", priority: "low", status: "pending" },
  ],
  offers: [{ block: "b1", title: "Count in parallel" }, { block: "b2", title: "Leave out words that are too common to say anything" }],
};
const idle = { title: "A new session", running: false, turns: 0, plan: [], offers: [] };

const status = {
  git: true,
  gitTrouble: null,
  lines: { added: 1_210, removed: 48 },
  more: 0,
  earlierLeftOut: false,
  files: [
    file("README.md", "changed", 4, 1),
    file("crates/counting/src/implementation/of_the_counter/ordered_words.rs", "created", 1_203, 0),
    file("src/lib.rs", "changed", 3, 2),
    file("src/old.rs", "deleted", 0, 45),
    file("src/words.rs", "moved", 0, 0, { from: "/home/ada/words/src/text.rs" }),
    file("sunset.png", "created", 0, 0, { compared: "binary", lines: null }),
  ],
};

const applets = [
  row("standup", "Stand-up", "What everybody did yesterday, and what is in their way.", false),
  row("release-checklist", "Release checklist", "Each step of a release with who does it.", false),
  ...["applet-browser", "counter", "file-browser", "git-diff", "git-status", "image-viewer", "plan", "text-editor"].map((slug) => row(slug, slug, `What ${slug} is for, in a sentence.`)),
];

const refused = { error: "not_granted" };

/** Each of them: `slug`, what it shows (`name`), what a host gives it, and words that are then on the page. */
export const EXAMPLES = [
  { slug: "counter", name: "counted", state: { count: 1_204 }, shows: "1,204" },
  { slug: "plan", name: "steps and offers", tools: { session_plan: plan }, shows: "2 of 5 steps done" },
  { slug: "plan", name: "nothing", tools: { session_plan: idle }, shows: "There is no plan yet" },
  { slug: "file-browser", name: "a folder", tools: { list_directory: folders }, shows: "Cargo.toml" },
  { slug: "file-browser", name: "an empty folder", tools: { list_directory: folders }, params: { path: `${home}/tests` }, shows: "This folder is empty." },
  { slug: "file-browser", name: "not granted", tools: { list_directory: refused }, shows: "Allow reading files above" },
  { slug: "text-editor", name: "a file", files, params: { path: `${home}/src/lib.rs`, line: "6" }, shows: "Line 6" },
  { slug: "text-editor", name: "kept changes, and a file that was changed", files, state: { drafts: { [`${home}/src/lib.rs`]: { text: `${code}// more\n`, hash: "a0", at: 1 } } }, params: { path: `${home}/src/lib.rs` }, shows: "somebody changed the file since" },
  { slug: "text-editor", name: "no text", files, params: { path: `${home}/data.bin` }, shows: "not a text file" },
  { slug: "text-editor", name: "no file", shows: "No file was chosen." },
  { slug: "git-status", name: "changes", tools: { git_status: status }, shows: "6 files, 1,210 lines added, 48 removed." },
  { slug: "git-status", name: "one line", tools: { git_status: { ...status, lines: { added: 1, removed: 0 }, files: [file("README.md", "changed", 1, 0)], more: 1 } }, shows: "2 files, 1 line added, 0 removed." },
  { slug: "git-status", name: "no repository", tools: { git_status: { ...status, git: false, files: [] } }, shows: "does not work in a git repository" },
  { slug: "git-diff", name: "lines", tools: { git_diff: { [diff.file.path]: diff } }, params: { path: diff.file.path }, shows: "3 lines added, 2 removed." },
  { slug: "git-diff", name: "one line", tools: { git_diff: { [diff.file.path]: { ...diff, file: { ...diff.file, lines: { added: 1, removed: 0 } } } } }, params: { path: diff.file.path }, shows: "1 line added, 0 removed." },
  { slug: "git-diff", name: "wrapped lines", tools: { git_diff: { [diff.file.path]: diff } }, state: { wrap: true }, params: { path: diff.file.path }, shows: "3 lines added, 2 removed." },
  { slug: "git-diff", name: "not granted", tools: { git_diff: refused }, params: { path: diff.file.path }, shows: "Allow reading files above" },
  { slug: "image-viewer", name: "a picture", files, params: { path: `${home}/sunset.png` }, shows: "480 × 300 pixels" },
  { slug: "image-viewer", name: "its own size", files, state: { actual: true }, params: { path: `${home}/sunset.png` }, shows: "480 × 300 pixels" },
  { slug: "image-viewer", name: "not granted", tools: { read_file: refused }, params: { path: `${home}/sunset.png` }, shows: "Allow reading files above" },
  { slug: "applet-browser", name: "applets", tools: { applet_list: { applets } }, shows: "Stand-up" },
];

export { folders, files, home };
