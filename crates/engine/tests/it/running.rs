//! Commands that are shown and really run: how they end, that all they started ends with them, and what is kept.

use std::collections::BTreeMap;
use std::time::Duration;

use agents::Agents;
use agents::policy::{PermissionPolicy, Policy};
use agents::process::Launcher;
use engine::{
    Agency, Cancel, CommandEnd, CommandProgress, CommandState, CommandToShow, Follow, Followed, Keep, OutputSettings,
};
use model::{Answerer, EndedBy, OutputKind, OutputRow, PermissionAnswer, Request, Seq, SessionEvent, SessionId};

use crate::support::{Background, World, asker, next_event};

/// Runs whatever it is told to, with the supervisor of the tests.
fn running() -> Agency {
    let agency = Agency::only_guide();
    let settings = agents::AgentSettings {
        launcher: Launcher::new(env!("CARGO_BIN_EXE_launch-commands").into()),
        environment: BTreeMap::from([
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("SECRET_KEY".to_owned(), "hidden".to_owned()),
        ]),
        ..agents::AgentSettings::in_process(agency.catalog.entries())
    };
    let policy = PermissionPolicy::new(Policy::Allow, BTreeMap::new()).unwrap();
    Agency { agents: Agents::new(settings), policy, ..agency }
}

async fn world(limit: Duration) -> World {
    World::showing(running, OutputSettings { command_limit: limit, ..OutputSettings::in_memory() }).await
}

/// Longer than any test.
const LONG: Duration = Duration::from_secs(600);

async fn busy(world: &World) -> (SessionId, Follow) {
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    world.prompt(session, "slow 3600").await;
    while !matches!(next_event(&mut follow).await, SessionEvent::TurnStarted { .. }) {}
    (session, follow)
}

fn command(command: &str) -> CommandToShow {
    CommandToShow { command: command.to_owned(), cwd: None }
}

async fn show(world: &World, session: SessionId, text: &str) -> OutputRow {
    shown(world.engine.run_and_show(session, command(text), asker()).await.unwrap())
}

fn shown(progress: CommandProgress) -> OutputRow {
    match progress.state {
        CommandState::Ended(CommandEnd::Shown(row)) => *row,
        other => panic!("{other:?}"),
    }
}

async fn text(world: &World, row: &OutputRow) -> String {
    String::from_utf8(world.engine.read_output(row, 0, 20 << 20).await.unwrap()).unwrap()
}

/// Follows until the output of a command that runs holds this text.
async fn printed(follow: &mut Follow, wanted: &str) -> String {
    let mut text = String::new();
    loop {
        if let Followed::Printed(piece) = follow.next().await.unwrap() {
            assert_eq!(piece.offset as usize, text.len());
            text.push_str(&piece.text);
            if text.contains(wanted) {
                return text;
            }
        }
    }
}

/// Waits until no process has this id, or a reused id belongs to another program.
async fn gone(pid: &str) {
    while std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains("sleep")) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn both_outputs_in_their_order_with_the_exit_code_and_little_of_the_environment() {
    let world = world(LONG).await;
    let (session, _follow) = busy(&world).await;
    let row = show(&world, session, "echo one; echo two >&2; echo three; cat; exit 3").await;
    assert_eq!(text(&world, &row).await, "one\ntwo\nthree\n");
    let about = &row.output.about;
    assert_eq!((row.output.kind, row.turn.0), (OutputKind::Terminal, 1));
    assert_eq!((about.exit_code, about.ended_by, about.lines, about.cut), (Some(3), None, Some(3), false));
    assert!(about.duration_ms.is_some() && about.cwd.is_none());
    assert_eq!(about.command.as_deref(), Some("echo one; echo two >&2; echo three; cat; exit 3"));

    let row = show(&world, session, "pwd; echo \"[$SECRET_KEY]\"; no-such-program; printf 'a\\377\\033[31mb'").await;
    let bytes = world.engine.read_output(&row, 0, 1_000).await.unwrap();
    assert!(bytes.starts_with(format!("{}\n[]\n", world.cwd).as_bytes()), "{}", String::from_utf8_lossy(&bytes));
    assert!(bytes.ends_with(b"a\xff\x1b[31mb"), "the bytes are kept as they came");
    let row = show(&world, session, "if then").await;
    assert!(
        row.output.about.exit_code.is_some_and(|code| code != 0) && row.bytes > 0,
        "the shell's own words are shown"
    );
    std::fs::create_dir(format!("{}/below", world.cwd)).unwrap();
    let wanted = CommandToShow { command: "pwd".to_owned(), cwd: Some("below".to_owned()) };
    let row = shown(world.engine.run_and_show(session, wanted, asker()).await.unwrap());
    assert_eq!(text(&world, &row).await, format!("{}/below\n", world.cwd));
    assert_eq!(row.output.about.cwd, Some(format!("{}/below", world.cwd)));
    world.engine.shutdown().await;
}

#[tokio::test]
async fn at_its_limit_the_whole_tree_ends_and_what_was_printed_is_shown() {
    let world = world(Duration::from_secs(1)).await;
    let (session, _follow) = busy(&world).await;
    let line = "sleep 3600 & echo $!; setsid sleep 3600 & echo $!; (trap '' TERM; sleep 3600 & echo $!; wait)";
    let row = show(&world, session, line).await;
    let about = &row.output.about;
    assert_eq!((about.exit_code, about.ended_by, about.cut), (None, Some(EndedBy::Timeout), false));
    let pids = text(&world, &row).await;
    assert_eq!(pids.lines().count(), 3, "{pids}");
    for pid in pids.lines() {
        gone(pid).await;
    }
    world.engine.shutdown().await;
}

