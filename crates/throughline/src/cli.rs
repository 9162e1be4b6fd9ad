//! The command line as people read it: every word of help is here.

mod applets;
mod diff;
mod filing;
mod fork;
mod names;
mod reading;
mod search;
mod server;
mod skill;
mod storing;
mod talking;
mod token;
mod usage;
mod work;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::data_dir::DATA_DIR_VARIABLE;

pub(crate) use applets::{Applets, AppletsCommand, DeleteApplet, ExportApplet, ImportApplet, OpenApplet, ShowApplet};
pub(crate) use diff::Diff;
pub(crate) use filing::{Delete, Import, Rename, Several, Tag, Undelete};
pub(crate) use fork::Fork;
pub(crate) use names::{AppletParam, AppletWord, PromptName, SessionName};
pub(crate) use reading::{List, Open, OutputOf, Outputs, Show, Toc, Watch};
pub(crate) use search::{Search, mark_search_words};
pub(crate) use server::{Agents, Config, Mcp, Serve, Status};
pub(crate) use skill::{InstallSkill, Skill, SkillAgent, SkillCommand};
pub(crate) use storing::{Backup, Doctor, Export, ExportFormat, Restore};
pub(crate) use talking::{Answer, New, Permissions, PermissionsCommand, Queue, Resume, Send, Unqueue};
pub(crate) use token::{NewToken, Token};
pub(crate) use usage::{Usage, UsageGrouping};
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
  throughline usage                       tokens and cost, day by day
  throughline next last                   the steps that its agent offers, and `--take` takes one
  throughline work                        sessions that belong together
  throughline search flaky upload         find it again, in all sessions
  throughline applets open counter        a small page with state that lasts, beside the newest session
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
    #[command(after_help = reading::LIST_HELP)]
    List(List),
    /// Print a session's transcript, or one turn of it
    Show(Show),
    /// Print what changed in a session's files, like git diff
    #[command(after_help = diff::DIFF_HELP)]
    Diff(Diff),
    /// Print a session's contents: a line a turn
    Toc(Toc),
    /// List what a session's agent showed: files, pictures, commands and cards; remove some
    #[command(after_help = reading::OUTPUTS_HELP)]
    Outputs(Outputs),
    /// Print something that an agent showed, or some of its lines
    #[command(after_help = reading::OUTPUT_HELP)]
    Output(OutputOf),
    /// List applets: small pages that agents make, with state that lasts; show, open, delete, export or import one
    #[command(after_help = applets::APPLETS_HELP)]
    Applets(Applets),
    /// Say how many tokens were used and what they cost, by day, agent, model, project or work, or of one session
    #[command(after_help = usage::USAGE_HELP)]
    Usage(Usage),
    /// List pieces of work: sessions that belong together; show, rename or delete one
    #[command(after_help = work::WORK_HELP)]
    Work(Work),
    /// List the steps that a session's agent offers, or take one: it begins the next session
    #[command(after_help = work::NEXT_HELP)]
    Next(Next),
    /// Find words in all sessions, or in one
    #[command(after_help = search::SEARCH_HELP)]
    Search(Search),
    /// Bring in what other agents left on this machine, or a session that `export --as bundle` wrote
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
    /// Begin a session that goes on from a turn of another one
    #[command(after_help = fork::FORK_HELP)]
    Fork(Fork),
    /// List the prompts that wait in a session
    Queue(Queue),
    /// Remove a waiting prompt from a session's queue
    Unqueue(Unqueue),
    /// Name a session; an empty name lets it have a title of its own again
    Rename(Rename),
    /// Pin sessions: they stand before the others
    Pin(Several),
    /// Let pinned sessions stand where they belong
    Unpin(Several),
    /// Take sessions out of the list; they come back with their next turn, or when they need you
    Archive(Several),
    /// Bring archived sessions back into the list
    Unarchive(Several),
    /// Give a session tags, or take them away; without any, print those that it has
    #[command(after_help = filing::TAG_HELP)]
    Tag(Tag),
    /// Delete a session; for seven days it can be brought back
    Delete(Delete),
    /// Bring back a session that was deleted
    Undelete(Undelete),
    /// List the agents and whether they are installed, or the sessions that one of them keeps by itself
    Agents(Agents),
    /// Stop the turn that runs, or take back a first prompt that still waits for its agent
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
    /// Write a session down as Markdown, a web page, a bundle or JSON, or everything with --all
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
