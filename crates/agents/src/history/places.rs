//! Finds the transcripts of other tools.
//!
//! Invariant: no transcript is parsed to be found, though its first bytes may be read for its id, and a database is
//! asked for its sessions. No link is followed below a tool's own folder. Depth and number are bounded.

use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use model::Timestamp;

use super::{copilot, goose, kimi, opencode};

/// How many transcripts of one tool are listed.
const MAX_FOUND: usize = 200_000;

/// A tool that keeps transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "their own names")]
pub enum Tool {
    ClaudeCode,
    Codex,
    Opencode,
    Gemini,
    Goose,
    Qwen,
    Kimi,
    Copilot,
}

/// Where to look. A tool's own variable overrides the usual folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The person's home directory.
    pub home: PathBuf,
    /// `CLAUDE_CONFIG_DIR`
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`
    pub codex: Option<PathBuf>,
    /// `XDG_DATA_HOME`, for opencode and goose.
    pub data: Option<PathBuf>,
    /// `OPENCODE_DB`
    pub opencode: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`
    pub gemini: Option<PathBuf>,
    /// `GOOSE_PATH_ROOT`
    pub goose: Option<PathBuf>,
    /// `QWEN_HOME`
    pub qwen: Option<PathBuf>,
    /// `KIMI_CODE_HOME`
    pub kimi: Option<PathBuf>,
    /// `COPILOT_HOME`
    pub copilot: Option<PathBuf>,
}

/// A conversation that somebody had with a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundConversation {
    /// The tool.
    pub tool: Tool,
    /// The tool's own id of it, with which the tool can resume it.
    pub id: String,
    /// The file or database that it is in.
    pub path: PathBuf,
    /// The size of the file; 0 where one holds many conversations.
    pub bytes: u64,
    /// When it changed last.
    pub modified_at: Timestamp,
}

impl Tool {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Opencode,
        Self::Gemini,
        Self::Goose,
        Self::Qwen,
        Self::Kimi,
        Self::Copilot,
    ];

    /// The agent's name in the catalog.
    pub fn agent_name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
            Self::Goose => "goose",
            Self::Qwen => "qwen",
            Self::Kimi => "kimi",
            Self::Copilot => "copilot",
        }
    }
}

impl Places {
    /// The usual places below a home directory.
    pub fn below(home: PathBuf) -> Self {
        Self {
            home,
            claude: None,
            codex: None,
            data: None,
            opencode: None,
            gemini: None,
            goose: None,
            qwen: None,
            kimi: None,
            copilot: None,
        }
    }

    fn claude(&self) -> PathBuf {
        self.claude.clone().unwrap_or_else(|| self.home.join(".claude")).join("projects")
    }

    fn codex(&self) -> PathBuf {
        self.codex.clone().unwrap_or_else(|| self.home.join(".codex"))
    }

    fn data(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| self.home.join(".local/share"))
    }

    fn opencode(&self) -> PathBuf {
        self.opencode.clone().unwrap_or_else(|| self.data().join("opencode/opencode.db"))
    }

    fn gemini(&self) -> PathBuf {
        self.gemini.clone().unwrap_or_else(|| self.home.clone()).join(".gemini/tmp")
    }

    fn goose(&self) -> PathBuf {
        let data = match &self.goose {
            Some(root) => root.join("data"),
            None => self.data().join("goose"),
        };
        data.join("sessions/sessions.db")
    }

    fn qwen(&self) -> PathBuf {
        self.qwen.clone().unwrap_or_else(|| self.home.join(".qwen")).join("projects")
    }

    fn kimi(&self) -> PathBuf {
        self.kimi.clone().unwrap_or_else(|| self.home.join(".kimi-code")).join("sessions")
    }

    fn copilot(&self) -> PathBuf {
        self.copilot.clone().unwrap_or_else(|| self.home.join(".copilot")).join("session-state")
    }
}

/// The conversations that exist, the last changed first.
pub fn find(places: &Places) -> Vec<FoundConversation> {
    let mut found = Vec::new();
    for tool in Tool::ALL {
        let mut of_tool = match tool {
            Tool::ClaudeCode => claude(&places.claude()),
            Tool::Codex => codex(&places.codex()),
            Tool::Opencode => in_database(tool, &places.opencode(), opencode::sessions),
            Tool::Gemini => gemini(&places.gemini()),
            Tool::Goose => in_database(tool, &places.goose(), goose::sessions),
            Tool::Qwen => qwen(&places.qwen()),
            Tool::Kimi => in_folders(tool, &places.kimi(), 2, kimi::WIRE),
            Tool::Copilot => in_folders(tool, &places.copilot(), 1, copilot::EVENTS),
        };
        found.append(&mut of_tool);
    }
    found.sort_by(|a, b| b.modified_at.cmp(&a.modified_at).then_with(|| a.id.cmp(&b.id)));
    found
}

