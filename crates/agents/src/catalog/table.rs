//! The agents that are known without configuration, one row each. To add one, add a row.
//!
//! Invariant: a row gives an agent what it needs and no more. It gets those of the server's own variables that hold
//! its credentials and settings, by name. A pattern is used only where it can not match variables that an agent sets
//! for its children, because a server that was started by an agent would pass those on.
//!
//! `env` holds what makes an agent work well here: it shows its model the given MCP tools instead of hiding them
//! behind a search, and it does not update itself while it runs.

use super::quirks::{AsksIn, Brief, Quirks, SettingsFile, Unasked, asks_in_mode};

/// An agent of the table.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    /// The program; empty for the agent that is part of this program.
    pub(super) command: &'static str,
    pub(super) args: &'static [&'static str],
    pub(super) env: &'static [(&'static str, &'static str)],
    pub(super) pass_env: &'static [&'static [&'static str]],
    /// One process serves many sessions.
    pub(super) shared: bool,
    /// How it deviates from the protocol, as far as its program was examined.
    pub(super) quirks: Quirks,
    pub(super) install: &'static str,
    pub(super) sign_in: &'static str,
    pub(super) notes: &'static [&'static str],
}

/// The names that model providers gave their keys, for agents that work with any of them.
const PROVIDERS: &[&str] = &[
    "ANTHROPIC_*",
    "AWS_*",
    "AZURE_*",
    "CEREBRAS_*",
    "DEEPSEEK_*",
    "GEMINI_API_KEY",
    "GOOGLE_*",
    "GROQ_*",
    "MISTRAL_*",
    "MOONSHOT_*",
    "OLLAMA_*",
    "OPENAI_*",
    "OPENROUTER_*",
    "XAI_*",
    "ZAI_*",
];

const NODE_22: &str = "With a Node.js older than 22, npm installs an old version of it without a word.";

