//! What befalls the search index while the server runs: it is asked to be made anew, removed, damaged.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::support::{World, within};

/// The sessions and turns that have a word, in order; nothing while the index is not ready.
async fn found(world: &World, word: &str) -> Option<Vec<String>> {
    let answer = world.get(&format!("/api/v1/search?q={word}")).await;
    if answer.status != 200 {
        return None;
    }
    let page: Value = answer.ok(200);
    let results = page["results"].as_array().unwrap().iter();
    let mut turns: Vec<String> =
        results.map(|result| format!("{} t{}", result["session_id"].as_str().unwrap(), result["turn"])).collect();
    turns.sort();
    Some(turns)
}

async fn until_found(world: &World, word: &str, expected: &[String]) {
    within("what was searched for", async {
        while found(world, word).await.as_deref() != Some(expected) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

fn folders(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

async fn until_folders_are(folder: &Path, expected: &[&str]) {
    within("the new index", async {
        while folders(folder) != expected {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Every byte of every segment is another one; files keep their lengths, as nothing else would be survived.
fn scribble(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let length = usize::try_from(entry.metadata().unwrap().len()).unwrap();
        if entry.path().extension().is_some_and(|extension| extension != "json" && extension != "lock") {
            OpenOptions::new().write(true).open(entry.path()).unwrap().write_all(&vec![0xa5; length]).unwrap();
        }
    }
}

#[tokio::test]
async fn an_index_is_made_anew_while_the_old_one_answers() {
    let world = World::on_disk().await;
    let session = world.session().await;
    let (one, two, three) = (format!("{session} t1"), format!("{session} t2"), format!("{session} t3"));
    world.turn(&session, "say a heron stood still").await;
    let folder = world.directory.path().join("search");
    fs::write(folder.join("rebuild"), "").unwrap();
    world.turn(&session, "say a heron flew away").await;
    // At no moment something is missing.
    within("the new index", async {
        while folders(&folder) != ["v1-1"] {
            assert_eq!(found(&world, "heron").await, Some(vec![one.clone(), two.clone()]));
        }
    })
    .await;
    assert_eq!(found(&world, "heron").await, Some(vec![one.clone(), two.clone()]));
    world.turn(&session, "say a heron came back").await;
    assert_eq!(found(&world, "heron").await, Some(vec![one.clone(), two.clone(), three.clone()]));
    let world = world.restart().await;
    assert_eq!(folders(&folder), ["v1-1"]);
    assert_eq!(found(&world, "heron").await, Some(vec![one, two, three]));
    world.close().await;
}

#[tokio::test]
async fn an_index_of_another_version_answers_until_ours_is_there() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say a heron stood still").await;
    let folder = world.directory.path().join("search");
    let world = world.restart_between(|| fs::rename(folder.join("v1"), folder.join("v0")).unwrap()).await;
    assert_eq!(found(&world, "heron").await, Some(vec![format!("{session} t1")]));
    until_folders_are(&folder, &["v1"]).await;
    assert_eq!(found(&world, "heron").await, Some(vec![format!("{session} t1")]));
    world.close().await;
}

#[tokio::test]
async fn an_index_that_is_removed_while_it_is_used_comes_back() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say a heron stood still").await;
    let folder = world.directory.path().join("search");
    until_found(&world, "heron", &[format!("{session} t1")]).await;
    // At one stroke, since it is being written.
    fs::rename(&folder, world.directory.path().join("gone")).unwrap();
    world.turn(&session, "say a heron flew away").await;
    within("the folder", async {
        while !folder.join("v1/meta.json").exists() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    until_found(&world, "heron", &[format!("{session} t1"), format!("{session} t2")]).await;
    world.close().await;
}

/// Nothing is written, so that only a search can notice.
#[tokio::test]
async fn an_index_that_is_damaged_while_it_is_used_is_noticed_by_a_search_and_comes_back() {
    let world = World::on_disk().await;
    let session = world.session().await;
    world.turn(&session, "say a heron stood still").await;
    let folder = world.directory.path().join("search");
    let world = world.restart().await;
    scribble(&folder.join("v1"));
    until_found(&world, "heron", &[format!("{session} t1")]).await;
    world.close().await;
}
