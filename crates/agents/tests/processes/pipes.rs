//! Tests what passes through an agent's pipes, and what does not.

use std::task::Poll;

use agents::process::{Exit, Faults, Launched, LineSink, Lines, PipeFault};
use futures_util::{SinkExt as _, StreamExt as _};

use crate::support::{Place, eventually, lines_of};

#[tokio::test]
async fn an_agent_is_spoken_to_and_answers() {
    let place = Place::new();
    let launched = place.launch("while read -r line; do echo \"got $line\"; done; echo over >&2; exit 3").await;
    let Launched { mut process, stdin, stdout } = launched;
    let faults = Faults::default();
    let (mut input, mut output) = (LineSink::new(stdin, &faults), Lines::new(stdout, &faults));
    for line in ["one", "two"] {
        input.send(line.to_owned()).await.unwrap();
        assert_eq!(output.next().await.unwrap().unwrap(), format!("got {line}"));
    }
    drop(input);
    assert!(output.next().await.is_none());
    let ended = process.ended().await;
    assert_eq!((ended.exit, ended.stderr.as_str()), (Exit::Code(3), "over\n"));
    assert_eq!(ended, process.ended().await, "asked again");
}

#[tokio::test]
async fn all_that_an_agent_wrote_before_its_end_is_read() {
    let place = Place::new();
    let Launched { mut process, stdin: _stdin, stdout } = place.launch("seq 1 2000; kill -9 $$").await;
    assert_eq!(process.ended().await.exit, Exit::Signal(9));
    let expected: Vec<String> = (1..=2000).map(|n| n.to_string()).collect();
    assert_eq!(lines_of(stdout).await, expected);
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_ends_the_stream() {
    let place = Place::new();
    let script = "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo after";
    let Launched { process, stdin: _stdin, stdout } = place.launch(script).await;
    let faults = Faults::default();
    let mut lines = Lines::new(stdout, &faults);
    assert_eq!(lines.next().await.unwrap().unwrap(), "first");
    let end = lines.next().await.unwrap().unwrap_err();
    assert_eq!(end.to_string(), PipeFault::LineTooLong.to_string());
    assert!(lines.next().await.is_none());
    assert_eq!(faults.first().map(PipeFault::code), Some("line_too_long"));
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn what_is_no_text_is_mended_and_counted() {
    let place = Place::new();
    let launched = place.launch("printf 'a\\377b\\nfine\\n'").await;
    let faults = Faults::default();
    let lines: Vec<_> = Lines::new(launched.stdout, &faults).map(Result::unwrap).collect().await;
    assert_eq!(lines, ["a\u{fffd}b", "fine"]);
    assert_eq!((faults.replaced_lines(), faults.first()), (1, None));
}

#[tokio::test]
async fn an_agent_that_closes_its_output_lives_on() {
    let place = Place::new();
    // No `exec` of another program: during one, a process has for a moment no environment by which it is found.
    let launched = place.launch("exec >&-; read line").await;
    let Launched { mut process, stdin: _stdin, stdout } = launched;
    assert!(lines_of(stdout).await.is_empty());
    assert_eq!(place.tagged(), [process.pid()]);
    assert!(matches!(futures_util::poll!(std::pin::pin!(process.ended())), Poll::Pending));
    assert_eq!(process.kill().await.exit, Exit::Signal(9));
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn an_agent_that_never_reads_its_input_has_failed() {
    let place = Place::new();
    let Launched { process, stdin, stdout: _stdout } = place.launch("exec sleep 1000").await;
    let faults = Faults::default();
    let mut input = LineSink::new(stdin, &faults);
    tokio::time::pause();
    let failed = input.send("x".repeat(1024 * 1024)).await.unwrap_err();
    tokio::time::resume();
    assert_eq!(failed.to_string(), PipeFault::InputNotRead.to_string());
    assert_eq!(faults.first().map(PipeFault::code), Some("input_not_read"));
    process.kill().await;
    place.wait_until_nobody_is_left();
}

#[tokio::test]
async fn input_for_an_agent_that_has_ended_is_an_error() {
    let place = Place::new();
    let Launched { mut process, stdin, stdout: _stdout } = place.launch("true").await;
    process.ended().await;
    let mut input = LineSink::new(stdin, &Faults::default());
    let failed = input.send("anybody?".to_owned()).await.unwrap_err();
    assert_eq!(failed.kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn the_end_of_standard_error_is_kept() {
    let place = Place::new();
    let Launched { mut process, .. } = place.launch("seq 1 100000 >&2").await;
    let all: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    let stderr = process.ended().await.stderr;
    assert_eq!(stderr, all[all.len() - 64 * 1024..]);
    assert_eq!(*process.stderr_tail(), *stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn standard_error_is_seen_while_the_agent_runs() {
    let place = Place::new();
    let launched = place.launch("echo warming up >&2; read -r line; echo \"$line\" >&2; exec sleep 1000").await;
    let tail = || launched.process.stderr_tail().to_string();
    eventually("the first words", || tail() == "warming up\n", tail);
    LineSink::new(launched.stdin, &Faults::default()).send("go on".to_owned()).await.unwrap();
    eventually("the next words", || tail() == "warming up\ngo on\n", tail);
}
