//! Emitted items as text to compare, with the facts that each call proves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::{AgentReport, ToolCall, ToolChange, ToolContent, prove};

use super::{HistoryItem, Reading};

pub(super) fn text_of(items: &[HistoryItem], reading: &Reading) -> String {
    let mut text = String::new();
    let mut cwd = String::new();
    let mut calls: BTreeMap<u32, ToolCall> = BTreeMap::new();
    for item in items {
        match item {
            HistoryItem::Session(about) => {
                cwd.clone_from(&about.cwd);
                let _ = writeln!(text, "{about:?}");
            }
            HistoryItem::Prompt { at, text: words, images } => {
                calls.clear();
                let _ = writeln!(text, "\n{at} prompt {words:?}");
                for image in images {
                    let _ = writeln!(text, "  {} of {} bytes", image.mime_type, image.data.len());
                }
            }
            HistoryItem::Report { at, report } => {
                let _ = writeln!(text, "  {} {}", &at.to_string()[11..], line(report));
                for fact in facts(report, &cwd, &mut calls) {
                    let _ = writeln!(text, "      {fact}");
                }
            }
            HistoryItem::TurnEnd { at, stop, .. } => {
                let _ = writeln!(text, "  {} {:?} {:?}", &at.to_string()[11..], stop.outcome, stop.reason);
            }
        }
    }
    let _ = writeln!(text, "\n{} turns, open: {}", reading.turns, reading.is_open);
    for skipped in &reading.skipped {
        let _ = writeln!(text, "left out: {} × {}", skipped.count, skipped.what);
    }
    text
}

fn line(report: &AgentReport) -> String {
    match report {
        AgentReport::Text { block, text } => format!("text {block} {text:?}"),
        AgentReport::Thought { block, text } => format!("thought {block} {text:?}"),
        AgentReport::ToolStarted { tool, call_id, change } => format!("call {tool} {call_id} {}", of_change(change)),
        AgentReport::ToolChanged { tool, change } => format!("call {tool} {}", of_change(change)),
        other => format!("{other:?}"),
    }
}

fn of_change(change: &ToolChange) -> String {
    let ToolChange { title, name, kind, status, content, locations, input, output, new_files: _, bodies: _ } = change;
    let mut line = String::new();
    for part in [name, title].into_iter().flatten() {
        let _ = write!(line, "{part:?} ");
    }
    if let Some(kind) = kind {
        let _ = write!(line, "{kind:?} ");
    }
    if let Some(status) = status {
        let _ = write!(line, "{status:?} ");
    }
    for location in locations.iter().flatten() {
        let _ = write!(line, "@{} ", location.path);
    }
    if let Some(input) = input {
        let _ = write!(line, "given {input} ");
    }
    if let Some(output) = output {
        let _ = write!(line, "gave {output} ");
    }
    for content in content.iter().flatten() {
        let _ = match content {
            ToolContent::Image { mime_type, data } => write!(line, "{mime_type} of {} bytes ", data.len()),
            content => write!(line, "{content:?} "),
        };
    }
    line.trim_end().to_owned()
}

fn facts(report: &AgentReport, cwd: &str, calls: &mut BTreeMap<u32, ToolCall>) -> Vec<String> {
    let call = match report {
        AgentReport::ToolStarted { tool, call_id, change } => {
            calls.insert(*tool, ToolCall::begin(*tool, call_id.clone(), change));
            return Vec::new();
        }
        AgentReport::ToolChanged { tool, change } => {
            let call = calls.get_mut(tool).expect("a call begins before it changes");
            call.change(change);
            call
        }
        _ => return Vec::new(),
    };
    let facts = prove(call, cwd).into_iter();
    facts.map(|fact| format!("proves {} {:?} {:?}", fact.name, fact.value, fact.exit_code)).collect()
}
