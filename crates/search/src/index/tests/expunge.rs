//! The words of removed sessions leave the files of the index.

use std::collections::BTreeSet;

use super::*;

/// What the dictionaries know that are on disk.
fn knows(index: &Index, word: &str) -> bool {
    index.reader.searcher().segment_readers().iter().any(|segment| {
        let words = segment.inverted_index(index.fields.text).unwrap();
        words.terms().get(word).unwrap().is_some()
    })
}

/// Files whose segment nothing is read from any more.
fn left_over(index: &Index) -> Vec<String> {
    let segments = index.inner.searchable_segment_metas().unwrap();
    let used: BTreeSet<String> = segments.iter().map(|segment| segment.id().uuid_string()).collect();
    let names = fs::read_dir(index.folder()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let is_of_a_segment = |name: &String| name.len() > 32 && name.as_bytes()[..32].iter().all(u8::is_ascii_hexdigit);
    names.filter(|name| is_of_a_segment(name) && !used.contains(&name[..32])).collect()
}

#[test]
fn few_words_are_gone_with_the_commit_that_removes_them() {
    let dir = tempfile::tempdir().unwrap();
    let index = filled(dir.path(), &[piece(1, 1, "fox"), piece(2, 1, "xylophagous beetle")]);
    assert!(knows(&index, "xylophagous"));
    index.remove_session(session(2)).unwrap();
    index.commit(Position(2)).unwrap();
    assert!(!knows(&index, "xylophagous"));
    assert_eq!(left_over(&index), Vec::<String>::new());
    assert_eq!((found(&index, "fox"), found(&index, "beetle")), (vec!["1.1".to_owned()], vec![]));
    // The last piece of all.
    index.remove_session(session(1)).unwrap();
    index.commit(Position(3)).unwrap();
    assert!(!knows(&index, "fox") && left_over(&index).is_empty());
    index.add(&piece(3, 1, "hare"), &about()).unwrap();
    index.commit(Position(4)).unwrap();
    assert_eq!(found(&index, "hare"), ["3.1"]);
}

/// Writing large files anew takes long: nobody waits for it, and a crash before it forgets nothing.
#[test]
fn many_words_are_gone_once_the_index_rests_in_the_next_life_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut pieces: Vec<Piece> = (0..150).map(|turn| piece(1, turn, "fox")).collect();
    pieces.push(piece(2, 1, "xylophagous beetle"));
    let index = filled(dir.path(), &pieces);
    index.remove_session(session(2)).unwrap();
    index.commit(Position(2)).unwrap();
    assert!(knows(&index, "xylophagous") && found(&index, "beetle").is_empty());
    drop(index);
    let index = open(dir.path()).index;
    assert!(knows(&index, "xylophagous"));
    index.rest().unwrap();
    assert!(!knows(&index, "xylophagous"));
    assert_eq!(left_over(&index), Vec::<String>::new());
    assert_eq!(index.len(), 150);
    drop(index);
    let index = open(dir.path()).index;
    assert_eq!((index.position(), index.len()), (Some(Position(2)), 150));
    // Nothing is left to do, so nothing is written.
    index.rest().unwrap();
    assert!(index.writing().writer.is_none() && !index.writing().has_removed);
}
