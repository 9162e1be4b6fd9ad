//! Payloads of a whole store: what a check says of them, and that a backup and an export bring them back byte by byte.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use model::{
    AboutOutput, AgentReport, BODY_BYTES, BodyHash, Command, Draft, Image, Memory, NamedPayload, Output, OutputId,
    OutputKind, SessionId, ToolChange, ToolContent,
};
use sha2::{Digest as _, Sha256};

use crate::conformance::{AnyStore, act, at, attached, batch, create, prompt, prompt_with, session_id, stream};
use crate::outside::{Depth, ExportWish, RestoreError, RestoreWish, StoreFile};
use crate::prelude::*;
use crate::sqlite::tests::outside::{backup, carry_out, check, export, named, restore_from, told, wish};
use crate::sqlite::tests::{folder, open_at};

/// One of each type, with bytes that no encoding may change; the last is longer than a line of an export.
fn shown() -> Vec<(OutputKind, &'static str, Vec<u8>)> {
    let every_byte: Vec<u8> = (0..=255).collect();
    vec![
        (OutputKind::File, "text/plain; charset=utf-8", b"one\r\ntwo\n\xc3\xa4".to_vec()),
        (OutputKind::Terminal, "text/plain; charset=utf-8", b"\x1b[31mred\x1b[0m\x07".to_vec()),
        (OutputKind::Image, "image/png", [b"\x89PNG\r\n\x1a\n".to_vec(), every_byte.clone()].concat()),
        (OutputKind::Embed, "application/json", br#"{"url":"https://example.org"}"#.to_vec()),
        (OutputKind::Raw, "application/octet-stream", Vec::new()),
        (OutputKind::Raw, "application/octet-stream", every_byte.repeat(8 << 10)),
    ]
}

/// A text and a picture that are too long for an entry.
fn bodies() -> [Vec<u8>; 2] {
    let every_byte: Vec<u8> = (0..=255).collect();
    ["what the tool said\u{e4}\r\n".repeat(5 << 10).into_bytes(), every_byte.repeat(1 << 10)]
}

/// The bytes of all payloads of [`write_shown`], in its order.
fn payloads() -> Vec<Vec<u8>> {
    shown().into_iter().map(|(_, _, bytes)| bytes).chain(bodies()).collect()
}

fn output(n: u8, kind: OutputKind, mime_type: &str, body: &[u8]) -> Output {
    Output {
        id: OutputId::from_bytes([n; 16]),
        kind,
        mime_type: mime_type.to_owned(),
        bytes: body.len() as u64,
        sha256: format!("{:x}", Sha256::digest(body)),
        about: AboutOutput::default(),
    }
}

/// A session that shows all of them, with a long result and a prompt's picture; their files are beside the store. The paths of these.
async fn write_shown(path: &Path) -> Vec<String> {
    let store: AnyStore = Arc::new(open_at(path));
    act(&store, 1, create("one"), 1).await;
    act(&store, 1, attached("theirs", Memory::New), 2).await;
    act(&store, 1, prompt(1, "show me"), 3).await;
    let mut paths = Vec::new();
    for (n, (kind, mime_type, bytes)) in (1..).zip(shown()) {
        let output = output(n, kind, mime_type, &bytes);
        let file = NamedPayload::of(&output).path;
        put(path, session_id(1), &file, &bytes);
        act(&store, 1, Command::StoreOutput(Box::new(output)), 3 + i64::from(n)).await;
        paths.push(file);
    }
    let mut draft = Draft::new(session_id(1), store.session(session_id(1)).await.unwrap()).cutting(BODY_BYTES);
    let [text, picture] = bodies();
    let said = ToolContent::Text { text: String::from_utf8(text).unwrap() };
    let change = ToolChange { content: Some(vec![said]), ..ToolChange::default() };
    let data = BASE64_STANDARD.encode(picture);
    let picture = Image { mime_type: "image/png".to_owned(), data, body: None };
    for command in [
        Command::Agent(AgentReport::ToolStarted { tool: 1, call_id: "c".to_owned(), change }),
        prompt_with(2, "look", vec![picture]),
    ] {
        draft.apply(command, at(20)).unwrap();
    }
    for body in draft.bodies() {
        let file = format!("bodies/{}", body.hash);
        put(path, session_id(1), &file, &body.bytes);
        paths.push(file);
    }
    assert_eq!(
        draft.bodies().iter().map(|body| body.hash).collect::<Vec<_>>(),
        bodies().map(|bytes| BodyHash::of(&bytes))
    );
    store.append(batch([draft.take()])).await.unwrap();
    paths
}

fn file_of(store: &Path, session: SessionId, path: &str) -> std::path::PathBuf {
    store.with_file_name("sessions").join(session.to_string()).join(path)
}

fn put(store: &Path, session: SessionId, path: &str, body: &[u8]) {
    let file = file_of(store, session, path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, body).unwrap();
}

#[tokio::test]
async fn a_check_names_what_is_missing_edited_and_left_over() {
    let (_folder, path) = folder();
    let paths = write_shown(&path).await;
    let whole = check(&path, Depth::Sample(9));
    assert_eq!((told(&whole), whole.checked_payloads), (Vec::new(), 8));
    fs::remove_file(file_of(&path, session_id(1), &paths[0])).unwrap();
    fs::write(file_of(&path, session_id(1), &paths[1]), "edited").unwrap();
    fs::write(file_of(&path, session_id(1), &paths[6]), "edited").unwrap();
    fs::remove_file(file_of(&path, session_id(1), &paths[7])).unwrap();
    let stray = format!("outputs/{}.txt", OutputId::from_bytes([99; 16]));
    put(&path, session_id(1), &stray, b"half");
    // Neither a person's own file there nor one that is being written is any of ours.
    put(&path, session_id(1), "outputs/notes.txt", b"mine");
    put(&path, session_id(1), &format!("{stray}.new"), b"mine");
    let left_body = format!("bodies/{}", BodyHash::of(b"half"));
    put(&path, session_id(1), &left_body, b"half");
    let report = check(&path, Depth::All);
    let leftover = |path: &str| format!("Leftover session 1: no entry names {path}");
    let mut expected = vec![
        format!("Payload session 1: {} is missing", paths[0]),
        format!("Payload session 1: {} is not what was stored", paths[1]),
        format!("Payload session 1: {} is not what was stored", paths[6]),
        format!("Payload session 1: {} is missing", paths[7]),
        leftover(&stray),
        leftover(&left_body),
    ];
    let mut found = told(&report);
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
    assert!(report.is_damaged());
    // What is left over alone is no damage.
    let (_folder, path) = folder();
    write_shown(&path).await;
    put(&path, session_id(1), &stray, b"half");
    put(&path, session_id(7), &stray, b"half");
    let report = check(&path, Depth::All);
    let gone = "Leftover session 7: it is not in the log, and 1 of its payloads are left";
    assert_eq!(told(&report), [leftover(&stray).as_str(), gone]);
    assert!(!report.is_damaged());
}

/// Byte by byte, and as files of their own.
#[tokio::test]
async fn a_backup_and_an_export_bring_every_payload_back() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let kept = folder.path().join("backup");
    let note = backup(&path, &kept).unwrap();
    let report = note.payloads.unwrap();
    let bytes: usize = payloads().iter().map(Vec::len).sum();
    assert_eq!((report.count, report.bytes, report.is_whole()), (8, bytes as u64, true));
    let lines = folder.path().join("export.jsonl");
    let (text, exported) = export(&path);
    assert_eq!((exported.payloads.count, exported.payloads.is_whole()), (8, true));
    assert!(text.lines().all(|line| line.len() < 2 << 20), "a line is bounded");
    fs::write(&lines, text).unwrap();
    for (from, home) in [(&kept, "of-backup"), (&lines, "of-export")] {
        fs::create_dir(folder.path().join(home)).unwrap();
        let new = folder.path().join(home).join("throughline.db");
        let restored = restore_from(from, &new).unwrap();
        assert_eq!(restored.payloads.as_ref(), Some(&report), "{home}");
        assert_eq!(told(&check(&new, Depth::All)), Vec::<String>::new(), "{home}");
        for (file, body) in paths.iter().zip(payloads()) {
            let new = file_of(&new, session_id(1), file);
            assert_eq!(fs::read(&new).unwrap(), body, "{home} {file}");
            fs::write(&new, "edited").unwrap();
            assert_eq!(fs::read(file_of(&path, session_id(1), file)).unwrap(), body, "no file is shared");
        }
    }
    assert_eq!(told(&check(&path, Depth::All)), Vec::<String>::new());
}

