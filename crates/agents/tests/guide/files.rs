//! `read` and `write`, on disk and through a client.

use std::fs;

use agent_client_protocol::v1::schema::FileSystemCapabilities;

use crate::support::World;

#[tokio::test(start_paused = true)]
async fn files_are_read_and_written_on_disk() {
    let world = World::new().await;
    fs::create_dir(world.cwd().join("notes")).unwrap();
    let session = world.session().await;
    assert_eq!(
        world.turn(&session, "write notes/a.txt one\ntwo").await,
        "call Write notes/a.txt (Edit) inprogress at CWD/notes/a.txt input {\"path\":\"CWD/notes/a.txt\",\"text\":\"one\\ntwo\"}\n\
         completed CWD/notes/a.txt None -> \"one\\ntwo\"\n> I wrote `notes/a.txt`.\n\
         title write notes/a.txt one\nusage 11 of 100000\nEndTurn"
    );
    assert_eq!(fs::read_to_string(world.cwd().join("notes/a.txt")).unwrap(), "one\ntwo");
    let said = world.turn(&session, "write notes/a.txt three").await;
    assert!(said.contains("\ncompleted CWD/notes/a.txt Some(\"one\\ntwo\") -> \"three\"\n"), "{said}");
    assert_eq!(
        world.turn(&session, "read notes/a.txt").await.lines().collect::<Vec<_>>()[..3],
        [
            "call Read notes/a.txt (Read) inprogress at CWD/notes/a.txt input {\"path\":\"CWD/notes/a.txt\"}",
            "completed: three",
            "> Here is `notes/a.txt`: 1 line."
        ]
    );
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn two_hundred_lines_are_shown() {
    let world = World::new().await;
    let session = world.session().await;
    let lines: Vec<_> = (1..=300).map(|number| format!("line {number}")).collect();
    fs::write(world.cwd().join("long.txt"), lines.join("\n")).unwrap();
    let said = world.turn(&session, "read long.txt").await;
    assert!(said.contains(&format!("completed: {}\\n\n> Here is `long.txt`: 200 lines.", lines[..200].join("\\n"))));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn what_lies_outside_is_neither_read_nor_written() {
    let world = World::new().await;
    let session = world.session().await;
    let beside = tempfile::NamedTempFile::new().unwrap();
    fs::write(beside.path(), "secret").unwrap();
    let secret = beside.path().to_str().unwrap();
    for prompt in ["write ../x.txt no".to_owned(), format!("write {secret} no"), format!("read {secret}")] {
        let said = world.turn(&session, &prompt).await;
        assert!(said.contains("\nfailed: ") && said.contains("outside the directories that are open here"), "{said}");
        assert!(!said.contains("secret\n") && said.ends_with("EndTurn"), "{said}");
    }
    assert_eq!(fs::read_to_string(beside.path()).unwrap(), "secret");
    assert!(!world.cwd().parent().unwrap().join("x.txt").exists());
    let said = world.turn(&session, "read nothing.txt").await;
    assert!(
        said.contains("\nfailed: there is nothing at this path; check its spelling\n> I could not read that.\n"),
        "{said}"
    );
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_offers_its_files_is_asked() {
    let world = World::with(FileSystemCapabilities::new().read_text_file(true).write_text_file(true)).await;
    let session = world.session().await;
    let path = world.cwd().join("a.txt");
    world.heard.files.lock().unwrap().insert(path.clone(), "unsaved".to_owned());
    let said = world.turn(&session, "read a.txt").await;
    assert!(said.contains("\nclient reads CWD/a.txt, 200 lines\ncompleted: unsaved\n"), "{said}");
    let said = world.turn(&session, "write a.txt saved").await;
    assert!(
        said.contains(
            "\nclient reads CWD/a.txt\nclient writes CWD/a.txt\ncompleted CWD/a.txt Some(\"unsaved\") -> \"saved\"\n"
        ),
        "{said}"
    );
    assert_eq!(world.heard.files.lock().unwrap()[&path], "saved");
    assert!(!path.exists(), "the client has it");
    let said = world.turn(&session, "read b.txt").await;
    assert!(said.contains("\nfailed: The client refused: Invalid params\n"), "{said}");
    let said = world.turn(&session, "write ../b.txt no").await;
    assert!(said.contains("outside the directories that are open here") && !said.contains("client"), "{said}");
    world.end().await;
}
