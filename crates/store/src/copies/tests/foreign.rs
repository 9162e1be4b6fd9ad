//! Links and other things that are not ours: never followed, never written through.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::{World, finish_turn};
use crate::CopyError;
use crate::conformance::session_id;
use crate::copies::{Copies, Depth, Touched, What};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn nobody_else_can_read_the_copies() {
    let world = World::with_two_turns().await;
    let modes = |world: &World| {
        [
            mode(world.copies.path()),
            mode(&world.file(1, "")),
            mode(&world.file(1, "meta.json")),
            mode(&world.file(1, "transcript.jsonl")),
        ]
    };
    assert_eq!(modes(&world), [0o700, 0o700, 0o600, 0o600]);
    // As git leaves them.
    for (path, open) in [
        (world.copies.path().to_owned(), 0o755),
        (world.file(1, ""), 0o755),
        (world.file(1, "meta.json"), 0o644),
        (world.file(1, "transcript.jsonl"), 0o644),
    ] {
        fs::set_permissions(path, fs::Permissions::from_mode(open)).unwrap();
    }
    finish_turn(&world.store, 1, 3, "third").await;
    world.update(1).await;
    assert_eq!(modes(&world), [0o700, 0o700, 0o600, 0o600]);
}

#[tokio::test]
async fn a_link_in_place_of_a_folder_is_refused() {
    let world = World::with_two_turns().await;
    let elsewhere = world.folder.path().join("elsewhere");
    fs::rename(world.file(1, ""), &elsewhere).unwrap();
    symlink(&elsewhere, world.file(1, "").to_str().unwrap().trim_end_matches('/')).unwrap();
    finish_turn(&world.store, 1, 3, "third").await;
    let kept = super::tree(&elsewhere);
    for depth in [Depth::End, Depth::Whole] {
        let refused = world.copies.update(&*world.store, session_id(1), depth).await;
        assert!(matches!(refused, Err(CopyError::Foreign { .. })), "{refused:?}");
    }
    let found = world.copies.check(&*world.store, &[session_id(1)]).await.unwrap();
    assert_eq!(found[0].what, What::Foreign);

    // Removing takes the link away and not what it leads to.
    assert_eq!(world.copies.remove(session_id(1)).await.unwrap(), Touched::Yes);
    assert_eq!(super::tree(&elsewhere), kept);
    assert!(world.tree().is_empty());

    let linked = world.folder.path().join("linked");
    symlink(world.copies.path(), &linked).unwrap();
    let through = Copies::at(&linked);
    let refused = through.update(&*world.store, session_id(1), Depth::End).await;
    assert!(matches!(refused, Err(CopyError::Foreign { .. })), "{refused:?}");
    assert!(matches!(through.cursor().await, Err(CopyError::Foreign { .. })));
    assert!(matches!(through.is_empty().await, Err(CopyError::Foreign { .. })));
    assert_eq!(through.remove(session_id(1)).await.unwrap(), Touched::No);
    assert!(world.tree().is_empty());
}

#[tokio::test]
async fn a_link_in_place_of_a_file_is_replaced_and_leads_nowhere() {
    let world = World::with_two_turns().await;
    let expected = world.tree();
    for name in ["meta.json", "transcript.jsonl"] {
        let outside = world.folder.path().join(name);
        fs::rename(world.file(1, name), &outside).unwrap();
        symlink(&outside, world.file(1, name)).unwrap();
        let before = fs::read(&outside).unwrap();
        assert_eq!(world.update(1).await, Touched::Yes);
        assert_eq!(world.tree(), expected);
        assert!(!world.file(1, name).is_symlink());
        assert_eq!(fs::read(&outside).unwrap(), before);
        // Where the file that takes its place is written first.
        let target = world.folder.path().join("target");
        fs::write(&target, "kept").unwrap();
        symlink(&target, world.file(1, &format!("{name}.new"))).unwrap();
        fs::write(world.file(1, name), "x\n").unwrap();
        world.update(1).await;
        assert_eq!((world.tree(), fs::read_to_string(&target).unwrap()), (expected.clone(), "kept".to_owned()));
    }
}

#[tokio::test]
async fn a_folder_in_place_of_a_file_is_refused() {
    for name in ["meta.json", "transcript.jsonl"] {
        let world = World::with_two_turns().await;
        fs::remove_file(world.file(1, name)).unwrap();
        fs::create_dir(world.file(1, name)).unwrap();
        fs::write(world.file(1, name).join("mine"), "kept").unwrap();
        let refused = world.copies.update(&*world.store, session_id(1), Depth::End).await;
        assert!(matches!(refused, Err(CopyError::Foreign { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(world.file(1, name).join("mine")).unwrap(), "kept");
    }
}

/// Opening one would wait for somebody at its other end.
#[tokio::test]
async fn a_pipe_in_place_of_a_file_is_replaced() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let world = World::with_two_turns().await;
    let expected = world.tree();
    for name in ["meta.json", "transcript.jsonl"] {
        fs::remove_file(world.file(1, name)).unwrap();
        mknodat(CWD, world.file(1, name), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert_eq!(world.update(1).await, Touched::Yes);
        assert_eq!(world.tree(), expected);
    }
}