/// Each by its name, and the others come back.
#[tokio::test]
async fn what_is_missing_or_damaged_stops_nothing_else() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let at_home = |file: &str| file_of(&path, session_id(1), file);
    fs::remove_file(at_home(&paths[0])).unwrap();
    fs::write(at_home(&paths[1]), "edited").unwrap();
    let name = |n: usize| format!("{}/{}", session_id(1), paths[n]);
    let kept = folder.path().join("backup");
    let report = backup(&path, &kept).unwrap().payloads.unwrap();
    assert_eq!((&report.missing, &report.changed, report.count), (&vec![name(0)], &vec![name(1)], 7));
    // Two more go while the backup lies there.
    fs::remove_file(kept.join("sessions").join(name(2))).unwrap();
    fs::write(kept.join("sessions").join(name(3)), "rotten").unwrap();
    let (text, exported) = export(&path);
    assert_eq!(exported.payloads, report);
    let lines = folder.path().join("export.jsonl");
    fs::write(&lines, text).unwrap();
    for (from, home, missing, changed) in [
        (&kept, "of-backup", vec![name(0), name(2)], vec![name(1), name(3)]),
        (&lines, "of-export", vec![name(0)], vec![name(1)]),
    ] {
        fs::create_dir(folder.path().join(home)).unwrap();
        let new = folder.path().join(home).join("throughline.db");
        let report = restore_from(from, &new).unwrap().payloads.unwrap();
        assert_eq!((report.missing, report.changed), (missing, changed), "{home}");
        assert_eq!(fs::read(file_of(&new, session_id(1), &paths[5])).unwrap(), payloads()[5]);
        assert_eq!(fs::read(file_of(&new, session_id(1), &paths[1])).unwrap(), b"edited");
    }
}

