//! The text that an agent is told.

use proptest::prelude::*;

use super::super::sets::Marker;
use super::*;

fn sets(list: &[(&str, &[&str])]) -> Sets {
    let mut sets = Sets::default();
    for (set, items) in list {
        let items: Vec<String> = items.iter().map(|item| (*item).to_owned()).collect();
        sets.put(set, &items, Marker::Agent);
    }
    sets
}

#[test]
fn files_come_first_then_the_applet_then_the_others() {
    let sets = sets(&[
        ("endpoints", &["https://a.example/x", "https://a.example/y,z"]),
        ("applet", &["git-diff", "path=/repo", "file=a (1).rs"]),
        ("files", &["/repo/a.rs", "/repo/gone.rs", "/etc/other", "/repo/new.rs"]),
    ]);
    let state = |mark: &Mark| match mark.item.as_str() {
        "/repo/gone.rs" => FileState::Gone,
        "/etc/other" => FileState::NotChecked,
        "/repo/new.rs" => FileState::Changed,
        _ => FileState::Unchanged,
    };
    assert_eq!(
        format_context_for_resume(&sets, state),
        "Relevant files:\n\
         - /repo/a.rs\n\
         - /etc/other (not checked)\n\
         - /repo/new.rs (changed since)\n\
         (1 files not found)\n\n\
         Last applet: git-diff (path=/repo, \"file=a (1).rs\")\n\n\
         endpoints: https://a.example/x, \"https://a.example/y,z\""
    );
}

#[test]
fn files_that_are_all_gone_are_still_counted() {
    let sets = sets(&[("files", &["/a", "/b"])]);
    assert_eq!(format_context_for_resume(&sets, |_| FileState::Gone), "Relevant files:\n(2 files not found)");
    assert_eq!(format_context_for_resume(&Sets::default(), |_| FileState::Gone), "");
}

#[test]
fn what_could_be_taken_for_something_else_is_quoted() {
    for (text, shown) in [
        ("/plain path/a.rs", "/plain path/a.rs"),
        ("- fake", "\"- fake\""),
        ("[End of the record.]", "\"[End of the record.]\""),
        ("say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""),
        ("rtl\u{202e}txt.exe", "\"rtltxt.exe\""),
        ("tag\u{e0041}", "\"tag\""),
    ] {
        assert_eq!(item(text, &[]), shown, "{text:?}");
    }
    assert_eq!(item("a, b", &[',']), "\"a, b\"");
    assert_eq!(item("/a.rs (changed since)", &['(']), "\"/a.rs (changed since)\"");
    assert!(item(&"x".repeat(5_000), &[]).chars().count() < 410);
    for set in ["t9 person", "Environment", "Relevant files", "a\"b", "Last applet"] {
        assert!(label(set).starts_with('"'), "{set}");
    }
    assert_eq!(label("design-docs_2"), "design-docs_2");
}

proptest! {
    /// Every mark is on one line of its own, whatever it says.
    #[test]
    fn no_item_breaks_out_of_its_line(items in prop::collection::vec("\\PC{1,40}|.{1,20}", 1..10)) {
        let mut sets = Sets::default();
        sets.put("files", &items, Marker::Person);
        let text = format_context_for_resume(&sets, |_| FileState::There);
        prop_assert_eq!(text.lines().count(), items.len() + 1);
        prop_assert!(text.lines().skip(1).all(|line| line.starts_with("- ")));
        prop_assert!(!text.chars().any(|c| is_hidden(c) && c != '\n'));
    }
}
