//! One index answers while another is filled; whenever the process ends, the next start finds one that is whole.

use super::*;

fn folders(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = entries.collect();
    names.sort();
    names
}

fn asked(dir: &Path) -> Opened {
    filled(dir, &[piece(1, 1, "fox"), piece(1, 2, "fox")]).rest().unwrap();
    Index::want_rebuild(dir).unwrap();
    open(dir)
}

#[test]
fn the_old_one_answers_until_the_new_one_takes_over() {
    let dir = tempfile::tempdir().unwrap();
    let Opened { index: old, state, beside } = asked(dir.path());
    assert_eq!(state, State::Resumed(Position(1)));
    let Beside { index: new, position } = beside.unwrap();
    assert_eq!(position, Position(0));
    new.add(&piece(1, 1, "fox"), &about()).unwrap();
    new.commit(Position(1)).unwrap();
    assert_eq!(found(&old, "fox"), ["1.1", "1.2"]);
    assert!(old.is_rebuild_wanted());
    new.take_over(Position(1)).unwrap();
    old.discard().unwrap();
    // Whoever was searching comes to an end.
    assert_eq!(found(&old, "fox"), ["1.1", "1.2"]);
    assert_eq!(folders(dir.path()), ["v1-1"]);
    drop((old, new));
    let Opened { index, state, beside } = open(dir.path());
    assert_eq!((state, beside.is_some()), (State::Resumed(Position(1)), false));
    assert_eq!(found(&index, "fox"), ["1.1"]);
}

#[test]
fn after_a_crash_a_half_one_is_filled_on_and_never_answers() {
    let dir = tempfile::tempdir().unwrap();
    let beside = asked(dir.path()).beside.unwrap();
    // Nothing of it was committed: it begins again.
    drop(beside);
    let Beside { index: new, position } = open(dir.path()).beside.unwrap();
    assert_eq!(position, Position(0));
    new.add(&piece(1, 1, "fox"), &about()).unwrap();
    new.commit(Position(1)).unwrap();
    drop(new);
    let Opened { index, state, beside } = open(dir.path());
    assert_eq!(state, State::Resumed(Position(1)));
    assert_eq!(found(&index, "fox"), ["1.1", "1.2"]);
    assert_eq!(beside.unwrap().position, Position(1));
    assert_eq!(folders(dir.path()), ["rebuild", "v1", "v1-1"]);
}

#[test]
fn after_a_crash_between_taking_over_and_removal_the_new_one_answers() {
    let dir = tempfile::tempdir().unwrap();
    let Beside { index: new, .. } = asked(dir.path()).beside.unwrap();
    new.add(&piece(3, 1, "fox"), &about()).unwrap();
    new.take_over(Position(4)).unwrap();
    drop(new);
    assert_eq!(folders(dir.path()), ["v1", "v1-1"]);
    let Opened { index, state, beside } = open(dir.path());
    assert_eq!((state, beside.is_some()), (State::Resumed(Position(4)), false));
    assert_eq!(found(&index, "fox"), ["3.1"]);
    assert_eq!(folders(dir.path()), ["v1-1"]);
}

#[test]
fn one_of_another_version_answers_while_it_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path(), &[piece(1, 1, "fox")]).rest().unwrap();
    fs::rename(dir.path().join("v1"), dir.path().join("v0")).unwrap();
    let Opened { index: old, state, beside } = open(dir.path());
    assert_eq!(state, State::Resumed(Position(1)));
    assert_eq!(found(&old, "fox"), ["1.1"]);
    let Beside { index: new, .. } = beside.unwrap();
    new.take_over(Position(1)).unwrap();
    old.discard().unwrap();
    assert_eq!(folders(dir.path()), ["v1"]);
}

#[test]
fn one_of_other_fields_is_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("v0");
    fs::create_dir_all(&folder).unwrap();
    let mut other = tantivy::schema::Schema::builder();
    other.add_text_field("text", tantivy::schema::STRING);
    tantivy::Index::create_in_dir(&folder, other.build()).unwrap();
    let Opened { state, beside, .. } = open(dir.path());
    assert_eq!((state, beside.is_some()), (State::Fresh, false));
    assert_eq!(folders(dir.path()), ["v1"]);
}

#[test]
fn when_the_old_one_is_damaged_the_half_one_answers_and_says_how_far_it_reaches() {
    let dir = tempfile::tempdir().unwrap();
    let Beside { index: new, .. } = asked(dir.path()).beside.unwrap();
    new.add(&piece(1, 1, "fox"), &about()).unwrap();
    new.commit(Position(1)).unwrap();
    drop(new);
    fs::write(dir.path().join("v1/meta.json"), "garbage").unwrap();
    let Opened { index, state, .. } = open(dir.path());
    assert_eq!(state, State::Resumed(Position(1)));
    assert_eq!(found(&index, "fox"), ["1.1"]);
}