/// A file of a terabyte that is nearly all hole, in the place of a payload, is changed, and nothing of its size is written.
#[tokio::test]
async fn a_file_that_grew_without_end_is_not_carried_over_whole() {
    const ADDED: u64 = 1 << 20;
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let stated = payloads()[1].len() as u64;
    let grown = fs::File::options().write(true).open(file_of(&path, session_id(1), &paths[1])).unwrap();
    grown.set_len(1 << 40).unwrap();
    let name = format!("{}/{}", session_id(1), paths[1]);
    let kept = folder.path().join("backup");
    let report = backup(&path, &kept).unwrap().payloads.unwrap();
    assert_eq!((&report.missing, &report.changed), (&Vec::new(), &vec![name.clone()]));
    let in_backup = kept.join("sessions").join(&name);
    assert_eq!(fs::metadata(&in_backup).unwrap().len(), stated + ADDED);
    let (text, exported) = export(&path);
    assert_eq!((exported.payloads, text.len() < 8 << 20), (report, true));
    let told = told(&check(&path, Depth::All));
    assert_eq!(told, [format!("Payload session 1: {} is not what was stored", paths[1])]);
    // The same in the backup, while it lies there.
    fs::File::options().write(true).open(&in_backup).unwrap().set_len(1 << 40).unwrap();
    fs::create_dir(folder.path().join("new")).unwrap();
    let new = folder.path().join("new").join("throughline.db");
    assert_eq!(restore_from(&kept, &new).unwrap().payloads.unwrap().changed, [name]);
    assert_eq!(fs::metadata(file_of(&new, session_id(1), &paths[1])).unwrap().len(), stated + ADDED);
}