#[tokio::test]
async fn what_is_more_than_is_kept_is_cut_and_the_command_is_ended() {
    let world = world(LONG).await;
    let (session, _follow) = busy(&world).await;
    let row = show(&world, session, "yes").await;
    let about = &row.output.about;
    assert_eq!((row.bytes, about.ended_by, about.cut), (10 << 20, Some(EndedBy::Limit), true));
    assert_eq!((about.exit_code, about.lines), (None, Some(5 << 20)));
    let row = show(&world, session, "kill -9 $$").await;
    assert_eq!((row.output.about.exit_code, row.output.about.ended_by), (None, Some(EndedBy::Signal)));
    world.engine.shutdown().await;
}

#[tokio::test]
async fn followers_see_it_live_and_a_cancelled_one_is_shown_as_far_as_it_came() {
    let world = world(LONG).await;
    let (session, mut follow) = busy(&world).await;
    let engine = world.engine.clone();
    let line = "sleep 3600 & echo $!; echo ready; wait";
    let call = Background::start(async move { engine.run_and_show(session, command(line), asker()).await.unwrap() });
    let seen = printed(&mut follow, "ready\n").await;
    let mut late = world.engine.follow(session, None).await.unwrap();
    assert_eq!(printed(&mut late, "ready\n").await, seen);
    world.engine.submit(session, Cancel, asker()).await.unwrap();
    let row = shown(call.result().await);
    assert_eq!(row.output.about.ended_by, Some(EndedBy::Cancelled));
    assert_eq!(text(&world, &row).await, seen);
    gone(seen.lines().next().unwrap()).await;
    let kinds = world.log(session).await;
    let place = |kind: &str| kinds.find(kind).unwrap();
    while !world.log(session).await.contains("turn.ended") {
        next_event(&mut follow).await;
    }
    assert!(place("permission.answered") < place("output.stored"), "{kinds}");
    world.engine.shutdown().await;
}

/// An agent that ends its turn does not leave the command behind, and what it printed is in that turn.
#[tokio::test]
async fn a_command_ends_with_its_turn_and_is_stored_before_the_turn_ends() {
    let world = World::showing(asking, OutputSettings::in_memory()).await;
    let session = world.session().await;
    let mut follow = world.engine.follow(session, None).await.unwrap();
    // The turn goes on until this question is answered.
    let prompt = world.prompt(session, "run true").await;
    let of_the_agent = asked(&mut follow).await;
    let engine = world.engine.clone();
    let line = "sleep 3600 & echo $!; echo ready; wait";
    let call = Background::start(async move { engine.run_and_show(session, command(line), asker()).await.unwrap() });
    let of_the_tool = asked(&mut follow).await;
    allow(&world, session, of_the_tool).await;
    let seen = printed(&mut follow, "ready\n").await;
    allow(&world, session, of_the_agent).await;
    let row = shown(call.result().await);
    assert_eq!(row.output.about.ended_by, Some(EndedBy::Cancelled));
    world.finish(session, prompt).await;
    let log = world.log(session).await;
    assert!(log.find("output.stored").unwrap() < log.find("turn.ended").unwrap(), "{log}");
    gone(seen.lines().next().unwrap()).await;
    world.engine.shutdown().await;
}

fn asking() -> Agency {
    Agency { policy: PermissionPolicy::default(), ..running() }
}

async fn asked(follow: &mut Follow) -> Request {
    loop {
        if let SessionEvent::PermissionAsked { request, .. } = next_event(follow).await {
            return request;
        }
    }
}

async fn allow(world: &World, session: SessionId, request: Request) {
    let (option, by) = (Some("allow-once".to_owned()), Answerer::Nobody);
    let answer = PermissionAnswer { option, kind: None, fields: None, by, remembered: None };
    world.engine.answer(session, request, answer, Keep::Once, asker()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_ends_in_the_middle_leaves_nothing_running_and_nothing_half() {
    let mut world = world(LONG).await;
    let (session, mut follow) = busy(&world).await;
    let engine = world.engine.clone();
    let line = "sleep 3600 & echo $!; echo ready; wait";
    let call = Background::start(async move { engine.run_and_show(session, command(line), asker()).await });
    let seen = printed(&mut follow, "ready\n").await;
    drop(follow);
    world.stop_and_restart().await;
    gone(seen.lines().next().unwrap()).await;
    let progress = call.result().await.unwrap();
    assert!(matches!(progress.state, CommandState::Ended(CommandEnd::Cancelled)), "{progress:?}");
    assert!(world.engine.outputs(session, Seq::START, 9).await.unwrap().is_empty());
    assert!(world.engine.command_progress(session, progress.id).is_none());
    world.engine.shutdown().await;
}

#[tokio::test]
async fn the_ends_of_a_long_output_are_whole_lines_with_their_numbers() {
    let world = world(LONG).await;
    let (session, _follow) = busy(&world).await;
    let row = show(&world, session, "seq 1 100000").await;
    let ends = world.engine.output_ends(&row, 8 << 10).await.unwrap();
    let is_itself = |line: &engine::FoundLine| line.text == line.number.to_string() && !line.cut;
    assert!(ends.head.iter().chain(&ends.tail).all(is_itself), "{ends:?}");
    assert_eq!((ends.head[0].number, ends.tail.last().unwrap().number), (1, 100_000));
    let row = show(&world, session, "seq 1 100").await;
    let whole = world.engine.output_ends(&row, 8 << 10).await.unwrap();
    assert_eq!((whole.head.len(), whole.tail.len()), (100, 0));
    world.engine.shutdown().await;
}
