//! What matches, and where.

use proptest::prelude::*;

use super::*;

fn found<'t>(typed: &str, text: &'t str) -> Option<&'t str> {
    Query::parse(typed).matches(text).map(|Match { at }| &text[at])
}

#[test]
fn a_text_matches_by_the_words_as_typed_or_by_tokens() {
    for (typed, text, expected) in [
        ("retry", "set max_retry_count", Some("retry")),
        ("HttpResponse", "parseHttpResponse()", Some("HttpResponse")),
        ("http response ", "parseHttpResponse()", Some("Http")),
        ("\"http response\"", "parseHttpResponse()", Some("HttpResponse")),
        ("\"response http\"", "parseHttpResponse()", None),
        ("CONNREF", "connect ECONNREFUSED 127.0.0.1", Some("CONNREF")),
        ("1.2.3", "v1.2.3-rc.4", Some("1.2.3")),
        ("count max", "max_retry_count", Some("max")),
        ("run fast", "fast runners run", Some("fast")),
        ("run slow", "fast runners run", None),
        ("fast runn", "runners run fast", Some("runners")),
        ("fast runn ", "runners run fast", None),
        ("foo -bar", "foo and baz", Some("foo")),
        ("foo -bar", "foo and bar", None),
        ("foo -\"a b\"", "foo b a", Some("foo")),
        ("foo -\"a b\"", "foo a b", None),
        ("STRASSE", "in der Straße", Some("Straße")),
        ("straße", "STRASSE", Some("STRASSE")),
        ("café", "cafe\u{301} noir", Some("cafe\u{301}")),
        ("istanbul", "İSTANBUL", Some("İSTANBUL")),
        ("検索", "全文検索です", Some("検索")),
        ("->", "foo->bar", Some("->")),
        ("->", "foo bar", None),
        ("C++", "we use c and go", None),
        ("C++ ", "we use C++17", Some("C++")),
        ("role:tool ", "anything", Some("")),
    ] {
        assert_eq!(found(typed, text), expected, "{typed} in {text}");
    }
}

#[test]
fn exact_looks_at_every_character_and_at_capitals_if_there_are_any() {
    let exact = |needle: &str, text: &str| Query::exact(needle).matches(text).is_some();
    assert!(exact("foo(b", "see Foo(bar)"));
    assert!(!exact("Foo(B", "see Foo(bar)"));
    assert!(exact(".*", "a.*b"));
    assert!(!exact(".*", "ab"));
    assert!(!exact("", "ab"));
}

#[test]
fn a_place_far_inside_a_large_text_is_found() {
    let mut text = "ä lorem ipsum ".repeat(40_000);
    let at = text.len();
    text.push_str("Größe_XYZ the end");
    assert_eq!(Query::parse("grösse_xyz").matches(&text), Some(Match { at: at..at + "Größe_XYZ".len() }));
    assert_eq!(Query::parse("lorem grüße ").matches(&text), None);
    assert!(Query::parse("lorem xyz ").matches(&text).is_some());
}

#[test]
fn places_of_a_pattern_are_told_from_its_first_part_to_its_last() {
    let query = Query::parse("\"a b c\" ");
    let text = "a a b c a b a b c";
    let places = Scanner::new(&query).places(text, 10);
    assert_eq!(places, [(0, 2..7), (0, 12..17)]);
}

/// What `Needle` does, without windows.
fn plainly(needle: &str, text: &str) -> bool {
    let fold = |text: &str| {
        let mut folded = String::new();
        text.chars().for_each(|c| crate::tokenizer::fold_char(c, &mut folded));
        folded
    };
    fold(text).contains(&fold(needle))
}

proptest! {
    #[test]
    fn windows_do_not_change_what_is_found(
        before in 65_400_usize..65_700, needle in "[aßKİk検]{1,6}", text in "[aAßsSKkİi検 ]{0,30}"
    ) {
        let text = format!("{}{text}", "x".repeat(before));
        let place = Needle::folded(&needle).unwrap().find(&text);
        prop_assert_eq!(place.is_some(), plainly(&needle, &text));
        if let Some(place) = place {
            prop_assert!(plainly(&needle, &text[place]));
        }
    }

    #[test]
    fn an_identifier_finds_a_text_that_has_it(
        identifier in "[a-zA-Z0-9]{1,12}([_./:-][a-zA-Z0-9]{1,8}){0,3}", before in "[a-z (]{0,9}", after in "[)\\] ,;]{1,2}"
    ) {
        let text = format!("{before} {identifier}{after}");
        // By its tokens alone, not because the text holds it as typed.
        let mut query = Query::parse(&format!("{identifier} "));
        query.raw.clear();
        prop_assert!(query.matches(&text).is_some(), "{} in {}", query, text);
    }

    #[test]
    fn nothing_panics(typed in any::<String>(), text in any::<String>()) {
        if let Some(Match { at }) = Query::parse(&typed).matches(&text) {
            prop_assert!(text.get(at).is_some());
        }
    }
}
