//! The commands, a file each.

mod agents;
mod answer;
mod answer_printer;
mod applets;
mod backup;
mod completions;
mod config;
mod delete;
mod diff;
mod doctor;
mod export;
mod filing;
mod fork;
mod guide;
mod here;
mod import;
mod installed;
mod list;
mod mcp;
mod new;
mod next;
mod open_page;
mod outputs;
mod payload_text;
mod permissions;
mod queue;
mod rename;
mod restore;
mod resume;
mod search;
mod seen;
mod send;
mod serve;
mod show;
mod skill;
mod status;
mod stop;
mod stop_server;
mod toc;
mod token;
mod usage;
mod watch;
mod work;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::cli::{Cli, Command, Serve};
use crate::commands::filing::Become;
use crate::data_dir::DataDir;
use crate::host::{self, home};
use crate::{hint, terminal};

pub(crate) use list::tail;

/// Runs the command; some commands report by their exit code what they found.
pub(crate) async fn run(cli: Cli) -> Result<ExitCode> {
    hint::set_options(&cli.global, host::data_dir_of_environment().as_deref());
    let data = || DataDir::resolve(cli.global.data_dir.clone(), home().as_deref());
    if cli.command.is_some() && cli.serve != Serve::NOT_GIVEN {
        bail!("--listen and --no-open belong to `throughline serve`; write them after it");
    }
    let done = match cli.command {
        Some(Command::Doctor(doctor)) => return doctor::run(&data()?, &doctor).await,
        Some(Command::Export(export)) => return export::run(&data()?, export).await,
        Some(Command::Skill(skill)) => return skill::run(skill),
        Some(Command::Keep) => return Ok(::agents::process::keep()),
        Some(Command::Supervise) => return Ok(::agents::process::supervise()),
        None => here::run(&data()?, &cli.serve).await,
        Some(Command::Serve(serve)) => serve::run(&data()?, &serve, None).await,
        Some(Command::New(new)) => new::run(&data()?, new).await,
        Some(Command::Status(status)) => status::run(&data()?, &status).await,
        Some(Command::List(list)) => list::run(&data()?, &list).await,
        Some(Command::Show(show)) => show::run(&data()?, &show).await,
        Some(Command::Diff(diff)) => diff::run(&data()?, &diff).await,
        Some(Command::Toc(toc)) => toc::run(&data()?, &toc).await,
        Some(Command::Outputs(outputs)) => outputs::run(&data()?, &outputs).await,
        Some(Command::Output(output)) => outputs::print(&data()?, &output).await,
        Some(Command::Applets(applets)) => applets::run(&data()?, applets).await,
        Some(Command::Usage(usage)) => usage::run(&data()?, &usage).await,
        Some(Command::Work(work)) => work::run(&data()?, work).await,
        Some(Command::Next(next)) => next::run(&data()?, next).await,
        Some(Command::Search(search)) => search::run(&data()?, &search).await,
        Some(Command::Import(import)) => import::run(&data()?, import).await,
        Some(Command::Send(send)) => send::run(&data()?, send).await,
        Some(Command::Watch(watch)) => watch::run(&data()?, &watch).await,
        Some(Command::Open(open)) => open_page::run(&data()?, &open).await,
        Some(Command::Answer(answer)) => answer::run(&data()?, answer).await,
        Some(Command::Permissions(permissions)) => permissions::run(&data()?, permissions).await,
        Some(Command::Resume(resume)) => resume::run(&data()?, resume).await,
        Some(Command::Fork(fork)) => fork::run(&data()?, fork).await,
        Some(Command::Queue(queue)) => queue::list(&data()?, &queue).await,
        Some(Command::Unqueue(unqueue)) => queue::remove(&data()?, &unqueue).await,
        Some(Command::Rename(rename)) => rename::run(&data()?, rename).await,
        Some(Command::Pin(several)) => filing::several(&data()?, Become::Pinned(true), &several).await,
        Some(Command::Unpin(several)) => filing::several(&data()?, Become::Pinned(false), &several).await,
        Some(Command::Archive(several)) => filing::several(&data()?, Become::Archived(true), &several).await,
        Some(Command::Unarchive(several)) => filing::several(&data()?, Become::Archived(false), &several).await,
        Some(Command::Tag(tag)) => filing::tag(&data()?, &tag).await,
        Some(Command::Delete(delete)) => delete::run(&data()?, &delete).await,
        Some(Command::Undelete(undelete)) => delete::undo(&data()?, &undelete).await,
        Some(Command::Agents(agents)) => self::agents::run(&data()?, agents).await,
        Some(Command::Stop { session }) => stop::run(&data()?, &session).await,
        Some(Command::StopServer) => stop_server::run(&data()?).await,
        Some(Command::Mcp(mcp)) => mcp::run(&data()?, &mcp).await,
        Some(Command::Backup(backup)) => backup::run(&data()?, backup).await,
        Some(Command::Restore(restore)) => restore::run(&data()?, restore).await,
        Some(Command::Token { command }) => token::run(&data()?, command).await,
        Some(Command::Config { command }) => config::run(&data()?, command),
        Some(Command::Completions { shell }) => completions::run(shell),
        Some(Command::Guide) => guide::run().await,
        Some(Command::Openapi) => Ok(terminal::print_text(&server::openapi())?),
    };
    done.map(|()| ExitCode::SUCCESS)
}
