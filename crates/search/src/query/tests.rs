//! What can be typed, and what it means.

use proptest::prelude::*;

use super::*;

#[test]
fn what_people_type_is_understood() {
    for (typed, expected) in [
        ("retry", "retry*"),
        ("retry ", "retry"),
        ("max retry", "max retry*"),
        ("conf* file ", "conf* file"),
        ("\"http response\"", "\"http response\""),
        ("fix \"http resp", "fix \"http resp\"*"),
        ("foo -bar", "foo -bar"),
        ("foo -\"a phrase\" ", "foo -\"a phrase\""),
        ("file:main.rs unwrap ", "unwrap file:main.rs"),
        ("-file:main.rs unwrap ", "unwrap -file:main.rs"),
        ("project:\"my thing\" x", "x project:my thing"),
        ("work:\"the loom\" -work:loop x ", "x work:the loom -work:loop"),
        ("tag:Bug -tag:api x ", "x tag:Bug -tag:api"),
        ("std::vec a:b http://x/y ", "std::vec a:b http://x/y"),
        ("exit:1 outcome:fail role:user ", "exit:1 outcome:fail role:prompt"),
        ("EXIT:-1 ", "exit:-1"),
        (
            "before:2026-02-01 after:2026-01-01T10:00:00+02:00 ",
            "before:2026-02-01T00:00:00.000Z after:2026-01-01T08:00:00.000Z",
        ),
        ("foo AND bar ", "foo bar"),
        ("c", "c"),
        ("C++", "C++"),
        ("src/x", "src/x"),
        ("--verbose ", "--verbose"),
        ("検索", "検索"),
        ("", ""),
        ("\"", ""),
        ("- * \"\" ", "-"),
        ("file: x ", "file: x"),
    ] {
        assert_eq!(Query::parse(typed).to_string(), expected, "{typed}");
    }
}

#[test]
fn what_makes_no_sense_is_told_and_the_rest_is_searched() {
    for (typed, left, note) in [
        ("exit:zero foo ", "foo", "exit:zero was left out: expected a number"),
        ("outcome:maybe foo ", "foo", "outcome:maybe was left out: expected ok or fail"),
        (
            "before:yesterday foo ",
            "foo",
            "before:yesterday was left out: expected a day like 2026-01-31 or an instant in RFC 3339",
        ),
        ("role:king foo ", "foo", "role:king was left out: expected prompt, answer, thought, tool, summary or title"),
        ("session:../x foo ", "foo", "session:../x was left out: expected the beginning of a session's id"),
        ("file:/// foo ", "foo", "file:/// was left out: expected letters or digits"),
        ("-> ", "->", "-> has no letters or digits"),
        ("fil:main.rs foo ", "fil:main.rs foo", "fil: is no filter, so it is looked for as words; did you mean file:?"),
        (
            "Proyect:shop foo ",
            "Proyect:shop foo",
            "Proyect: is no filter, so it is looked for as words; did you mean project:?",
        ),
        // What merely has a colon is nobody's mistake.
        ("std::vec http://x/y note:this a:b ", "std::vec http://x/y note:this a:b", ""),
    ] {
        let query = Query::parse(typed);
        assert_eq!((query.to_string().as_str(), query.notes.join("; ").as_str()), (left, note), "{typed}");
    }
}

#[test]
fn a_query_is_bounded() {
    let query = Query::parse(&"wort ".repeat(20_000));
    assert_eq!(query.clauses.len(), 48);
    assert_eq!(query.notes, ["only the first 4096 bytes were used", "only the first 48 words were used"]);
    let query = Query::parse(&"x-".repeat(50_000));
    assert_eq!(query.clauses[0].patterns[0].parts.len(), MAX_PARTS);
    assert!(Query::exact(&"ä".repeat(50_000)).raw.len() <= 4096);
}

#[test]
fn a_clause_may_stand_in_parts_or_whole() {
    let shapes = |typed: &str| -> Vec<String> {
        let query = Query::parse(typed);
        let patterns = query.clauses.iter().flat_map(|clause| &clause.patterns);
        patterns
            .map(|pattern| format!("{}{}", pattern.parts.join(" "), if pattern.prefix { "*" } else { "" }))
            .collect()
    };
    assert_eq!(shapes("HttpResp"), ["http resp*", "httpresp*"]);
    assert_eq!(shapes("9f3a"), ["9 f 3 a", "9f3a*"]);
    assert_eq!(shapes("event_log.rs:412 "), ["event log rs 412"]);
    assert_eq!(shapes("C++17"), ["c++ 17*"]);
    assert_eq!(shapes("C++"), ["c++"]);
    assert_eq!(shapes("error[E0382] "), ["error e 0382"]);
}

proptest! {
    #[test]
    fn nothing_that_can_be_typed_is_an_error(typed in any::<String>()) {
        let query = Query::parse(&typed);
        prop_assert_eq!(&query, &Query::parse(&typed));
    }

    #[test]
    fn odd_syntax_neither(typed in "[-\"*:a-z+#.\u{0}\u{202e} ]{0,40}") {
        let query = Query::parse(&typed);
        prop_assert!(query.clauses.len() <= 48);
    }
}
