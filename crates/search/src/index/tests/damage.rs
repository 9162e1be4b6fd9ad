//! Damage is told apart, and ends in an empty index.

use std::path::PathBuf;

use super::*;

fn three(dir: &Path) {
    let index = filled(dir, &[piece(1, 1, "fox"), piece(1, 2, "hen"), piece(2, 1, "fox and hen")]);
    index.rest().unwrap();
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir.join("v1")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.is_file() && !file.to_string_lossy().ends_with(".lock"));
    files.sort();
    files
}

/// It opens, either with what it had or empty; and it works then.
fn opens_and_works(dir: &Path) -> State {
    let Opened { index, state, .. } = open(dir);
    if state == State::Resumed(Position(1)) {
        match index.search(&Query::parse("fox "), &wanted()) {
            Ok(hits) => assert!(hits.hits.len() <= 2),
            Err(error) => assert!(matches!(error, SearchError::Damaged { .. }), "{error}"),
        }
    } else {
        assert!(index.is_empty());
        index.add(&piece(3, 1, "fox"), &about()).unwrap();
        index.commit(Position(5)).unwrap();
        assert_eq!(found(&index, "fox"), ["3.1"]);
    }
    state
}

#[test]
fn a_file_that_is_cut_short_is_recognised() {
    let dir = tempfile::tempdir().unwrap();
    three(dir.path());
    let names: Vec<String> =
        files(dir.path()).iter().map(|file| file.file_name().unwrap().to_string_lossy().into_owned()).collect();
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        for keep in [0.0, 0.5, 0.9] {
            let dir = tempfile::tempdir().unwrap();
            three(dir.path());
            let extension = name.rsplit('.').next().unwrap();
            let file = files(dir.path()).into_iter().find(|file| file.to_string_lossy().ends_with(extension)).unwrap();
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..(bytes.len() as f64 * keep) as usize]).unwrap();
            let state = opens_and_works(dir.path());
            let unread = name.ends_with("managed.json");
            assert!(matches!(state, State::Damaged(_)) || unread, "{name} cut to {keep}: {state:?}");
        }
    }
}

#[test]
fn garbage_is_recognised() {
    for garbage in ["", "{}", "garbage", "{\"segments\": [{}]}", "null", "\0\0\0\0"] {
        let dir = tempfile::tempdir().unwrap();
        three(dir.path());
        fs::write(dir.path().join("v1/meta.json"), garbage).unwrap();
        assert!(matches!(opens_and_works(dir.path()), State::Damaged(_)), "{garbage}");
    }
}

#[test]
fn bytes_that_changed_are_an_error_or_nothing_but_no_panic() {
    let dir = tempfile::tempdir().unwrap();
    three(dir.path());
    let count = files(dir.path()).len();
    for number in 0..count {
        for flip in [0x01, 0xff] {
            let dir = tempfile::tempdir().unwrap();
            three(dir.path());
            let file = &files(dir.path())[number];
            let mut bytes = fs::read(file).unwrap();
            let middle = bytes.len() / 2;
            for byte in &mut bytes[middle.saturating_sub(8)..middle] {
                *byte ^= flip;
            }
            fs::write(file, &bytes).unwrap();
            opens_and_works(dir.path());
        }
    }
}

#[test]
fn a_check_of_every_byte_tells_what_opening_does_not() {
    let dir = tempfile::tempdir().unwrap();
    three(dir.path());
    let checked = || Index::open(dir.path(), incarnation(), Trust::EveryByteRead).unwrap().state;
    assert_eq!(checked(), State::Resumed(Position(1)));
    let file = files(dir.path()).into_iter().find(|file| file.extension().is_some_and(|e| e == "idx")).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    bytes[3] ^= 0xff;
    fs::write(&file, &bytes).unwrap();
    assert_eq!(open(dir.path()).state, State::Resumed(Position(1)));
    assert!(matches!(checked(), State::Damaged(_)));
    assert_eq!(open(dir.path()).state, State::Fresh);
}

#[test]
fn a_folder_that_vanishes_is_an_error_and_comes_back_empty() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox")]);
    fs::remove_dir_all(dir.path().join("v1")).unwrap();
    // What is open can still be read.
    assert_eq!(found(&index, "fox"), ["1.1"]);
    let written = index.add(&piece(1, 2, "fox"), &about()).and_then(|()| index.commit(Position(2)));
    written.unwrap_err();
    assert!(matches!(index.commit(Position(3)), Err(SearchError::Unwritten)));
    assert!(matches!(index.add(&piece(1, 3, "fox"), &about()), Err(SearchError::Unwritten)));
    drop(index);
    assert_eq!(opens_and_works(dir.path()), State::Fresh);
}

#[test]
fn an_index_of_another_store_or_version_is_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    three(dir.path());
    fs::create_dir_all(dir.path().join("v0")).unwrap();
    fs::create_dir_all(dir.path().join("vault")).unwrap();
    let Opened { index, state, .. } = Index::open(dir.path(), Incarnation::from_bits(8), Trust::Opened).unwrap();
    assert_eq!(state, State::Foreign);
    assert!(index.is_empty());
    assert!(!dir.path().join("v0").exists() && dir.path().join("vault").exists());
}

#[test]
fn what_was_not_committed_is_not_there_after_a_crash() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox")]);
    index.add(&piece(1, 2, "fox"), &about()).unwrap();
    // The process ends here: its memory is gone, its lock too.
    drop(index);
    let Opened { index, state, .. } = open(dir.path());
    assert_eq!(state, State::Resumed(Position(1)));
    assert_eq!(found(&index, "fox"), ["1.1"]);
}

#[test]
fn two_writers_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let first = filled(dir.path(), &[piece(1, 1, "fox")]);
    let second = open(dir.path()).index;
    assert!(matches!(second.add(&piece(1, 2, "fox"), &about()), Err(SearchError::Locked)));
    first.rest().unwrap();
    drop(second);
    open(dir.path()).index.add(&piece(1, 2, "fox"), &about()).unwrap();
}