/// `projects/<folder>/<session>.jsonl`. Sub-agents have `agent-….jsonl` and folders below.
fn claude(projects: &Path) -> Vec<FoundConversation> {
    let files = files_below(projects, 1, &|name| name.ends_with(".jsonl") && !name.starts_with("agent-"));
    files.into_iter().map(|file| file.found(Tool::ClaudeCode, str::to_owned)).collect()
}

/// `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`, and all in one folder once they are archived.
fn codex(home: &Path) -> Vec<FoundConversation> {
    let is_rollout = |name: &str| name.starts_with("rollout-") && name.ends_with(".jsonl");
    let mut files = files_below(&home.join("sessions"), 3, &is_rollout);
    files.extend(files_below(&home.join("archived_sessions"), 0, &is_rollout));
    let id = |stem: &str| {
        let at = stem.len().saturating_sub(36);
        stem.get(at..).unwrap_or(stem).to_owned()
    };
    files.into_iter().map(|file| file.found(Tool::Codex, id)).collect()
}

/// `tmp/<folder>/chats/session-<time>-<beginning of the id>.jsonl`; sub-agents have folders below.
fn gemini(folders: &Path) -> Vec<FoundConversation> {
    let chats = names_in(folders, FileType::is_dir).take(MAX_FOUND).map(|folder| folder.join("chats"));
    let is_chat = |name: &str| name.starts_with("session-") && (name.ends_with(".jsonl") || name.ends_with(".json"));
    let files = chats.flat_map(|chats| files_below(&chats, 0, &is_chat)).take(MAX_FOUND);
    files
        .filter_map(|file| {
            let id = super::gemini::id_of(&file.path)?;
            Some(file.found(Tool::Gemini, |_| id.clone()))
        })
        .collect()
}

/// `projects/<folder>/chats/<session>.jsonl`.
fn qwen(projects: &Path) -> Vec<FoundConversation> {
    let chats = folders_below(projects, 2).into_iter().filter(|folder| folder.ends_with("chats"));
    let files = chats.flat_map(|chats| files_below(&chats, 0, &|name| name.ends_with(".jsonl"))).take(MAX_FOUND);
    files.map(|file| file.found(Tool::Qwen, str::to_owned)).collect()
}

/// A folder for each session, `depth` levels below this one and named after the session, with its record in it.
fn in_folders(tool: Tool, folder: &Path, depth: usize, record: &str) -> Vec<FoundConversation> {
    let sessions = folders_below(folder, depth);
    let found = sessions.iter().filter_map(|session| {
        let id = session.file_name()?.to_str()?;
        let mut path = session.clone();
        for name in Path::new(record) {
            path.push(name);
            fs::symlink_metadata(&path).ok().filter(|found| !found.is_symlink())?;
        }
        Some(read_metadata(path)?.found(tool, |_| id.to_owned()))
    });
    found.take(MAX_FOUND).collect()
}

fn in_database(
    tool: Tool,
    path: &Path,
    sessions: fn(&Path, usize) -> Vec<(String, Timestamp)>,
) -> Vec<FoundConversation> {
    let found = |(id, modified_at)| FoundConversation { tool, id, path: path.to_owned(), bytes: 0, modified_at };
    sessions(path, MAX_FOUND).into_iter().map(found).collect()
}

struct FoundFile {
    path: PathBuf,
    bytes: u64,
    modified_at: Timestamp,
}

impl FoundFile {
    fn found(self, tool: Tool, id: impl Fn(&str) -> String) -> FoundConversation {
        let id = id(&self.path.file_stem().unwrap_or_default().to_string_lossy());
        FoundConversation { tool, id, path: self.path, bytes: self.bytes, modified_at: self.modified_at }
    }
}

/// The files `depth` levels below this folder, by name. Folders that can not be read count as empty.
fn files_below(folder: &Path, depth: usize, is_wanted: &dyn Fn(&str) -> bool) -> Vec<FoundFile> {
    let folders = folders_below(folder, depth);
    let files = folders.iter().flat_map(|folder| names_in(folder, FileType::is_file));
    let wanted = files.filter(|path| path.file_name().is_some_and(|name| name.to_str().is_some_and(is_wanted)));
    wanted.take(MAX_FOUND).filter_map(read_metadata).collect()
}

/// The folders `depth` levels below this one.
fn folders_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    for _ in 0..depth {
        folders = folders.iter().flat_map(|folder| names_in(folder, FileType::is_dir)).take(MAX_FOUND).collect();
    }
    folders
}

/// The entries of a folder that are of this type themselves, without following links.
fn names_in(folder: &Path, is_wanted: fn(&FileType) -> bool) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(move |entry| entry.file_type().is_ok_and(|of| is_wanted(&of))).map(|entry| entry.path())
}

fn read_metadata(path: PathBuf) -> Option<FoundFile> {
    let metadata = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let modified_at = metadata.modified().map_or(Timestamp::from_millis(0), timestamp);
    Some(FoundFile { path, bytes: metadata.len(), modified_at })
}

fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
