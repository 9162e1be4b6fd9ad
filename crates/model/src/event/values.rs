//! Which JSON values an event holds that stay values.
//!
//! Invariant: all other fields are of types of ours, which take no more than a few times their text.

use serde_json::Value;

use crate::{SessionEvent, ToolChange, ToolContent, json_values_bytes};

impl SessionEvent {
    /// About how much memory the JSON values in it take, as [`json_values_bytes`] counts them.
    pub fn values_bytes(&self) -> u64 {
        let texts = self.values().into_iter().filter_map(|value| serde_json::to_vec(value).ok());
        texts.map(|text| json_values_bytes(&text, 0)).sum()
    }

    fn values(&self) -> Vec<&Value> {
        match self {
            Self::AgentRaw { message } => vec![message],
            Self::ToolStarted { change, .. } | Self::ToolChanged { change, .. } | Self::ToolEnded { change, .. } => {
                values_of_change(change)
            }
            Self::PermissionAsked { question, .. } => question.form.iter().collect(),
            Self::PermissionAnswered { answer, .. } => answer.fields.iter().collect(),
            Self::SessionCreated { .. }
            | Self::SessionChanged { .. }
            | Self::SessionObserved {}
            | Self::SessionDeleted {}
            | Self::SessionRestored {}
            | Self::SessionForked { .. }
            | Self::SessionImported { .. }
            | Self::AgentStateChanged { .. }
            | Self::AgentOptionsChanged { .. }
            | Self::AgentOptionChosen { .. }
            | Self::AgentCommandsChanged { .. }
            | Self::AgentNoticed { .. }
            | Self::TurnStarted { .. }
            | Self::TurnEnded { .. }
            | Self::PromptQueued { .. }
            | Self::PromptChanged { .. }
            | Self::PromptRemoved { .. }
            | Self::PromptSent { .. }
            | Self::ResumeSent { .. }
            | Self::TextPart { .. }
            | Self::ThoughtPart { .. }
            | Self::ToolPart { .. }
            | Self::PlanChanged { .. }
            | Self::UsageReported { .. }
            | Self::CompactionSeen { .. }
            | Self::ContextSet { .. }
            | Self::FactProved { .. }
            | Self::TitleSet { .. }
            | Self::SummarySet { .. }
            | Self::NextOffered { .. }
            | Self::NextClicked { .. }
            | Self::BlockShown { .. }
            | Self::OutputStored { .. }
            | Self::AppletShown { .. }
            | Self::AppletSaved { .. }
            | Self::OutputRemoved { .. } => Vec::new(),
        }
    }
}

fn values_of_change(change: &ToolChange) -> Vec<&Value> {
    let shown = change.content.iter().flatten().filter_map(|content| match content {
        ToolContent::Raw { value } => Some(value),
        ToolContent::Text { .. }
        | ToolContent::Diff { .. }
        | ToolContent::Image { .. }
        | ToolContent::Link { .. }
        | ToolContent::Terminal { .. }
        | ToolContent::Omitted { .. } => None,
    });
    shown.chain(&change.input).chain(&change.output).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_values_is_counted_and_fields_of_ours_are_not() {
        let values = |kind: &str, data: &str| {
            let event = format!(r#"{{"type":"{kind}","data":{data}}}"#);
            let event: SessionEvent = serde_json::from_str(&event).unwrap();
            event.values().iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(values("agent.raw", r#"{"message":[1]}"#), "[1]");
        let change = r#"{"turn":1,"tool":1,"content":[{"type":"text","text":"a"},{"type":"raw","value":[2]}],
            "locations":[{"path":"/w/a"}],"input":{"a":3},"output":[4]}"#;
        for kind in ["tool.changed", "tool.ended"] {
            assert_eq!(values(kind, change), r#"[2] {"a":3} [4]"#);
        }
        let started = change.replacen('{', r#"{"callId":"c","#, 1);
        assert_eq!(values("tool.started", &started), r#"[2] {"a":3} [4]"#);
        let asked = r#"{"request":1,"title":"a","kind":"other","options":[],"form":{"b":5}}"#;
        assert_eq!(values("permission.asked", asked), r#"{"b":5}"#);
        let answered = r#"{"request":1,"by":{"type":"policy","rule":"a"},"fields":{"b":6}}"#;
        assert_eq!(values("permission.answered", answered), r#"{"b":6}"#);
        let set = r#"{"set":"files","items":["/w/a"],"by":"agent"}"#;
        assert_eq!(values("context.set", set), "");
    }
}
