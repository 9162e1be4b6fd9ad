//! Reports as text, a line each.

use model::AgentReport;
use serde_json::json;

pub(super) fn lines(reports: &[AgentReport]) -> String {
    reports.iter().map(|report| line(report) + "\n").collect()
}

fn line(report: &AgentReport) -> String {
    match report {
        AgentReport::Options(options) => format!("options {}", json!(options)),
        AgentReport::Commands(commands) => format!("commands {}", json!(commands)),
        AgentReport::Text { block, text } => format!("text {block} {text:?}"),
        AgentReport::Thought { block, text } => format!("thought {block} {text:?}"),
        AgentReport::ToolStarted { tool, call_id, change } => {
            format!("tool {tool} started {call_id:?} {}", json!(change))
        }
        AgentReport::ToolChanged { tool, change } => format!("tool {tool} {}", json!(change)),
        AgentReport::ToolText { tool, text } => format!("tool {tool} {text:?}"),
        AgentReport::Plan(steps) => format!("plan {}", json!(steps)),
        AgentReport::Asked(question) => format!("asked {}", json!(question)),
        AgentReport::Usage(usage) => format!("usage {}", json!(usage)),
        AgentReport::Title(title) => format!("title {title:?}"),
        AgentReport::Noticed(notice) => format!("noticed {}", json!(notice)),
        AgentReport::Compacted { summary } => format!("compacted {summary:?}"),
        AgentReport::Raw(value) => format!("raw {value}"),
        AgentReport::Stopped(stop) => format!("stopped {}", json!(stop)),
        AgentReport::Ready { .. }
        | AgentReport::SignedOut { .. }
        | AgentReport::Unresponsive
        | AgentReport::Gone
        | AgentReport::Failed { .. } => format!("{report:?}"),
    }
}
