//! What is told from what.

use super::*;

fn kinds(text: &str) -> String {
    lines(text)
        .iter()
        .map(|line| match line.kind {
            Kind::Prose => 'w',
            Kind::Pasted => 'p',
            Kind::Error => 'e',
        })
        .collect()
}

#[test]
fn words_are_told_from_pastes() {
    for (text, expected) in [
        ("Fix this:\n```rust\nlet a = 1;\nerror: bad thing\n```\nThanks a lot", "wppepw"),
        ("Traceback (most recent call last):\n  File \"a.py\", line 3, in b\n    go()\nKeyError: 'x'", "pppe"),
        ("TypeError: a is undefined\n    at f (a.js:1:2)\n    at g (b.js:3:4)", "epp"),
        ("{\n  \"a\": 1,\n  \"b\": [2]\n}\nwhat is b?", "ppppw"),
        ("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old words here\n+new words here\n\nreview it", "ppppppw"),
        ("2026-01-02 10:00:00 INFO start\n2026-01-02 10:00:01 ERROR boom\nwhy does it stop?", "ppw"),
        (
            "import os\nimport sys\n\ndef main():\n    # do the work\n    run(sys.argv)\n\nAdd a flag for verbose output",
            "pppppw",
        ),
        // A fence is closed by as many signs as opened it, and not by others.
        ("````markdown\n```\nwords\n````\nTranslate this page", "ppppw"),
        ("~~~~\n~~~\n````\nwords\n~~~~\nTranslate this page", "pppppw"),
        ("```make test``` is what I ran\nTranslate this page for me", "pw"),
        ("<system-reminder>\nbe nice\n</system-reminder>\nAdd a flag", "pppw"),
        ("Let me know if this works for you.\nUse the new API; it is faster.\nReturn the list to the caller", "www"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "ppp"),
        ("id,name,city\n1,Anna,Ulm,x\n2,Bo,Bern,y", "ppp"),
    ] {
        assert_eq!(kinds(text), expected, "{text}");
    }
}
