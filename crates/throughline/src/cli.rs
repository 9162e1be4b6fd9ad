//! The command line as people read it: every word of help is here.

mod names;
mod skill;
mod storing;
mod work;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::data_dir::DATA_DIR_VARIABLE;
use crate::link::PageAddress;

pub(crate) use names::{PromptName, SessionName};
pub(crate) use skill::{InstallSkill, Skill, SkillAgent, SkillCommand};
pub(crate) use storing::{Backup, Doctor, Export, Restore};
pub(crate) use work::{DeleteWork, NamedWork, Next, RenameWork, Work, WorkCommand};

/// The session server for AI agents: nothing an agent says or does is lost.
///
/// Without a command it serves, or joins the server that runs: it prints a link that signs your browser in, and opens it.
/// In a project, the page offers a new session there.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(flatten)]
    pub(crate) serve: Serve,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  throughline                             serve or join, and open the page
  throughline new --name \"first steps\"    begin a session in this directory
  throughline send last \"say hello\"       talk to it; the answer streams in
  throughline status                      does it run, and does anything need you?
  throughline list                        what there is
  throughline show last                   read a session
  throughline watch last                  follow it live
  throughline next last                   the steps that its agent offers, and `--take` takes one
  throughline work                        sessions that belong together
  throughline search flaky upload         find it again, in all sessions
  throughline import                      bring in what other tools left
  throughline token link                  sign another browser in
  throughline token new --device phone    sign a phone in, with a QR code
  throughline backup ~/backups/monday     copy everything, also while the server runs";

/// The options that every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Where everything is kept [default: ~/.throughline]
    #[arg(long, global = true, env = DATA_DIR_VARIABLE, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve the page and the API (the default)
    Serve(Serve),
    /// Begin a session with an agent in a directory
    New(New),
    /// Say whether the server runs, where, and which sessions need you
    Status(Status),
    /// List sessions, most recently active first; * marks those that finished and were not looked at yet
    #[command(after_help = LIST_HELP)]
    List(List),
    /// Print a session's transcript, or one turn of it
    Show(Show),
    /// Print a session's contents: a line a turn
    Toc(Toc),
    /// List pieces of work: sessions that belong together; show, rename or delete one
    #[command(after_help = work::WORK_HELP)]
    Work(Work),
    /// List the steps that a session's agent offers, or take one: it begins the next session
    #[command(after_help = work::NEXT_HELP)]
    Next(Next),
    /// Find words in all sessions, or in one
    #[command(after_help = SEARCH_HELP)]
    Search(Search),
    /// Bring in the conversations that other agents and their command lines left on this machine
    Import(Import),
    /// Send a prompt to a session and print the answer as it comes
    Send(Send),
    /// Print what happens in a session as it happens, whoever began it, until Ctrl+C
    Watch(Watch),
    /// Open a session, or a turn of it, in the browser
    Open(Open),
    /// Answer what an agent asks before it goes on
    Answer(Answer),
    /// List the answers that are remembered, or forget one
    Permissions(Permissions),
    /// Bring a session's agent back, or hand the session over to another
    Resume(Resume),
    /// List the prompts that wait in a session
    Queue(Queue),
    /// Remove a waiting prompt from a session's queue
    Unqueue(Unqueue),
    /// Name a session; an empty name lets it have a title of its own again
    Rename(Rename),
    /// Delete a session; for seven days it can be brought back
    Delete(Delete),
    /// Bring back a session that was deleted
    Undelete(Undelete),
    /// List the agents and whether they are installed, or the sessions that one of them keeps by itself
    Agents(Agents),
    /// Stop the turn that runs
    Stop {
        /// The session: its id, the end of its id as `list` prints it, or `last`
        session: SessionName,
    },
    /// Stop the server; a turn that runs is interrupted, and what was said is kept
    StopServer,
    /// Offer a session's tools to an MCP client, on standard input and output
    Mcp(Mcp),
    /// List the skills that come with it, show one, or put them where your agents look
    #[command(after_help = skill::SKILL_HELP)]
    Skill(Skill),
    /// Sign browsers in; make, list and end credentials
    Token {
        #[command(subcommand)]
        command: Token,
    },
    /// Check that everything that was written is there, and say what to do if not
    Doctor(Doctor),
    /// Copy everything into a new folder, also while the server runs
    Backup(Backup),
    /// Put back a folder that `backup` made, or a file that `export --all` wrote
    Restore(Restore),
    /// Write a session down as Markdown or JSON, or everything with --all
    #[command(after_help = storing::EXPORT_HELP)]
    Export(Export),
    /// Show or check the configuration
    Config {
        #[command(subcommand)]
        command: Option<Config>,
    },
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the API's OpenAPI description
    #[command(hide = true)]
    Openapi,
    /// Stand above the supervisor of one agent; the server starts it
    #[command(hide = true)]
    Keep,
    /// Stand between the server and one agent; its keeper starts it
    #[command(hide = true)]
    Supervise,
    /// Be the built-in agent, on standard input and output
    #[command(hide = true)]
    Guide,
}

