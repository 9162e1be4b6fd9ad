//! Tests `throughline serve`: how it starts, who else may start, and how it ends (R28).

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::support::{Folder, mode};

#[test]
fn the_first_line_is_the_link_and_the_files_are_there_and_closed_to_others() {
    let folder = Folder::new();
    let server = folder.serve();
    assert!(server.url.starts_with("http://127.0.0.1:"), "{}", server.link);
    assert!(server.code().len() >= 32 && server.code().bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", server.link);

    let file: Value = serde_json::from_slice(&fs::read(folder.file("server.json")).unwrap()).unwrap();
    assert_eq!(file["url"], server.url.as_str());
    assert_eq!(file["pid"], server.pid());
    assert_eq!(file["socket"], folder.file("server.sock").to_str().unwrap());
    assert!(file["startedAt"].as_str().unwrap().ends_with('Z'));

    assert_eq!(mode(&folder.data()), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder.data()).unwrap() {
        let path = entry.unwrap().path();
        let closed = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), closed, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    for name in ["server.json", "server.sock", "throughline.db", "token"] {
        assert!(names.iter().any(|found| found == name), "no {name} in {names:?}");
    }
    assert!(fs::metadata(folder.file("server.sock")).unwrap().file_type().is_socket());
    assert_eq!(server.status(&fs::read_to_string(folder.file("token")).unwrap()), "200");
    assert_eq!(server.status("wrong"), "401");
    server.stop();
}

/// However these tests were built.
#[test]
fn a_build_without_its_page_says_so_at_the_start_and_at_its_address() {
    let folder = Folder::new();
    let server = folder.serve();
    let page = server.ask("GET /", "", "");
    let has_page = !page.contains("<h1>This build has no page</h1>");
    assert_eq!(page.contains("<code>cargo build --release</code>"), !has_page, "{page}");
    let log = folder.log();
    assert_eq!(log.contains("note: this build has no page"), !has_page, "{log}");
    server.stop();
}

/// A folder that others could read is closed while it is empty; after that its owner must do so.
#[test]
fn an_open_folder_is_closed_if_it_is_empty_and_refused_if_not() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    fs::create_dir(folder.data()).unwrap();
    let open = || fs::set_permissions(folder.data(), fs::Permissions::from_mode(0o750)).unwrap();
    open();
    folder.run(&["list"]).ok();
    assert_eq!(mode(&folder.data()), 0o700);
    open();
    for command in [&["list"][..], &["serve", "--listen", "127.0.0.1:0", "--no-open"]] {
        let said = folder.run(command).failed();
        let mended = format!("close it with `chmod 700 {}`", folder.data().display());
        assert!(said.contains(&mended), "{said}");
    }
    assert_eq!(mode(&folder.data()), 0o750, "what is in it may be there for others");
}

/// A link that nobody can open is refused before it is printed.
#[test]
fn an_address_without_a_name_is_refused() {
    let folder = Folder::new();
    folder.configure("[server]\nbehind_proxy = true\n");
    for command in [&["serve", "--no-open", "--listen", "127.0.0.1:0"][..], &["config", "check"]] {
        let said = folder.run(command).failed();
        assert!(said.contains("server.hosts"), "{said}");
    }
    let said = Folder::new().run(&["serve", "--no-open", "--listen", "127.0.0.2:0"]).failed();
    assert!(said.contains("server.hosts"), "{said}");
    folder.configure("[server]\nbehind_proxy = true\nhosts = [\"box.example\"]\n");
    folder.run(&["config", "check"]).ok();
}

/// R19: one process owns the store; the second says so within a second.
#[test]
fn a_second_server_says_where_the_first_runs() {
    let folder = Folder::new();
    let server = folder.serve();
    let started = Instant::now();
    let second = folder.run(&["serve", "--listen", "127.0.0.1:0", "--no-open"]);
    assert!(started.elapsed() < Duration::from_secs(1), "it took {:?}", started.elapsed());
    let said = second.failed();
    let (data, url, pid) = (folder.data(), &server.url, server.pid());
    let expected = format!("error: a server already runs on {} at {url} (pid {pid})", data.display());
    assert!(said.starts_with(&expected), "{said}");
    // The first one still works.
    assert_eq!(server.status(&fs::read_to_string(folder.file("token")).unwrap()), "200");
    folder.run(&["list"]).ok();
    server.stop();
}

/// R19: the lock belongs to the process, so a crash leaves none behind, whatever files it leaves.
#[test]
fn a_killed_server_leaves_no_lock() {
    let folder = Folder::new();
    for _ in 0..3 {
        let server = folder.serve();
        let (status, _, _) = server.end(Signal::KILL);
        assert_eq!(status.signal(), Some(9));
        assert!(folder.file("throughline.db.lock").exists() && folder.file("server.json").exists());
    }
    // A command can open the store at once, too.
    folder.run(&["list"]).ok();
}

