//! Maps the names that different agents give the same tool to one name.

/// The tool's own name: without the server it belongs to, in small letters and underscores.
pub(crate) fn plain_tool_name(name: &str) -> String {
    let name = name.trim();
    // `mcp__server__tool`, `mcp.server.tool`, `tool (server MCP Server)`.
    let name = match (name.strip_prefix("mcp__"), name.strip_prefix("mcp.")) {
        (Some(rest), _) => rest.split_once("__").map_or(rest, |(_, tool)| tool),
        (None, Some(rest)) => rest.split_once('.').map_or(rest, |(_, tool)| tool),
        (None, None) => match name.strip_suffix(" MCP Server)") {
            Some(rest) => rest.split_once(" (").map_or(rest, |(tool, _)| tool),
            None => name,
        },
    };
    let mut plain = String::new();
    let mut was_small = false;
    for c in name.chars() {
        if c.is_uppercase() && was_small {
            plain.push('_');
        }
        was_small = c.is_lowercase() || c.is_ascii_digit();
        plain.extend(if c == '-' || c == ' ' { vec!['_'] } else { c.to_lowercase().collect() });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agents_spelling_is_the_same_name() {
        for name in [
            "set_relevant_context",
            "mcp__throughline__set_relevant_context",
            "mcp.throughline.set_relevant_context",
            "set_relevant_context (throughline MCP Server)",
            "SetRelevantContext",
            "set-relevant-context",
        ] {
            assert_eq!(plain_tool_name(name), "set_relevant_context", "{name}");
        }
        assert_eq!(plain_tool_name("Bash"), "bash");
        assert_eq!(plain_tool_name("MultiEdit"), "multi_edit");
        assert_eq!(plain_tool_name("mcp__a"), "a");
    }
}