pub(super) const ROWS: &[Row] = &[
    Row {
        name: "claude",
        title: "Claude Code",
        description: "Anthropic's coding agent.",
        command: "claude-agent-acp",
        args: &[],
        env: &[("DISABLE_AUTOUPDATER", "1"), ("ENABLE_TOOL_SEARCH", "false")],
        // Not CLAUDE_*: some of those tell it that another Claude Code has started it, and then it refuses.
        pass_env: &[&[
            "ANTHROPIC_*",
            "AWS_*",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_FOUNDRY",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CONFIG_DIR",
            "CLOUD_ML_REGION",
            "GOOGLE_APPLICATION_CREDENTIALS",
        ]],
        shared: true,
        quirks: Quirks {
            asks_in: &[asks_in_mode(&["default", "plan"])],
            unasked: Some(Unasked::ClaudeCode),
            brief: Brief::SystemPrompt,
            ..Quirks::PLAIN
        },
        install: "Run `npm install -g @agentclientprotocol/claude-agent-acp`: Claude Code is used through this adapter, also where `claude` itself is installed.",
        sign_in: "Run `claude-agent-acp --cli auth login` once, or set ANTHROPIC_API_KEY.",
        notes: &[NODE_22],
    },
    Row {
        name: "codex",
        title: "Codex",
        description: "OpenAI's coding agent.",
        command: "codex-acp",
        args: &[],
        // In its own default mode a model reviews what it wants to do, and the person is not asked.
        env: &[("INITIAL_AGENT_MODE", "workspace-write")],
        pass_env: &[&[
            "CODEX_API_KEY",
            "CODEX_CONFIG",
            "CODEX_HOME",
            "CODEX_PATH",
            "MODEL_PROVIDER",
            "NO_BROWSER",
            "OPENAI_*",
        ]],
        shared: true,
        quirks: Quirks {
            // In both it asks before it leaves its sandbox.
            asks_in: &[asks_in_mode(&["workspace-write", "read-only"])],
            mode_variable: Some("INITIAL_AGENT_MODE"),
            // It asks about tools that may change something, ours too.
            wraps_mcp_calls: true,
            brief: Brief::SystemPrompt,
            ..Quirks::PLAIN
        },
        install: "Run `npm install -g @agentclientprotocol/codex-acp`: Codex is used through this adapter, also where `codex` itself is installed.",
        sign_in: "Sign in with ChatGPT when it asks, or set OPENAI_API_KEY or CODEX_API_KEY.",
        notes: &[],
    },
    Row {
        name: "gemini",
        title: "Gemini CLI",
        description: "Google's agent for Gemini.",
        command: "gemini",
        args: &["--acp"],
        env: &[],
        pass_env: &[&["GEMINI_API_KEY", "GEMINI_CLI_HOME", "GEMINI_MODEL", "GOOGLE_*"]],
        shared: false,
        quirks: Quirks {
            asks_in: &[asks_in_mode(&["default", "plan"])],
            unasked: Some(Unasked::GeminiArgument),
            titles_are_commands: true,
            // It replies that it has loaded its record before it has, and deletes a record that it loaded at a later
            // start.
            must_not_load: true,
            // If a file that it wants to create does not exist yet, it takes that for a failure.
            makes_its_own_files: true,
            ..Quirks::PLAIN
        },
        install: "Run `npm install -g @google/gemini-cli`.",
        sign_in: "Run `gemini` once and choose how to sign in, or set GEMINI_API_KEY.",
        notes: &[],
    },
    Row {
        name: "copilot",
        title: "GitHub Copilot",
        description: "GitHub's coding agent.",
        command: "copilot",
        // Only the tools of our own server.
        args: &["--acp", "--allow-tool=throughline", "--allow-tool=throughline-show"],
        env: &[("COPILOT_AUTO_UPDATE", "false")],
        // Not COPILOT_*: COPILOT_ALLOW_ALL would turn all questions off.
        pass_env: &[&[
            "COPILOT_GITHUB_TOKEN",
            "COPILOT_HOME",
            "COPILOT_MODEL",
            "COPILOT_OFFLINE",
            "COPILOT_PROVIDER_*",
            "GH_HOST",
            "GH_TOKEN",
            "GITHUB_TOKEN",
        ]],
        shared: false,
        quirks: Quirks {
            asks_in: &[
                asks_in_mode(&[
                    "https://agentclientprotocol.com/protocol/session-modes#agent",
                    "https://agentclientprotocol.com/protocol/session-modes#plan",
                ]),
                AsksIn { option: "allow_all", values: &["off"] },
            ],
            counts_its_life: true,
            brief: Brief::FirstPrompt,
            ..Quirks::PLAIN
        },
        install: "Run `npm install -g @github/copilot`.",
        sign_in: "Run `copilot login` once, or set COPILOT_GITHUB_TOKEN.",
        notes: &["Of your own MCP servers it takes those with a url only."],
    },
    Row {
        name: "opencode",
        title: "opencode",
        description: "The open source coding agent, for models of any provider.",
        command: "opencode",
        args: &["acp"],
        // By default it asks before nothing that it does in its directory.
        env: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_PERMISSION", r#"{"bash": "ask", "edit": "ask", "webfetch": "ask"}"#),
        ],
        pass_env: &[
            PROVIDERS,
            &["OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "OPENCODE_CONFIG_DIR"],
        ],
        shared: true,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g opencode-ai`.",
        sign_in: "Run `opencode auth login` once, or set the key of a provider.",
        notes: &[],
    },
    Row {
        name: "qwen",
        title: "Qwen Code",
        description: "Alibaba's coding agent for Qwen.",
        command: "qwen",
        args: &["--acp"],
        // Without it the first prompt is sent before the MCP tools are known.
        env: &[("QWEN_CODE_LEGACY_MCP_BLOCKING", "1")],
        pass_env: &[&[
            "DASHSCOPE_*",
            "OPENAI_*",
            "QWEN_CODE_SYSTEM_DEFAULTS_PATH",
            "QWEN_CODE_SYSTEM_SETTINGS_PATH",
            "QWEN_DEFAULT_AUTH_TYPE",
            "QWEN_HOME",
        ]],
        shared: false,
        quirks: Quirks {
            asks_in: &[asks_in_mode(&["default", "plan"])],
            // By default a model judges what it wants to do, and MCP tools are hidden behind a search.
            settings_file: Some(SettingsFile::Qwen),
            brief: Brief::FirstPrompt,
            ..Quirks::PLAIN
        },
        install: "Run `npm install -g @qwen-code/qwen-code`.",
        sign_in: "Run `qwen` once and choose with `/auth`, or set OPENAI_API_KEY and OPENAI_BASE_URL.",
        notes: &[NODE_22],
    },
    Row {
        name: "kimi",
        title: "Kimi Code",
        description: "Moonshot's coding agent for Kimi.",
        command: "kimi",
        args: &["acp"],
        env: &[("KIMI_CODE_NO_AUTO_UPDATE", "1")],
        pass_env: &[&[
            "KIMI_API_KEY",
            "KIMI_BASE_URL",
            "KIMI_CODE_BASE_URL",
            "KIMI_CODE_HOME",
            "KIMI_MODEL_*",
            "MOONSHOT_*",
        ]],
        shared: false,
        quirks: Quirks {
            asks_in: &[asks_in_mode(&["default", "plan"])],
            // It reports `default` whatever its user's settings say.
            hides_its_mode: true,
            // It has no setting that would keep it from asking about ours.
            titles_are_tool_names: true,
            brief: Brief::FirstPrompt,
            ..Quirks::PLAIN
        },
        install: "Run `npm install -g @moonshot-ai/kimi-code`.",
        sign_in: "Run `kimi` once and use `/login`.",
        notes: &["It needs Node.js 22 or newer."],
    },
    Row {
        name: "goose",
        title: "goose",
        description: "The open source agent that began at Block, for models of any provider.",
        command: "goose",
        args: &["acp"],
        // By default it asks before nothing.
        env: &[("GOOSE_MODE", "approve")],
        pass_env: &[PROVIDERS, &["DATABRICKS_*", "GOOSE_*"]],
        shared: true,
        quirks: Quirks {
            asks_in: &[asks_in_mode(&["approve", "chat"])],
            mode_variable: Some("GOOSE_MODE"),
            ..Quirks::PLAIN
        },
        install: "Run `brew install block-goose-cli`, or use the installer at https://block.github.io/goose.",
        sign_in: "Run `goose configure` once, or set GOOSE_PROVIDER, GOOSE_MODEL and the provider's key.",
        notes: &[
            "It is started so that it asks before each tool; set GOOSE_MODE for it in config.toml to have it ask less.",
            "A tool for database migrations has the same name: see that the version is this agent's.",
        ],
    },
    Row {
        name: "cline",
        title: "Cline",
        description: "The open source coding agent, for models of any provider.",
        command: "cline",
        args: &["--acp"],
        env: &[("CLINE_NO_AUTO_UPDATE", "1")],
        pass_env: &[PROVIDERS, &["CLINE_API_KEY", "CLINE_DATA_DIR", "CLINE_DIR"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g cline`.",
        sign_in: "Run `cline auth` once.",
        notes: &[],
    },
    Row {
        name: "pi",
        title: "pi",
        description: "A small open source coding agent, for models of any provider.",
        command: "pi-acp",
        args: &[],
        env: &[],
        pass_env: &[PROVIDERS, &["PI_ACP_*"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g @earendil-works/pi-coding-agent pi-acp`.",
        sign_in: "Run `pi` once and use `/login`, or set the key of a provider.",
        notes: &["It is not told of MCP servers, so it has none of the tools that come with a session.", NODE_22],
    },
    Row {
        name: "cursor",
        title: "Cursor",
        description: "Cursor's coding agent.",
        command: "cursor-agent",
        args: &["acp"],
        env: &[],
        pass_env: &[&["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN", "CURSOR_CONFIG_DIR"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `curl https://cursor.com/install -fsS | bash`.",
        sign_in: "Run `cursor-agent login` once, or set CURSOR_API_KEY.",
        notes: &[],
    },
    Row {
        name: "kiro",
        title: "Kiro",
        description: "The coding agent of AWS.",
        command: "kiro-cli",
        args: &["acp"],
        env: &[],
        pass_env: &[&["AWS_*", "KIRO_API_KEY"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `curl -fsSL https://cli.kiro.dev/install | bash`.",
        sign_in: "Run `kiro-cli login` once, or set KIRO_API_KEY.",
        notes: &[],
    },
    Row {
        name: "vibe",
        title: "Mistral Vibe",
        description: "Mistral's coding agent.",
        command: "vibe-acp",
        args: &[],
        env: &[],
        pass_env: &[&["MISTRAL_*", "VIBE_HOME"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `uv tool install mistral-vibe`.",
        sign_in: "Run `vibe` once and sign in, or set MISTRAL_API_KEY.",
        notes: &[],
    },
    Row {
        name: "auggie",
        title: "Auggie",
        description: "Augment Code's agent.",
        command: "auggie",
        args: &["--acp"],
        env: &[("AUGMENT_DISABLE_AUTO_UPDATE", "1")],
        pass_env: &[&["AUGMENT_API_TOKEN", "AUGMENT_API_URL", "AUGMENT_SESSION_AUTH"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g @augmentcode/auggie`.",
        sign_in: "Run `auggie login` once, or set AUGMENT_SESSION_AUTH.",
        notes: &[],
    },
    Row {
        name: "droid",
        title: "Factory Droid",
        description: "Factory's coding agent.",
        command: "droid",
        args: &["exec", "--output-format", "acp"],
        env: &[("DROID_DISABLE_AUTO_UPDATE", "true"), ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false")],
        pass_env: &[&["FACTORY_API_KEY"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g droid`.",
        sign_in: "Run `droid` once and sign in, or set FACTORY_API_KEY.",
        notes: &[],
    },
    Row {
        name: "kilo",
        title: "Kilo",
        description: "An open source coding agent, for models of any provider.",
        command: "kilo",
        args: &["acp"],
        env: &[("KILO_DISABLE_AUTOUPDATE", "1")],
        pass_env: &[
            PROVIDERS,
            &["KILOCODE_TOKEN", "KILO_API_KEY", "KILO_CONFIG", "KILO_CONFIG_CONTENT", "KILO_CONFIG_DIR"],
        ],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g @kilocode/cli`.",
        sign_in: "Run `kilo auth login` once, or set the key of a provider.",
        notes: &[],
    },
    Row {
        name: "qoder",
        title: "Qoder CLI",
        description: "Qoder's coding agent.",
        command: "qodercli",
        args: &["--acp"],
        env: &[],
        pass_env: &[&["QODER_PERSONAL_ACCESS_TOKEN"]],
        shared: false,
        quirks: Quirks::PLAIN,
        install: "Run `npm install -g @qoder-ai/qodercli`.",
        sign_in: "Run `qodercli login` once, or set QODER_PERSONAL_ACCESS_TOKEN.",
        notes: &[],
    },
    Row {
        name: "guide",
        title: "Guide",
        description: "Built in. Needs no key and no network; answers in set ways so that you can see how things work.",
        command: "",
        args: &["guide"],
        env: &[],
        pass_env: &[],
        shared: true,
        quirks: Quirks::PLAIN,
        install: "",
        sign_in: "",
        notes: &[],
    },
];