/// A read-only folder is reported as such, and left as it was.
#[test]
fn a_store_that_can_only_be_read_is_told_as_such() {
    use std::os::unix::fs::PermissionsExt as _;
    if rustix::process::geteuid().is_root() {
        println!(
            "not run: whoever may do everything may write everywhere; `cargo xtask faults` mounts a read-only disk"
        );
        return;
    }
    let folder = Folder::new();
    folder.serve().stop();
    let names = |folder: &Folder| {
        let mut names: Vec<_> = fs::read_dir(folder.data()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = (names(&folder), fs::read(folder.file("throughline.db")).unwrap());
    for path in [folder.file("throughline.db"), folder.file("throughline.db.lock")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
    }
    let close = |mode| fs::set_permissions(folder.data(), fs::Permissions::from_mode(mode)).unwrap();
    close(0o500);
    let said = folder.run(&["serve", "--listen", "127.0.0.1:0", "--no-open"]).failed();
    close(0o700);
    assert!(said.contains("throughline.db can not be written here"), "{said}");
    assert_eq!((names(&folder), fs::read(folder.file("throughline.db")).unwrap()), before);
}

/// R28: a second signal does not wait for what the first one waits for, here a client that does not end its request.
#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = Folder::new();
    let server = folder.serve();
    let token = fs::read_to_string(folder.file("token")).unwrap();
    let mut caller = std::net::TcpStream::connect(server.address()).unwrap();
    let head =
        format!("POST /api/v1/sessions HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n", server.address());
    let body = "Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n";
    caller.write_all((head + body).as_bytes()).unwrap();
    // Its handler runs: it has requested the body.
    let mut answer = [0; 25];
    caller.read_exact(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 100 Continue"), "{}", String::from_utf8_lossy(&answer));

    server.signal(Signal::TERM);
    let started = Instant::now();
    while !folder.log().contains("stopping") {
        assert!(started.elapsed() < Duration::from_secs(10), "it does not begin to stop");
    }
    let (status, took, _) = server.end(Signal::TERM);
    assert!(took < Duration::from_secs(1), "it took {took:?}");
    assert_eq!(status.code(), Some(0), "{}", folder.log());
    assert!(folder.log().contains("stopped with something still open"), "{}", folder.log());
    folder.serve().stop();
}

#[test]
fn a_signal_ends_it_cleanly_and_leaves_no_file_behind() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = Folder::new();
        // Right after the first line: whoever reads it may also end the server.
        for _ in 0..3 {
            let (status, took, rest) = folder.serve().end(signal);
            assert!(status.success(), "{status}: {}", folder.log());
            assert!(took < Duration::from_secs(5), "it took {took:?}");
            assert_eq!(rest, "");
        }
        for name in ["server.json", "server.sock"] {
            assert!(!folder.file(name).exists(), "{name} is still there");
        }
    }
}

#[test]
fn a_turn_that_runs_is_interrupted_when_the_server_is_stopped() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    folder.run(&["send", "last", "--no-wait", "slow 600"]).ok();
    folder.until_logged("turn.started");
    let (status, took, _) = server.end(Signal::TERM);
    assert!(status.success() && took < Duration::from_secs(10), "{status} after {took:?}");
    let shown = folder.run(&["show", "last"]).ok();
    assert!(shown.ends_with("[interrupted: the server was shut down while this turn ran]\n"), "{shown}");
}

/// The last entries of sessions still reach their followers.
#[test]
fn whoever_waits_for_a_turn_hears_that_it_was_interrupted() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let said = std::thread::scope(|scope| {
        let waits = scope.spawn(|| folder.run(&["send", "last", "slow 600"]));
        folder.until_logged("turn.started");
        let (status, took, _) = server.end(Signal::TERM);
        assert!(status.success() && took < Duration::from_secs(10), "{status} after {took:?}");
        waits.join().unwrap().stderr
    });
    assert_eq!(said, "error: the turn was interrupted: the server was shut down while this turn ran\n");
}

/// `kill -9` loses nothing that was acknowledged, and no prompt is sent again automatically.
#[test]
fn a_killed_server_finds_its_turns_interrupted() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new", "--name", "killed"]).ok();
    folder.run(&["send", "last", "say kept"]).ok();
    folder.run(&["send", "last", "--no-wait", "slow 60"]).ok();
    folder.run(&["send", "last", "--no-wait", "say waits"]).ok();
    let (status, _, _) = server.end(Signal::KILL);
    assert_eq!(status.signal(), Some(9));
    assert!(folder.file("server.json").exists(), "it had no time to tidy up");

    let server = folder.serve();
    let shown = folder.run(&["show", "last"]).ok();
    // The turn's text is there if it was stored in time; it was never promised.
    let shown = folder.named(&shown).replace("\n  Taking 60 s.\n", "");
    insta::assert_snapshot!(shown, @r"
    killed
    guide in WORK

    t1 > say kept

      kept

    t2 > slow 60

      [interrupted: the server ended while this turn ran]

    waits  say waits
    ");
    let entries = folder.run(&["show", "last", "--json"]).ok();
    let sent = entries.lines().filter(|line| line.contains(r#""type":"prompt.sent""#)).count();
    assert_eq!(sent, 2, "{entries}");
    let list: Value = serde_json::from_str(&folder.run(&["list", "--json"]).ok()).unwrap();
    assert_eq!(list["sessions"][0]["state"], "interrupted");
    server.stop();
}

#[test]
fn an_address_that_others_reach_needs_tls_or_a_proxy() {
    let folder = Folder::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let said = folder.run(&["serve", "--listen", address, "--no-open"]).failed();
        assert!(said.contains("can be reached from other machines"), "{said}");
        assert!(said.contains("server.tls") && said.contains("server.behind_proxy"), "{said}");
    }
    assert!(!folder.file("throughline.db").exists(), "nothing is made before the address is judged");
    folder.configure("[server]\nlisten = \"0.0.0.0:0\"\n");
    assert!(folder.run(&["config", "check"]).failed().contains("server.behind_proxy"));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let folder = Folder::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = folder.run(&["serve", "--listen", &address, "--no-open"]).failed();
    assert!(said.contains(&format!("could not listen on {address}; choose another with --listen")), "{said}");
    assert!(!folder.file("server.json").exists());
}
