//! What holds for files alone: links, edits, and what a crash leaves. Full disks are in `tests/faults/payloads.rs`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;
use crate::conformance::{output, session_id};

fn name(n: u8) -> PayloadName {
    PayloadName::of(&output(n))
}

fn bytes(text: &'static str) -> PayloadSource {
    Box::new(text.as_bytes())
}

#[tokio::test]
async fn a_body_is_a_plain_file_that_only_its_owner_reads() {
    let folder = tempfile::tempdir().unwrap();
    let payloads = PayloadFolder::at(folder.path().join("sessions"));
    payloads.put(session_id(1), &name(1), bytes("shown"), 100).await.unwrap();
    let outputs = folder.path().join("sessions").join(session_id(1).to_string()).join("outputs");
    let path = outputs.join(output(1).file_name());
    assert_eq!(fs::read_to_string(&path).unwrap(), "shown");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&outputs).unwrap().permissions().mode() & 0o777, 0o700);
    fs::write(&path, "edited by hand").unwrap();
    let seen = payloads.look_at(session_id(1), &name(1), 1 << 20).await.unwrap().unwrap();
    assert_eq!(seen.bytes, 14);
}

#[tokio::test]
async fn no_link_is_followed_and_nothing_else_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let payloads = PayloadFolder::at(folder.path().join("sessions"));
    let secret = folder.path().join("secret");
    fs::write(&secret, "secret").unwrap();
    payloads.put(session_id(1), &name(1), bytes("a"), 100).await.unwrap();
    let outputs = folder.path().join("sessions").join(session_id(1).to_string()).join("outputs");
    symlink(&secret, outputs.join(output(2).file_name())).unwrap();
    let read = payloads.read(session_id(1), &name(2), 0, 10).await;
    assert!(matches!(read, Err(PayloadError::Foreign { .. })), "{read:?}");
    // A new body takes the link's place and leaves what it led to.
    payloads.put(session_id(1), &name(2), bytes("b"), 100).await.unwrap();
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    // Another session's folder is a link.
    symlink(folder.path(), folder.path().join("sessions").join(session_id(2).to_string())).unwrap();
    let put = payloads.put(session_id(2), &name(3), bytes("c"), 100).await;
    assert!(matches!(put, Err(PayloadError::Foreign { .. })), "{put:?}");
    fs::write(outputs.join("notes.txt"), "the person's").unwrap();
    fs::write(outputs.join(format!("{}.new", output(9).file_name())), "half").unwrap();
    assert_eq!(payloads.sweep(session_id(1), PayloadKind::Output, vec![name(1)]).await.unwrap(), 2);
    let mut left: Vec<_> = fs::read_dir(&outputs).unwrap().map(|file| file.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["notes.txt", output(1).file_name().as_str()].map(std::ffi::OsString::from));
}

#[tokio::test]
async fn a_body_that_was_edited_or_made_a_link_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let payloads = PayloadFolder::at(folder.path().join("sessions"));
    let body = NewBody::of(b"long".to_vec());
    let path =
        folder.path().join("sessions").join(session_id(1).to_string()).join("bodies").join(body.hash.to_string());
    payloads.put_bodies(session_id(1), vec![body.clone()]).await.unwrap();
    let written = fs::metadata(&path).unwrap();
    assert_eq!(written.permissions().mode() & 0o777, 0o600);
    payloads.put_bodies(session_id(1), vec![body.clone()]).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), written.modified().unwrap());
    fs::write(&path, "gnol").unwrap();
    payloads.put_bodies(session_id(1), vec![body.clone()]).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"long");
    fs::remove_file(&path).unwrap();
    symlink(folder.path(), &path).unwrap();
    payloads.put_bodies(session_id(1), vec![body]).await.unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"long");
}

#[tokio::test]
async fn a_folder_with_the_name_of_a_payload_keeps_no_other_from_being_swept() {
    let folder = tempfile::tempdir().unwrap();
    let payloads = PayloadFolder::at(folder.path());
    for n in 1..=4 {
        payloads.put(session_id(1), &name(n), bytes("x"), 9).await.unwrap();
    }
    let outputs = folder.path().join(session_id(1).to_string()).join("outputs");
    for n in [1, 3] {
        let file = outputs.join(&name(n).file);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
    }
    assert_eq!(payloads.sweep(session_id(1), PayloadKind::Output, Vec::new()).await.unwrap(), 2);
    assert_eq!(fs::read_dir(&outputs).unwrap().count(), 2);
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_body_is_moved_aside() {
    let folder = tempfile::tempdir().unwrap();
    let payloads = PayloadFolder::at(folder.path());
    let (one, other) = (NewBody::of(b"one".to_vec()), NewBody::of(b"other".to_vec()));
    let bodies = folder.path().join(session_id(1).to_string()).join("bodies");
    let places = [one.hash.to_string(), format!("{}.new", other.hash)];
    for nth in 1..=2 {
        for place in &places {
            fs::create_dir_all(bodies.join(place)).unwrap();
            fs::write(bodies.join(place).join("notes.txt"), format!("{nth}")).unwrap();
        }
        payloads.put_bodies(session_id(1), vec![one.clone(), other.clone()]).await.unwrap();
        for body in [&one, &other] {
            assert_eq!(fs::read(bodies.join(body.hash.to_string())).unwrap(), *body.bytes);
            fs::remove_file(bodies.join(body.hash.to_string())).unwrap();
        }
        for place in &places {
            let aside = bodies.join(format!("moved-aside-{nth}.{place}")).join("notes.txt");
            assert_eq!(fs::read_to_string(aside).unwrap(), format!("{nth}"));
        }
    }
    assert_eq!(payloads.sweep(session_id(1), PayloadKind::Body, Vec::new()).await.unwrap(), 0);
    assert_eq!(fs::read_dir(&bodies).unwrap().count(), 4);
}
