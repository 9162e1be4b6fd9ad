//! Tests what is left of an export or an import whose program was killed.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::support::{Folder, until};

/// What an export writes has its name only once it is whole.
#[test]
fn an_export_that_is_killed_leaves_nothing_that_looks_complete() {
    let folder = Folder::new();
    let server = folder.serve();
    fs::write(folder.work().join("main.rs"), "fn main() {}\n".repeat(100)).unwrap();
    folder.run(&["new", "--name", "the loom"]).ok();
    folder.run(&["send", "last", "show main.rs"]).ok();
    for (options, name) in [
        (&["--as", "html"][..], "a.html"),
        (&["--as", "bundle"], "a.tar"),
        (&["--as", "markdown"], "a.md"),
        (&["--json"], "a.jsonl"),
    ] {
        let (file, partial) = (folder.work().join(name), folder.work().join(format!("{name}.partial")));
        let export = [&["export", "last", "--to", name], options].concat();
        // The system ends it when its file has 512 bytes.
        let plain = folder.command(&export);
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -c 0; ulimit -f 1; exec \"$0\" \"$@\""]).arg(plain.get_program());
        shell.args(plain.get_args()).current_dir(folder.work()).stdin(Stdio::null()).env_clear();
        for (name, value) in plain.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        assert_eq!(shell.status().unwrap().signal(), Some(Signal::XFSZ.as_raw()), "{name}");
        assert!(!file.exists() && partial.exists(), "{name}");
        // The next one takes away what is left, unless somebody writes it or it is somebody's own.
        let left = File::open(&partial).unwrap();
        left.lock().unwrap();
        assert!(folder.run(&export).failed().contains("another export is writing it"), "{name}");
        drop(left);
        folder.run(&export).ok();
        assert!(file.exists() && !partial.exists(), "{name}");
        fs::remove_file(&file).unwrap();
        fs::write(&partial, "# words\n").unwrap();
        assert!(folder.run(&export).failed().contains(&format!("could not write {name}.partial")), "{name}");
        assert_eq!((fs::read_to_string(&partial).unwrap().as_str(), file.exists()), ("# words\n", false), "{name}");
    }
    server.stop();
}

/// A copy that a killed import has left goes when a server starts; one that is being made stays, and so does what is no bundle's.
#[test]
fn what_a_killed_import_has_left_goes_when_a_server_starts() {
    let folder = Folder::new();
    let server = folder.serve();
    let incoming = folder.file("incoming");
    fs::create_dir(&incoming).unwrap();
    let (left, notes) = (incoming.join("0190a8c0-0000-7000-8000-0000000000b1.tar"), incoming.join("notes.tar"));
    fs::write(&left, "a bundle").unwrap();
    fs::write(&notes, "the person's").unwrap();
    // A bundle that comes through a pipe, and not to its end yet.
    let pipe = folder.work().join("slow.tar");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut end = File::options().read(true).write(true).open(&pipe).unwrap();
    let mut import = folder.command(&["import", pipe.to_str().unwrap()]).stderr(Stdio::null()).spawn().unwrap();
    end.write_all(b"throughline-bundle.json\0").unwrap();
    let names = || fs::read_dir(&incoming).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    until(|| format!("{:?}", names()), || names().len() == 3);
    server.stop();
    let server = folder.serve();
    assert_eq!(names().len(), 3, "somebody is at work there");
    drop(end);
    assert!(!import.wait().unwrap().success());
    assert_eq!(names().len(), 2);
    server.stop();
    let server = folder.serve();
    assert_eq!(names(), [notes]);
    server.stop();
}

/// A pipe where the folder for bundles should be is nothing that an import waits for, nor a start.
#[test]
fn a_pipe_in_the_place_of_the_folder_for_bundles_is_refused() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    let bundle = folder.work().join("loom.tar");
    folder.run(&["export", "last", "--to", bundle.to_str().unwrap()]).ok();
    assert!(Command::new("mkfifo").arg(folder.file("incoming")).status().unwrap().success());
    let said = folder.run(&["import", bundle.to_str().unwrap()]).failed();
    assert!(said.contains("could not copy") && said.contains("Not a directory"), "{said}");
    server.stop();
    folder.serve().stop();
}
