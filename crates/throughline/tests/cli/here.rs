//! Tests `throughline` without a command: the page, ready for a session in the current directory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use crate::support::{DEADLINE, Folder};
use crate::terminal::Terminal;

/// A free port, whatever runs beside the test.
const ANYWHERE: &str = "[server]\nlisten = \"127.0.0.1:0\"\n";

/// The part of a link after its address and code.
fn rest_of(link: &str) -> &str {
    let code = link.trim_end().split_once("/#code=").unwrap().1;
    &code[32..]
}

#[test]
fn a_new_server_offers_a_session_in_the_project_around() {
    let mut folder = Folder::new();
    folder.configure(ANYWHERE);
    // Without a directory: a server is also started from where nobody wants to work.
    let server = folder.begin(&[]);
    assert_eq!(rest_of(&server.link), "");
    server.stop();
    let deep = folder.work().join("a project/src");
    fs::create_dir_all(&deep).unwrap();
    fs::create_dir(folder.work().join("a project/.git")).unwrap();
    folder.stand_in(deep);
    let server = folder.begin(&[]);
    let work = folder.work();
    assert_eq!(rest_of(&server.link), format!("&new={}/a%20project", work.display()));
    server.stop();
    let server = folder.begin(&["serve", "--no-open"]);
    assert_eq!(rest_of(&server.link), "", "what scripts start has the plain link");
    server.stop();
}

#[test]
fn a_server_that_runs_is_joined() {
    let mut folder = Folder::new();
    let server = folder.serve();
    let pid = server.pid();
    let joined = folder.run(&[]);
    assert_eq!(joined.code, Some(0));
    let expected = format!("note: a server is already running at {} (pid {pid}); the link leads there\n", server.url);
    assert_eq!(joined.stderr, expected);
    let work = folder.work();
    assert_eq!(rest_of(&joined.stdout), format!("&new={}", work.display()));
    let code = &joined.stdout.split_once("/#code=").unwrap().1[..32];
    let answer = server.ask("POST /api/v1/auth/exchange", "", &format!("{{\"code\":\"{code}\"}}"));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    // A given address is not served by another server; nor is a service manager.
    for arguments in [&["--listen", "127.0.0.1:0"][..], &["serve"]] {
        let said = folder.run(arguments).failed();
        assert!(said.starts_with("error: a server already runs on"), "{said}");
    }
    folder.stand_in(folder.home());
    assert_eq!(rest_of(&folder.run(&[]).stdout), "", "no agent is let loose on a whole home");
    server.stop();
}

#[test]
fn at_a_terminal_it_says_so_and_opens_the_browser() {
    let folder = Folder::new();
    let (bin, seen) = (folder.home().join("bin"), folder.home().join("seen"));
    fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\necho \"$1\" > {}\n", seen.display());
    fs::write(bin.join("xdg-open"), script).unwrap();
    fs::set_permissions(bin.join("xdg-open"), fs::Permissions::from_mode(0o755)).unwrap();
    let folder = folder.with_env("PATH", bin.to_str().unwrap());
    let server = folder.serve();

    let (status, shown) = Terminal::begin(&folder, &["--no-open"]).ended();
    assert!(status.success(), "{status}: {shown}");
    let mut lines = shown.lines();
    let first = format!("A server is already running at {} (pid {}).", server.url, server.pid());
    assert_eq!(lines.next(), Some(first.as_str()));
    let offer = format!("Begin a session in {}: {}/#code=", folder.work().display(), server.url);
    assert!(lines.next().unwrap().starts_with(&offer), "{shown}");
    assert!(!seen.exists());

    let (status, shown) = Terminal::begin(&folder, &[]).ended();
    assert!(status.success(), "{status}: {shown}");
    let started = Instant::now();
    let opened = loop {
        match fs::read_to_string(&seen) {
            Ok(text) if text.ends_with('\n') => break text,
            _ => assert!(started.elapsed() < DEADLINE, "no browser was opened: {shown}"),
        }
    };
    assert!(shown.contains(&format!(": {opened}")), "{shown} {opened}");
    server.stop();
}
