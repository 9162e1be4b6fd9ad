//! Makes a title of a summary.
//!
//! Invariant: the title is a part of the summary but for its first letter and the dots of a cut, so a reader finds its turn.

use super::MAX_TITLE_CHARS;
use super::boilerplate::{Speaker, without_openings};
use super::cut::title_length;
use super::inline::plain_line;
use super::sentence::{is_wide, sentences};
use super::summary::capitalised;
use super::terms::{content_count, is_stop, topic_terms};

/// A summary made short: one clause, no closing marks, no question's opening.
pub(super) fn as_title(summary: &str) -> String {
    let line = plain_line(summary);
    let dotless = line.trim_end_matches("...");
    let was_cut = dotless.len() < line.len();
    let point = without_question(pointed(dotless));
    let fits = !was_cut && point.chars().count() <= MAX_TITLE_CHARS;
    let point = without_idle_end(point);
    let parts = sentences(point);
    let sentence = parts.iter().copied().find(|part| !topic_terms(part).is_empty()).unwrap_or(point);
    let clause = closed(if fits { point } else { first_clause(pointed(sentence)) });
    let title = title_length(&capitalised(clause));
    let ends_in_word = was_cut || title.chars().count() < clause.chars().count();
    if title.ends_with("...") {
        title
    } else if ends_in_word {
        without_loose_words(&title).to_owned()
    } else {
        closed(&title).to_owned()
    }
}

/// Without closing sentences that tell no topic: "What can we do?"
fn without_idle_end(line: &str) -> &str {
    let mut rest = line;
    for sentence in sentences(line).into_iter().skip(1).rev() {
        if !topic_terms(sentence).is_empty() {
            break;
        }
        rest = rest.trim_end().strip_suffix(sentence).unwrap_or(rest);
    }
    rest
}

fn pointed(line: &str) -> &str {
    let point = without_openings(line, Speaker::Person);
    if point.is_empty() { line } else { point }
}

/// A cut title does not end in "for the".
fn without_loose_words(title: &str) -> &str {
    let mut title = closed(title);
    while let Some((before, last)) = title.rsplit_once(' ') {
        if !is_stop(&last.to_lowercase()) || content_count(before) < 2 {
            break;
        }
        title = closed(before);
    }
    title
}

/// "How do I set up X" → "set up X".
fn without_question(line: &str) -> &str {
    const OPENINGS: &[&str] = &[
        "how do i ",
        "how do we ",
        "how can i ",
        "how can we ",
        "how should i ",
        "how should we ",
        "how would i ",
        "how to ",
        "what's the best way to ",
        "what is the best way to ",
        "i have a ",
        "i have an ",
        "i have ",
        "we have a ",
        "we have an ",
        "we have ",
        "i'm getting ",
        "i am getting ",
        "i get ",
        "we get ",
        "there's ",
        "there is ",
        "wie kann ich ",
        "cómo puedo ",
        "¿cómo puedo ",
        "comment ",
    ];
    let lower = line.to_lowercase();
    let found = OPENINGS.iter().find(|opening| lower.starts_with(**opening));
    // Lower case may be longer than what it came from.
    found.and_then(|opening| line.get(opening.len()..)).filter(|rest| content_count(rest) > 0).unwrap_or(line)
}

/// Up to where a reader would breathe, if enough comes before it.
fn first_clause(line: &str) -> &str {
    const BREATHS: &[&str] = &[
        ", ",
        "; ",
        ": ",
        " - ",
        " – ",
        " — ",
        " (",
        " so that ",
        " because ",
        " such that ",
        " which ",
        " but ",
        " and then ",
        " in order to ",
        " when ",
        " if ",
        " while ",
        " after ",
        " before ",
        " and ",
        " or ",
        " with ",
        " without ",
        " from ",
        " by ",
        " using ",
        " und ",
        " mit ",
        " y ",
        " con ",
        " et ",
        " avec ",
        "，",
        "；",
        "：",
        "、",
        ", damit ",
        " para que ",
    ];
    let ends = BREATHS.iter().flat_map(|breath| line.match_indices(breath).map(|(at, _)| at));
    let fitting = ends.filter(|at| {
        let clause = &line[..*at];
        let chars = clause.chars().count();
        chars <= MAX_TITLE_CHARS
            && clause.contains(' ') == line.contains(' ')
            && content_count(clause) >= 3
            && (chars >= 24 || clause.chars().any(is_wide))
    });
    let clause = fitting.max().map_or(line, |at| &line[..at]);
    match clause.rsplit_once(" (") {
        Some((before, aside)) if !aside.contains(')') && content_count(before) >= 2 => before,
        Some(_) | None => clause,
    }
}

fn closed(line: &str) -> &str {
    line.trim_end_matches(|c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | ','
                    | ';'
                    | ':'
                    | '!'
                    | '?'
                    | '…'
                    | '-'
                    | '–'
                    | '—'
                    | '。'
                    | '，'
                    | '；'
                    | '：'
                    | '！'
                    | '？'
                    | '、'
            )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_summary_becomes_a_clause() {
        for (summary, expected) in [
            (
                "Rewrite the invoice importer so that it streams, because large files take all memory",
                "Rewrite the invoice importer so that it streams",
            ),
            ("Why is the build failing on Windows?", "Why is the build failing on Windows"),
            ("please add dark mode", "Add dark mode"),
        ] {
            assert_eq!(as_title(summary), expected);
        }
    }
}