/// What is removed for good between the copy of the log and that of the payloads is not missed.
#[tokio::test]
async fn a_session_that_goes_meanwhile_is_not_missed() {
    let (folder, path) = folder();
    write_shown(&path).await;
    let to = folder.path().join("backup");
    let note = std::thread::scope(|scope| {
        let work = || {
            let mut purged = false;
            let mut purge = |progress: crate::outside::Progress| {
                if progress.stage == crate::outside::Stage::Payloads && !purged {
                    purged = true;
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    runtime.block_on(async {
                        let store = open_at(&path);
                        let head = store.session(session_id(1)).await.unwrap().unwrap().head;
                        store.purge(session_id(1), head, at(99)).await.unwrap();
                        store.close().await;
                    });
                    fs::remove_dir_all(file_of(&path, session_id(1), "")).unwrap();
                }
            };
            let wish =
                crate::outside::BackupWish { folder: &to, config: None, folders: &[], made_at: at(0), program: "test" };
            StoreFile::open(&path).unwrap().backup(&wish, &mut purge).unwrap()
        };
        scope.spawn(work).join().unwrap()
    });
    let report = note.payloads.unwrap();
    assert_eq!((report.count, report.is_whole()), (0, true));
}

/// A purge was killed: until the next start brings the session's folder back, or removes it, it waits under another name.
#[tokio::test]
async fn what_a_purge_has_put_away_is_found_where_it_waits() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let own = file_of(&path, session_id(1), "");
    let away = |nth: &str| path.with_file_name("sessions").join(format!("{}.purging{nth}", session_id(1)));
    fs::rename(&own, away("-2")).unwrap();
    let whole = check(&path, Depth::All);
    assert_eq!((told(&whole), whole.checked_payloads), (Vec::new(), 8));
    let kept = folder.path().join("backup");
    let report = backup(&path, &kept).unwrap().payloads.unwrap();
    assert_eq!((report.count, report.is_whole()), (8, true));
    assert_eq!(export(&path).1.payloads, report);
    let new = folder.path().join("new").join("throughline.db");
    fs::create_dir(new.parent().unwrap()).unwrap();
    assert_eq!(restore_from(&kept, &new).unwrap().payloads.as_ref(), Some(&report));
    for (file, bytes) in paths.iter().zip(payloads()) {
        assert_eq!(fs::read(file_of(&new, session_id(1), file)).unwrap(), bytes, "{file}");
    }
    // What came into its place meanwhile comes first there, as it does when they are put together.
    put(&path, session_id(1), &paths[0], b"edited");
    fs::create_dir(away("")).unwrap();
    assert_eq!(told(&check(&path, Depth::All)), [format!("Payload session 1: {} is not what was stored", paths[0])]);
    fs::remove_dir_all(&own).unwrap();

    let store = open_at(&path);
    let head = store.session(session_id(1)).await.unwrap().unwrap().head;
    store.purge(session_id(1), head, at(99)).await.unwrap();
    store.close().await;
    let left = "Leftover session 1: it is not in the log, and 8 of its payloads are left";
    assert_eq!(told(&check(&path, Depth::All)), [left]);
    assert_eq!(export(&path).1.payloads.count, 0);
}

/// A backup that an earlier version made has a store alone; payloads that a person put beside it are taken.
#[tokio::test]
async fn an_older_backup_is_still_restored() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let kept = folder.path().join("backup");
    backup(&path, &kept).unwrap();
    let note = kept.join("backup.json");
    let mut text: serde_json::Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    text["format"] = 1.into();
    text.as_object_mut().unwrap().remove("payloads");
    fs::write(&note, text.to_string()).unwrap();
    let aside = folder.path().join("aside");
    fs::rename(kept.join("sessions"), &aside).unwrap();
    let new = |home: &str| {
        fs::create_dir(folder.path().join(home)).unwrap();
        folder.path().join(home).join("throughline.db")
    };
    let without = new("without");
    assert_eq!(restore_from(&kept, &without).unwrap().payloads, None);
    assert!(!without.with_file_name("sessions").exists());
    fs::rename(&aside, kept.join("sessions")).unwrap();
    let with = new("with");
    assert!(restore_from(&kept, &with).unwrap().payloads.unwrap().is_whole());
    assert_eq!(fs::read(file_of(&with, session_id(1), &paths[2])).unwrap(), payloads()[2]);
}

