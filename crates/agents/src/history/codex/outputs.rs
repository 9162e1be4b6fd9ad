//! Results of Codex's tools, as the model saw them.

use model::{Timestamp, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Part, texts};
use crate::history::blobs;
use crate::history::builder::TurnBuilder;
use crate::history::calls::{self, CallOutput};
use crate::history::json::{as_a, is_object, items};

/// The result of a call in some versions.
#[derive(Deserialize)]
struct WrappedResult<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    success: Option<bool>,
}

/// The output of a command in older versions, as a text.
#[derive(Deserialize)]
struct CommandOutput {
    output: String,
    metadata: CommandMetadata,
}

#[derive(Deserialize)]
struct CommandMetadata {
    exit_code: Option<i32>,
}

pub(super) fn emit(at: Timestamp, id: &str, output: &RawValue, builder: &mut TurnBuilder<'_>) {
    let Some(call) = builder.find_call(id) else {
        // It has ended as an item, or is a plan.
        if !builder.knows_call(id) {
            builder.skip("a result without its call");
        }
        return;
    };
    let wrapped: Option<WrappedResult<'_>> = as_a(output).filter(|_| is_object(output));
    let (content, success) = wrapped.map_or((Some(output), None), |wrapped| (wrapped.content, wrapped.success));
    let text = content.map(texts).unwrap_or_default();
    let ran: Option<CommandOutput> = text.starts_with('{').then(|| serde_json::from_str(&text).ok()).flatten();
    let (exit_code, body) = match &ran {
        Some(ran) => (ran.metadata.exit_code, ran.output.as_str()),
        None => split_exit_code(&text),
    };
    let has_failed =
        success == Some(false) || exit_code.is_some_and(|code| code != 0) || text.contains("aborted by user");
    let mut shown = CallOutput::default();
    if let (Some(ToolKind::Execute), Some(input)) = (call.kind, &call.input) {
        shown.terminal(&calls::command(input).unwrap_or_default(), body, exit_code);
    } else {
        shown.text(body);
    }
    let pictures = content.map(items).unwrap_or_default().into_iter().filter_map(as_a::<Part<'_>>);
    for url in pictures.filter_map(|part| part.image_url) {
        if let Some((mime_type, data)) = blobs::from_data_url(&url) {
            shown.image(blobs::of_call(mime_type, data, builder.limits()));
        }
    }
    let status = if has_failed { ToolStatus::Failed } else { ToolStatus::Completed };
    builder.change_call(at, id, calls::end(status, shown));
}

/// The exit code and the output itself, without the program's header before it.
fn split_exit_code(text: &str) -> (Option<i32>, &str) {
    let is_head = |head: &str| {
        head.lines().all(|line| {
            ["Chunk ID:", "Wall time:", "Process ", "Original token count:", "Exit code:", "Total output lines:"]
                .iter()
                .any(|begins| line.starts_with(begins))
        })
    };
    let mut exit_code = None;
    let mut rest = text;
    while let Some((head, body)) = rest.split_once("Output:\n").filter(|(head, _)| is_head(head)) {
        let mut codes = head.lines().filter_map(|line| {
            line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))
        });
        exit_code = codes.next_back().and_then(|code| code.trim().parse().ok()).or(exit_code);
        rest = body;
    }
    (exit_code, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_says_of_an_output_is_none_of_it() {
        let head =
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 2\nOutput:\n";
        assert_eq!(split_exit_code(&format!("{head}no\n")), (Some(2), "no\n"));
        let twice = "Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n";
        assert_eq!(split_exit_code(twice), (Some(0), "Success.\n"));
        assert_eq!(split_exit_code("my Output:\nx"), (None, "my Output:\nx"));
        assert_eq!(
            split_exit_code("Wall time: 0.1 seconds\naborted by user"),
            (None, "Wall time: 0.1 seconds\naborted by user")
        );
    }
}
