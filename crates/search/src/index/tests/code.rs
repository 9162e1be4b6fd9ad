//! What people look for in code, each against a text that has it and others that do not.

use super::*;

const TEXTS: [&str; 16] = [
    "let max_retry_count = 3;",
    "raise ERR_SOCKET_CLOSED from the pool",
    "fn parseHttpResponse(bytes)",
    "at event_log.rs:412:9 in append",
    "crates/session_store/src/lib.rs",
    "error[E0382]: borrow of moved value",
    "connect ECONNREFUSED 127.0.0.1:5432",
    "HashMap<String, Vec<u8>> is slow",
    "call foo->bar(baz)",
    "released v1.2.3-rc.4 today",
    "commit 9f3ab12c4d on main",
    "the tests are running and indexed now",
    "全文検索と搜索引擎",
    "rewritten in C++ and C#",
    "calc cc cat c cargo check clippy create close",
    "Grüße aus der Straße, İstanbul",
];

#[test]
fn every_row_of_the_table_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let pieces: Vec<Piece> = (0..).zip(TEXTS).map(|(turn, text)| piece(1, turn, text)).collect();
    let index = filled(dir.path(), &pieces);
    for (typed, turn) in [
        ("retry", 0),
        ("max_retry_count", 0),
        ("maxRetryCount", 0),
        ("retry_count", 0),
        ("SOCKET_CLOSED", 1),
        ("HttpResponse", 2),
        ("http response", 2),
        ("\"http response\"", 2),
        ("parse_http_response", 2),
        ("parsehttpresponse", 2),
        ("parseHtt", 2),
        ("event_log.rs:412", 3),
        ("event_log.rs", 3),
        ("session_store/src", 4),
        ("src/lib.rs", 4),
        ("E0382", 5),
        ("error[E0382]", 5),
        ("127.0.0.1:5432", 6),
        ("ECONNREFUSED", 6),
        ("HashMap<String", 7),
        ("foo->bar", 8),
        ("1.2.3", 9),
        ("v1.2.3", 9),
        ("9f3ab1", 10),
        ("9f3ab12c4d", 10),
        ("run", 11),
        ("index", 11),
        ("検索", 12),
        ("搜索", 12),
        ("C++", 13),
        ("C#", 13),
        ("grüsse", 15),
        ("STRASSE", 15),
        ("istanbul", 15),
    ] {
        assert_eq!(found(&index, typed), [format!("1.{turn}")], "{typed}");
        // The scanner finds the same texts.
        let query = Query::parse(typed);
        assert!(query.matches(TEXTS[turn]).is_some(), "{typed}");
    }
}

#[test]
fn what_stands_in_another_order_is_no_phrase() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "parseHttpResponse"), piece(1, 2, "response of http")]);
    assert_eq!(found(&index, "\"http response\" "), ["1.1"]);
    assert_eq!(found(&index, "\"response of\" "), ["1.2"]);
    assert_eq!(found(&index, "\"response http\" "), Vec::<String>::new());
}

#[test]
fn nothing_that_can_be_typed_breaks_a_search() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox")]);
    let long = "x".repeat(100_000);
    let many = "a_b ".repeat(30_000);
    for typed in [
        "\"",
        "\"\"",
        "((((",
        "a AND OR NOT",
        "*",
        "**",
        "-",
        "--",
        "-\"",
        "\0",
        "\u{202e}x",
        ":::",
        "^~\\",
        "[a TO z]",
        "text:fox",
        "session:",
        "session:-",
        "+fox",
        "fox~2",
        "/.*/",
        "\u{10ffff}",
        long.as_str(),
        many.as_str(),
    ] {
        index.search(&Query::parse(typed), &wanted()).unwrap();
        index.search(&Query::exact(typed), &wanted()).unwrap();
    }
}