/// R24: cut off at any step, the old store has its own payloads or the new one has.
#[tokio::test]
async fn a_restore_that_is_cut_off_leaves_the_payloads_of_the_store_that_is_there() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let from = folder.path().join("backup");
    backup(&path, &from).unwrap();
    // The store that is there has edited what the backup has.
    let body = file_of(&path, session_id(1), &paths[0]);
    fs::write(&body, "of the old store").unwrap();
    let wish = RestoreWish { replace: true, ..wish(&from, &path) };
    for cut in 0.. {
        let work = || {
            let mut steps = 0;
            let mut cut_off = |_: crate::outside::Progress| {
                assert!(steps < cut, "cut off");
                steps += 1;
            };
            crate::outside::restore(&wish, &mut cut_off).unwrap()
        };
        if super::apart(work).is_ok() {
            assert!(cut > 6, "{cut} steps");
            break;
        }
        drop(open_at(&path));
        assert_eq!(fs::read(&body).unwrap(), b"of the old store", "after {cut} steps");
    }
    assert_eq!(fs::read(&body).unwrap(), payloads()[0]);
    let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".restoring")), "{names:?}");
}

#[tokio::test]
async fn payload_lines_that_lead_elsewhere_are_refused() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let (text, _) = export(&path);
    let path_of = |to: &str| text.replace(&format!("\"{}\"", paths[0]), &format!("\"{to}\""));
    let absolute = folder.path().join("evil.txt").display().to_string();
    let cases = [
        (path_of("../../../evil.txt"), "it names no payload that this program knows"),
        (path_of(&absolute), "it names no payload that this program knows"),
        (path_of("outputs/.."), "it names no payload that this program knows"),
        (path_of("meta.json"), "it names no payload that this program knows"),
        (text.replace("\"offset\":0", "\"offset\":7"), "it does not follow the piece before it"),
        (text.replace("\"data\":\"", "\"data\":\"***"), "its data is not base64"),
        (
            text.replace(&format!("\"payload\":\"{}\"", stream(1)), "\"payload\":\"server\""),
            "only sessions have payloads",
        ),
    ];
    for (text, expected) in cases {
        let file = folder.path().join("export.jsonl");
        fs::write(&file, text).unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(&home).unwrap();
        let refusal = restore_from(&file, &home.join("throughline.db"));
        assert!(matches!(&refusal, Err(RestoreError::Line { what, .. }) if *what == expected), "{refusal:?}");
        let left: Vec<_> = fs::read_dir(&home).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name.to_string_lossy().ends_with(".lock")), "{expected}: {left:?}");
    }
    assert!(!folder.path().join("evil.txt").exists());
}

/// A link in the place of a payload leads nowhere, in a check, a backup and an export.
#[tokio::test]
async fn links_are_not_followed() {
    let (folder, path) = folder();
    let paths = write_shown(&path).await;
    let file = file_of(&path, session_id(1), &paths[0]);
    let secret = folder.path().join("secret");
    fs::rename(&file, &secret).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    assert_eq!(told(&check(&path, Depth::All)), [format!("Payload session 1: {} is missing", paths[0])]);
    let kept = folder.path().join("backup");
    assert_eq!(backup(&path, &kept).unwrap().payloads.unwrap().missing.len(), 1);
    let mut lines = Vec::new();
    let wish = ExportWish { made_at: at(0), program: "test" };
    let exported = StoreFile::open(&path).unwrap().export(&wish, &mut lines, &mut |_| ()).unwrap();
    assert_eq!(exported.payloads.missing.len(), 1);
    assert!(!named(&String::from_utf8(lines).unwrap()).contains(&format!("\"path\":\"{}\"", paths[0])));
    // And where a whole folder is one, the restored store goes where it should.
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    std::os::unix::fs::symlink(folder.path(), home.join("sessions.restoring")).unwrap();
    let refusal = carry_out(&super::wish(&kept, &home.join("throughline.db")));
    assert!(refusal.is_err(), "{refusal:?}");
}
