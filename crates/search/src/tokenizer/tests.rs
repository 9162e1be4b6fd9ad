//! Which tokens a text has.

use proptest::prelude::*;

use super::*;

/// Each token as `position text`, wholes in angle brackets.
fn shape(text: &str) -> String {
    let shown = tokens(text).map(|token| match token.kind {
        TokenShape::Word | TokenShape::Part => format!("{}:{}", token.position, token.text),
        TokenShape::Whole | TokenShape::Signed => format!("{}:<{}>", token.position, token.text),
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn identifiers_are_kept_whole_and_split_into_parts() {
    for (text, expected) in [
        ("max_retry_count = 3", "0:<max_retry_count> 0:max 1:retry 2:count 3:3"),
        ("parseHttpResponse(x)", "0:<parsehttpresponse> 0:parse 1:http 2:response 3:x"),
        ("HTTPServer", "0:<httpserver> 0:http 1:server"),
        ("ERR_SOCKET_CLOSED", "0:<err_socket_closed> 0:err 1:socket 2:closed"),
        ("v1.2.3-rc.4", "0:<v1.2.3-rc.4> 0:v 1:1 2:2 3:3 4:rc 5:4"),
        ("src/event_log.rs:412", "0:src 1:<event_log.rs> 1:event 2:log 3:rs 4:412"),
        ("error[E0382]: moved", "0:error 1:<e0382> 1:e 2:0382 3:moved"),
        ("9f3ab12c4d", "0:9f3ab12c4d"),
        ("the end. Next", "0:the 1:end 2:next"),
        ("__init__ -flag --long", "0:init 1:flag 2:long"),
        ("C++, C# and C", "0:<c++> 0:c 1:<c#> 1:c 2:and 3:c"),
        ("C++17 a+++b x#y", "0:<c++> 0:c 1:17 2:a 3:b 4:x 5:y"),
        ("foo->bar std::vec", "0:foo 1:bar 2:std 3:vec"),
        ("全文検索 test", "0:全 1:文 2:検 3:索 4:test"),
        ("한국어", "0:한 1:국 2:어"),
        ("Straße STRASSE ΟΔΟΣ οδός İstanbul", "0:strasse 1:strasse 2:οδοσ 3:οδόσ 4:istanbul"),
        ("cafe\u{301} café", "0:café 1:café"),
        ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", "0:한 1:국"),
        ("", ""),
        ("+-*/ \0 …", ""),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn a_token_is_bounded_and_found_by_its_beginning() {
    let long = "x".repeat(10_000);
    let all: Vec<_> = tokens(&long).collect();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].text.len(), MAX_PART_BYTES);
    assert_eq!(all[0].span, 0..10_000);
    let snake = "ab_".repeat(10_000);
    assert!(tokens(&snake).all(|token| token.text.len() <= MAX_WHOLE_BYTES));
    assert_eq!(tokens(&snake).filter(|token| token.kind == TokenShape::Part).count(), 10_000);
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Z0-9_./:ßİςК\u{301}\u{307}検한\u{1161} +#-]{0,60}",
        "([a-zA-Z]{1,6}[_.-]?){1,40}",
    ]
}

proptest! {
    #[test]
    fn spans_are_on_borders_and_positions_never_fall(text in any_text()) {
        let mut last = 0;
        for token in tokens(&text) {
            prop_assert!(text.get(token.span.clone()).is_some_and(|span| !span.is_empty()));
            prop_assert!(token.position == last || token.position == last + 1);
            prop_assert!(!token.text.is_empty() && token.text.len() <= 3 * MAX_WHOLE_BYTES);
            last = token.position;
        }
    }

    #[test]
    fn the_same_text_gives_the_same_tokens(text in any_text()) {
        prop_assert_eq!(tokens(&text).collect::<Vec<_>>(), tokens(&text).collect::<Vec<_>>());
    }
}