#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 takes a free one [default: 127.0.0.1:7417]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Do not open a browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

impl Serve {
    /// Neither option was given. Otherwise `throughline --listen … list` would be accepted and the option ignored.
    pub(crate) const NOT_GIVEN: Self = Self { listen: None, no_open: false };
}

#[derive(Debug, Args)]
pub(crate) struct New {
    /// The agent to talk to
    #[arg(long, default_value = "guide")]
    pub(crate) agent: String,
    /// The directory it works in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// A name for the session
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The piece of work that it belongs to; it begins with this session if it is new
    #[arg(long, value_name = "NAME")]
    pub(crate) work: Option<String>,
    /// Allow / or your home as the directory
    #[arg(long)]
    pub(crate) confirm: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const LIST_HELP: &str = "\
Examples:
  throughline list                     the newest 20
  throughline list upload              those whose title, work or project has this word
  throughline list --needs-you         what waits for an answer, failed, or finished and was not looked at
  throughline list --here --agent codex
  throughline list --all --json";

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only sessions whose title, work or project has these words
    pub(crate) words: Vec<String>,
    /// Only those with this agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only those of this directory's project
    #[arg(long)]
    pub(crate) here: bool,
    /// Only those that wait for an answer, failed, do not respond, or finished and were not looked at yet
    #[arg(long)]
    pub(crate) needs_you: bool,
    /// How many at most
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub(crate) limit: u32,
    /// All of them, without a limit
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Those that were deleted and can be brought back
    #[arg(long, conflicts_with_all = ["words", "agent", "here", "needs_you", "all"])]
    pub(crate) deleted: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Only this turn, such as 7 or t7
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<String>,
    /// Print the entries as JSON, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Toc {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

const SEARCH_HELP: &str = "\
What can be typed:
  retry backoff          both words, in any order; the last one may be the beginning of a word
  \"connection refused\"   exactly these words, one after the other
  parse*                 words that begin so
  error -timeout         without that word
  --exact CONNREF        the text as it stands; capitals count once there is one
  file:main.rs tool:bash outcome:fail exit:1 role:prompt agent:codex project:shop work:checkout
  before:2026-05-01 after:2026-04-01
                         only there; a - before it means everywhere else

Examples:
  throughline search flaky upload test
  throughline search outcome:fail cargo test
  throughline search --session last SOCKET_CLOSED
  throughline search --exact CONNREF";

#[derive(Debug, Args)]
pub(crate) struct Search {
    /// The words, and filters such as file:main.rs
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Only in this session: its id, the end of its id, or `last`
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// The text as it stands, also inside words
    #[arg(long)]
    pub(crate) exact: bool,
    /// How many turns at most
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) limit: u32,
    /// Open the page at the best one
    #[arg(long)]
    pub(crate) open: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Put before a word that begins with `-`, so that clap does not take it for an option.
const WORD_MARK: char = '\u{1}';

/// The arguments, with search words that begin with `-` marked so that they are not options.
pub(crate) fn mark_search_words(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.collect();
    let Some(search) = args.iter().position(|arg| arg == "search") else { return args };
    for arg in &mut args[search + 1..] {
        if let Some(word) = arg.to_str().filter(|word| is_excluded_word(word)) {
            *arg = format!("{WORD_MARK}{word}").into();
        }
    }
    args
}

/// Whether a word is `-timeout`, not `--exact` or `-h`.
fn is_excluded_word(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next() == Some('-') && chars.next().is_some_and(|c| c != '-') && !matches!(word, "-h" | "-V")
}

impl Search {
    /// The query as it was typed.
    pub(crate) fn words(&self) -> String {
        self.query.iter().map(|word| word.trim_start_matches(WORD_MARK)).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Only of these tools: claude, codex, opencode, gemini, goose, qwen, kimi, copilot
    pub(crate) tools: Vec<String>,
    /// List what could be imported, and import nothing
    #[arg(long, conflicts_with = "follow")]
    pub(crate) list: bool,
    /// Keep importing what the tools write from now on
    #[arg(long)]
    pub(crate) follow: bool,
    /// Stop the import that is running
    #[arg(long, conflicts_with_all = ["list", "follow", "tools"])]
    pub(crate) stop: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The prompt; `-` reads it from standard input
    pub(crate) text: String,
    /// Return as soon as the prompt is stored
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Print JSON: the entries of the turn, a line each, or the acknowledgement with --no-wait
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Print the entries as JSON, a line each
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Open {
    /// The session: its id, the end of its id as `list` prints it, or `last` [default: the list of sessions]
    pub(crate) session: Option<SessionName>,
    /// At this turn, such as 7 or t7
    #[arg(long, value_name = "N", requires = "session")]
    pub(crate) turn: Option<String>,
    /// Print the link instead; it signs one browser in, once
    #[arg(long)]
    pub(crate) print: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Answer {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Which request, as `show` prints it; the oldest that waits, unless told
    #[arg(long, value_name = "pN")]
    pub(crate) request: Option<String>,
    /// `allow`, `always`, `deny`, `never`, or the id of one of the agent's own options
    pub(crate) option: String,
    /// Give this answer to exactly the same request from now on, in this directory, without asking
    #[arg(long)]
    pub(crate) remember: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Permissions {
    #[command(subcommand)]
    pub(crate) command: Option<PermissionsCommand>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    /// Forget an answer; the same is asked again
    Forget {
        /// Its id, as `permissions` prints it, or the beginning or end of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Hand it over to this agent, which is told of the newest turns
    #[arg(long)]
    pub(crate) agent: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Queue {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Unqueue {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// Which prompt: its number as `queue` prints it, 1 for the next one, or its id
    pub(crate) prompt: PromptName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// The name; `""` takes it away
    pub(crate) name: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    /// The session: its id, the end of its id as `list` prints it, or `last`
    pub(crate) session: SessionName,
    /// For good, at once: nothing of it can be brought back. Asks first at a terminal
    #[arg(long)]
    pub(crate) now: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Undelete {
    /// The session: its id, the end of its id as `list --deleted` prints it, or `last` for the one that was deleted last
    pub(crate) session: SessionName,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Agents {
    /// The agent whose own sessions to list; it is started for that
    pub(crate) name: Option<String>,
    /// Only the sessions of this directory
    #[arg(long, value_name = "DIR", requires = "name")]
    pub(crate) cwd: Option<PathBuf>,
    /// Go on where an earlier list ended
    #[arg(long, requires = "name")]
    pub(crate) cursor: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The session: its id, the end of its id, or `last` [default: the newest one that works here]
    #[arg(long, env = "THROUGHLINE_SESSION", value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    /// Print a link that signs one browser in, once, within 15 minutes
    Link {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a credential: for a program, printing its secret this once, or for a phone or another computer
    New(NewToken),
    /// List every credential in force
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End a credential and close what it opened
    Revoke {
        /// Its id, as `token list` prints it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// End every credential, sign every browser out, and write a new token file
    Rotate {
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct NewToken {
    /// What to call it
    #[arg(required_unless_present = "device")]
    pub(crate) name: Option<String>,
    /// Sign a phone or another computer in: print a QR code and a link, good once, for the device of this name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["name", "session"])]
    pub(crate) device: Option<String>,
    /// The address under which that device reaches this server [default: as in server.hosts]
    #[arg(long, value_name = "URL", requires = "device", conflicts_with = "name")]
    pub(crate) url: Option<PageAddress>,
    /// Let it reach this one session only, reading: its id, the end of its id, or `last`
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<SessionName>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum Config {
    /// Print what is in force (the default)
    Show {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check the file and say what is wrong
    Check,
    /// Print where the file is
    Path,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_a_search_leaves_out_is_no_option() {
        let args = ["throughline", "search", "error", "-timeout", "-outcome:fail", "--exact", "--limit", "3"];
        let cli = Cli::try_parse_from(mark_search_words(args.into_iter().map(OsString::from))).unwrap();
        let Some(Command::Search(search)) = cli.command else { panic!("it is a search") };
        assert_eq!((search.words().as_str(), search.exact, search.limit), ("error -timeout -outcome:fail", true, 3));
    }
}
