//! What each key of `config.toml` is for, and an example of it. A test holds it together with the list of keys.

/// A key's words.
pub(super) struct KeyWords {
    pub(super) key: &'static str,
    pub(super) about: &'static str,
    /// A value, as TOML, for a key that has none.
    pub(super) example: &'static str,
}

const fn words(key: &'static str, about: &'static str, example: &'static str) -> KeyWords {
    KeyWords { key, about, example }
}

/// The words of a key; `*` is a name that the person chose.
pub(super) fn find(section: &str, key: &str) -> Option<&'static KeyWords> {
    WORDS.iter().find(|words| words.key.rsplit_once('.') == Some((section, key)))
}

pub(super) const WORDS: &[KeyWords] = &[
    words("server.listen", "The address and port that the server listens on.", "\"127.0.0.1:7417\""),
    words(
        "server.mcp_listen",
        "A port of its own for the session's tools, on this machine only.",
        "\"127.0.0.1:9878\"",
    ),
    words("server.hosts", "Further names on which the server answers; links lead to the first.", "[\"box.example\"]"),
    words("server.behind_proxy", "A proxy in front of the server does TLS.", "false"),
    words(
        "server.tls",
        "The certificate with which the server does TLS itself.",
        "{ certificates = \"/etc/throughline/fullchain.pem\", key = \"/etc/throughline/key.pem\" }",
    ),
    words(
        "server.tls.certificates",
        "The file with the certificate and those above it.",
        "\"/etc/throughline/cert.pem\"",
    ),
    words("server.tls.key", "The file with the key, which nobody else may read.", "\"/etc/throughline/key.pem\""),
    words("limits.connections", "How many connections are open at once, over all.", "4096"),
    words("limits.requests_per_second", "How many requests one credential may make; twice that at a burst.", "2000"),
    words("limits.max_agents", "How many sessions have an agent at once; for one more, an idle one is ended.", "64"),
    words("limits.agent_memory_mb", "How much memory one process of an agent may take, in MiB.", "4096"),
    words("limits.silence_minutes", "After so long without a word in a turn, an agent counts as unresponsive.", "10"),
    words("limits.agent_start_seconds", "How long an agent may take to start, and again to begin a session.", "60"),
    words("limits.agent_stop_seconds", "How long a turn that you stop may go on before its agent is ended.", "40"),
    words("agents.*.command", "The program: a name that is looked up along PATH, or a full path.", "\"my-agent\""),
    words("agents.*.args", "Its arguments, given as they are, through no shell.", "[\"--acp\"]"),
    words("agents.*.env", "Variables that are set for it.", "{ NAME = \"…\" }"),
    words("agents.*.pass_env", "Variables that it gets from the server's own environment.", "[\"MY_AGENT_*\"]"),
    words("agents.*.title", "The name that people see.", "\"Mine\""),
    words("agents.*.description", "What it is, in a sentence.", "\"The one I am writing.\""),
    words("agents.*.shared", "One process serves many sessions.", "true"),
    words("agents.*.enabled", "Whether it is offered.", "false"),
    words("agents.*.all_sessions", "Whether its tools reach sessions of every project.", "true"),
    words("agents.*.show", "Whether it gets the tools that show you files, pictures and commands.", "false"),
    words("mcp_servers.*.url", "The address of an MCP server that every agent gets.", "\"https://notes.example/mcp\""),
    words("mcp_servers.*.headers", "Headers that are sent to it.", "{ Authorization = \"…\" }"),
    words("mcp_servers.*.command", "The program of an MCP server that every agent starts.", "\"tickets-mcp\""),
    words("mcp_servers.*.args", "Its arguments.", "[\"--stdio\"]"),
    words("mcp_servers.*.env", "Variables that are set for it.", "{ NAME = \"…\" }"),
    words("permissions.default", "What is answered where no rule fits: ask, allow or deny.", "\"ask\""),
    words(
        "permissions.rules",
        "What agents may do unasked, by agent and kind of work.",
        "{ \"claude.read\" = \"allow\" }",
    ),
    words("brief.enabled", "Whether agents are told about the session that they work in.", "true"),
    words("brief.text", "What they are told.", "\"Mark what you read.\""),
    words("tools.all_sessions", "Whether agents' tools reach sessions of every project.", "false"),
    words("tools.show", "Whether agents get the tools that show you files, pictures and commands.", "true"),
    words("page.specs_label", "What the page calls pieces of work as a group.", "\"Specs\""),
    words("outputs.max_mb", "How large one thing that an agent shows may be, in MiB.", "100"),
    words("outputs.session_mb", "How large all that a session shows may be together, in MiB.", "2048"),
    words("outputs.session_count", "How many things a session may show.", "10000"),
    words("outputs.keep_days", "After so many days what was shown is removed; without it, never.", "90"),
    words(
        "outputs.shape_terminal",
        "Whether agents get long results of the session's own tools as beginning, end and marker.",
        "true",
    ),
    words("outputs.command_seconds", "How long a command may run that an agent runs to show it.", "60"),
    words(
        "summaries.provider",
        "Whose model writes summaries and titles: anthropic, openai or ollama.",
        "\"anthropic\"",
    ),
    words("summaries.model", "Which model, as the provider calls it.", "\"claude-haiku-5-5\""),
    words(
        "summaries.url",
        "Where the provider is asked, if not at its usual address.",
        "\"https://models.example/v1\"",
    ),
    words("summaries.key_env", "The variable that holds the provider's key.", "\"ANTHROPIC_API_KEY\""),
    words("summaries.key_file", "The file that holds the provider's key.", "\"/etc/throughline/key\""),
    words("summaries.allow_plain", "Lets the address begin with http:// on another machine.", "false"),
    words("summaries.daily_calls", "How often the model is asked in a day.", "1000"),
    words("summaries.titles", "Whether it writes titles, too.", "true"),
    words("usage.warn_session", "The page warns when a session has cost more than this.", "\"5 USD\""),
    words("usage.warn_day", "The page and `status` warn when a day has cost more than this.", "\"20 USD\""),
    words("prices.*.input", "What a million tokens cost that the model reads.", "3.0"),
    words("prices.*.output", "What a million tokens cost that it writes.", "15.0"),
    words("prices.*.cached", "What a million tokens cost that it reads from its cache.", "0.3"),
    words("prices.*.cache_write", "What a million tokens cost that it writes into its cache.", "3.75"),
    words("prices.*.currency", "In which currency; USD if it is not said.", "\"USD\""),
];
