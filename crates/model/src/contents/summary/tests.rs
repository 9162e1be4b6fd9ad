//! What a turn's line of the contents says.

use super::*;

fn check(prompt: &str, response: &str, expected: &str) {
    assert_eq!(extract_summary(prompt, response), expected, "{prompt}");
}

#[test]
fn the_first_line_that_means_something_is_taken() {
    check("\n\n# Fix the login page for Safari\n\nIt is broken.", "Sure!", "Fix the login page for Safari");
    check("Hi!\n\nCould you please add a retry to the S3 upload?", "", "Add a retry to the S3 upload?");
    check(
        "look at @crates/model/src/text.rs and https://github.com/a/b/pull/12",
        "",
        "look at text.rs and github.com/…/12",
    );
    check("/review src/lib.rs", "I reviewed the whole of the library and found three things.", "/review src/lib.rs");
}

#[test]
fn a_short_prompt_leaves_the_word_to_the_answer() {
    check("yes", "Great! I've renamed `Parser` to `Reader` in 12 files.", "Renamed Parser to Reader in 12 files");
    check(
        "2",
        "Sure.\n\nLet me look at the config first.\n\nThe port was taken by the old server.",
        "The port was taken by the old server",
    );
    check("fix the tests", "All 12 tests of the parser pass now.", "All 12 tests of the parser pass now");
    check("fix the tests", "Fixed.", "fix the tests");
    check("continue", "", "continue");
    check(
        "ok, and please go on with that, thanks",
        "I've moved the cache into its own module.",
        "Moved the cache into its own module",
    );
    check("修复登录页面的样式问题", "I fixed the style of the login page in all browsers.", "修复登录页面的样式问题");
}

#[test]
fn an_answer_that_only_says_how_it_ended_is_no_summary() {
    let with_call = |prompt: &str, response: &str, call_title: &str, expected: &str| {
        assert_eq!(summary_with_call(prompt, response, call_title), expected, "{prompt}");
    };
    check("run ls -la", "It ended with exit code 0.", "run ls -la");
    check("fix the login", "I've made the changes.", "fix the login");
    check("run ls", "It ended with exit code 0. The folder holds two old backups.", "The folder holds two old backups");
    with_call("again", "It ended with exit code 0.", "`cargo test -p model`", "cargo test -p model");
    with_call("do it", "Done. The changes were applied.", "Edit src/total.rs", "Edit src/total.rs");
    with_call("go on", "", "Edit src/total.rs", "Edit src/total.rs");
    with_call("again", "It ended with exit code 0.", "", "It ended with exit code 0");
    with_call("do it", "I clamped the total to zero.", "Edit src/total.rs", "Clamped the total to zero");
    with_call("do it", "Done.", "\u{200b}", "do it");
}

#[test]
fn a_paste_is_no_summary() {
    check("```\nlet a = 1;\n```\n\nWhy does this not compile on stable?", "", "Why does this not compile on stable?");
    check(
        "I get this error:\n\nTypeError: a is undefined\n    at f (x.js:1:2)",
        "",
        "I get this error: TypeError: a is undefined",
    );
    check(
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in b\n    go()\nKeyError: 'x'",
        "",
        "KeyError: 'x'",
    );
    check(
        "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`",
        "",
        "panicked at src/main.rs:3:5: index out of bounds",
    );
    check(
        "{\"a\": 1}",
        "The object has one key, a, whose value is a number.",
        "The object has one key, a, whose value is a number",
    );
    check("{\"a\": 1}", "", "{\"a\": 1}");
}

#[test]
fn nothing_is_marked() {
    for (prompt, response) in [("", ""), (" \n\t", "\n"), ("\u{200b}\u{202e}", "\u{1b}[0m")] {
        check(prompt, response, EMPTY_SUMMARY);
    }
    check("", "The build is green on all three systems.", "The build is green on all three systems");
}

#[test]
fn a_long_line_is_cut() {
    let words = "alpha ".repeat(40);
    check(&words, "", &format!("{}...", "alpha ".repeat(16).trim_end()));
    check(
        "We have a Go service that talks to S3 and it is deployed on three clusters with different settings. Can you add a retry with exponential backoff to the upload client? Thanks.",
        "",
        "Add a retry with exponential backoff to the upload client?",
    );
}

#[test]
fn what_stands_below_a_long_paste_is_seen() {
    let paste = "2026-01-02 10:00:00 INFO all is well\n".repeat(20_000);
    check(&format!("{paste}\nWhy does the worker stop after an hour?"), "", "Why does the worker stop after an hour?");
}

#[test]
fn a_block_is_no_summary() {
    let block = "```throughline:next\n{\n  \"label\": \"Write it: error: all\", \"command\": \"/write\"\n}\n```";
    check("go on", &format!("{block}\n\nThe loom has its requirements now."), "The loom has its requirements now");
    check("go on", &format!("Wrote the requirements of the loom.{block}"), "Wrote the requirements of the loom");
    check(
        "go on",
        &format!("Wrote the requirements of the loom:{}", &block[..50]),
        "Wrote the requirements of the loom",
    );
    check("go on", block, "go on");
    check("", block, EMPTY_SUMMARY);
    check(block, "", EMPTY_SUMMARY);
    check(&format!("{block}\nWhy does nobody see this block?"), "", "Why does nobody see this block?");
}
