//! A purge that comes to its end, or does not: what cannot be written again from the log goes with the log, or stays.

use std::fs;
use std::os::unix::fs::symlink;

use super::{World, begin, finish_turn};
use crate::conformance::{act, at, output, session_id};
use crate::copies::Touched;
use crate::{MemoryStore, PayloadFolder, PayloadName, Payloads as _};
use model::{Command, Incarnation, NewBody};

/// A world whose first session was deleted, and has a copy, an output and a body.
async fn deleted() -> World {
    let world = World::with_two_turns().await;
    show(&world, 1).await;
    payloads(&world).put_bodies(session_id(1), vec![NewBody::of(b"long".to_vec())]).await.unwrap();
    act(&world.store, 1, Command::Delete, 300).await;
    world.update(1).await;
    world
}

fn payloads(world: &World) -> PayloadFolder {
    PayloadFolder::at(world.copies.path())
}

async fn show(world: &World, n: u8) {
    payloads(world).put(session_id(1), &PayloadName::of(&output(n)), Box::new(&b"shown"[..]), 9).await.unwrap();
}

async fn purge(world: &World) {
    let head = world.store.session(session_id(1)).await.unwrap().unwrap().head;
    world.store.purge(session_id(1), head, at(400)).await.unwrap();
}

fn names(world: &World) -> Vec<String> {
    let inside = fs::read_dir(world.copies.path()).unwrap();
    let mut names: Vec<_> = inside.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[tokio::test]
async fn what_was_put_away_is_no_session_and_comes_back_whole() {
    let world = deleted().await;
    let before = world.tree();
    assert_eq!(before.len(), 4, "{before:?}");
    world.copies.put_away(session_id(1)).await.unwrap();
    assert_eq!(names(&world), [format!("{}.purging", session_id(1))]);
    assert!(world.copies.is_empty().await.unwrap());
    assert_eq!(world.copies.check(&*world.store, &[session_id(1)]).await.unwrap(), []);
    assert_eq!(payloads(&world).sessions().await.unwrap(), []);
    let fresh = MemoryStore::new(Incarnation::from_bits(1));
    let hydrated = world.copies.hydrate(&fresh).await.unwrap();
    assert_eq!((hydrated.sessions, hydrated.skipped.len()), (0, 0));
    begin(&world.store, 2).await;
    finish_turn(&world.store, 2, 1, "another").await;
    world.update(2).await;
    world.copies.put_back(session_id(1)).await.unwrap();
    let mut after = world.tree();
    after.retain(|name, _| !name.starts_with(&session_id(2).to_string()));
    assert_eq!(after, before);
    assert_eq!(world.update(1).await, Touched::No);
    // Where nothing was put away, nothing is done.
    world.copies.put_away(session_id(7)).await.unwrap();
    world.copies.put_back(session_id(7)).await.unwrap();
    assert_eq!(names(&world), [session_id(1).to_string(), session_id(2).to_string()]);
}

/// Killed before the log said so, a purge has not been; killed after it, it is brought to its end.
#[tokio::test]
async fn the_log_says_what_becomes_of_a_purge_that_was_cut_off() {
    let world = deleted().await;
    let before = world.tree();
    world.copies.put_away(session_id(1)).await.unwrap();
    world.copies.settle_purges(&*world.store).await.unwrap();
    assert_eq!(world.tree(), before);
    world.copies.put_away(session_id(1)).await.unwrap();
    purge(&world).await;
    world.copies.settle_purges(&*world.store).await.unwrap();
    assert_eq!(names(&world), Vec::<String>::new());
}

/// A session whose folder could not be brought back at once goes on, and has another one by then.
#[tokio::test]
async fn what_came_into_the_place_of_a_folder_meanwhile_is_not_lost() {
    let world = deleted().await;
    fs::write(world.file(1, "notes.txt"), "earlier").unwrap();
    fs::write(world.file(1, "once.txt"), "once").unwrap();
    world.copies.put_away(session_id(1)).await.unwrap();
    let away = world.copies.path().join(format!("{}.purging", session_id(1)));
    act(&world.store, 1, Command::Restore, 310).await;
    world.update(1).await;
    show(&world, 2).await;
    payloads(&world).put_bodies(session_id(1), vec![NewBody::of(b"long".to_vec())]).await.unwrap();
    fs::write(world.file(1, "notes.txt"), "later").unwrap();
    for _ in 0..2 {
        world.copies.settle_purges(&*world.store).await.unwrap();
        let kept = ["notes.txt", "once.txt"].map(|name| fs::read_to_string(world.file(1, name)).unwrap());
        assert_eq!(kept, ["later", "once"]);
        for n in [1, 2] {
            let path = world.file(1, "outputs").join(output(n).file_name());
            assert_eq!(fs::read_to_string(path).unwrap(), "shown");
        }
        assert_eq!(fs::read_dir(world.file(1, "bodies")).unwrap().count(), 1);
        let left: Vec<_> = fs::read_dir(&away).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["notes.txt"], "only what has a namesake stays");
        assert_eq!(fs::read_to_string(away.join("notes.txt")).unwrap(), "earlier");
    }
    assert_eq!(world.update(1).await, Touched::No);

    // It goes with its session.
    act(&world.store, 1, Command::Delete, 320).await;
    world.copies.put_away(session_id(1)).await.unwrap();
    assert_eq!(names(&world), [format!("{}.purging", session_id(1)), format!("{}.purging-2", session_id(1))]);
    purge(&world).await;
    assert_eq!(world.copies.remove(session_id(1)).await.unwrap(), Touched::Yes);
    assert_eq!(names(&world), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_moved_through_a_link_and_other_names_are_left_alone() {
    let world = deleted().await;
    let elsewhere = world.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("kept"), "kept").unwrap();
    let of_others = [".purging", "x.purging", "purging"].map(str::to_owned).into_iter();
    let of_others: Vec<_> =
        of_others.chain(["-1x", "-", "-01", ".new"].map(|end| format!("{}.purging{end}", session_id(1)))).collect();
    for name in &of_others {
        fs::create_dir(world.copies.path().join(name)).unwrap();
    }
    let link = world.copies.path().join(format!("{}.purging", session_id(1)));
    symlink(&elsewhere, &link).unwrap();
    let before = world.tree();
    world.copies.settle_purges(&*world.store).await.unwrap();
    assert_eq!(world.tree(), before);
    assert!(link.is_symlink());
    purge(&world).await;
    world.copies.settle_purges(&*world.store).await.unwrap();
    assert!(!link.is_symlink());
    assert_eq!(fs::read_to_string(elsewhere.join("kept")).unwrap(), "kept");
    assert_eq!(names(&world).len(), of_others.len());
}

/// However deep somebody nested folders in a session's own, they go with it, and end nobody's thread.
#[tokio::test]
async fn a_folder_of_any_depth_goes_with_its_session() {
    const LEVELS: usize = 5_000;
    let world = deleted().await;
    let outputs = world.copies.path().join(session_id(1).to_string()).join("outputs");
    let (deep, next) = (outputs.join("deep"), outputs.join("next"));
    fs::create_dir(&deep).unwrap();
    // From the innermost out: the path of the innermost is longer than any may be.
    for _ in 0..LEVELS {
        fs::create_dir(&next).unwrap();
        fs::write(next.join("words"), "x").unwrap();
        fs::rename(&deep, next.join("deep")).unwrap();
        fs::rename(&next, &deep).unwrap();
    }
    world.copies.put_away(session_id(1)).await.unwrap();
    purge(&world).await;
    world.copies.settle_purges(&*world.store).await.unwrap();
    assert_eq!(names(&world), Vec::<String>::new());
}
