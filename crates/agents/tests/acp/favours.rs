//! Tests the files and terminals that agents use through us.

use std::fs;
use std::os::unix::fs::symlink;

use insta::assert_snapshot;

use crate::support::Place;

#[tokio::test]
async fn an_agent_reads_and_writes_in_its_directory_and_nowhere_else() {
    let place = Place::new(&["good"]);
    let project = place.project();
    fs::create_dir(project.join(".git")).unwrap();
    fs::write(project.join(".git/config"), "x").unwrap();
    symlink("/etc/passwd", project.join("link")).unwrap();
    let mut talk = place.start("good");
    talk.begun().await;
    let mut told = String::new();
    for words in [
        "write NEW",
        "read NEW",
        "read MISSING",
        "read /etc/passwd",
        "read LINK",
        "write LINK",
        "write UP",
        "write GIT",
        "read relative",
    ] {
        let words = words
            .replace("NEW", &project.join("new/file").display().to_string())
            .replace("MISSING", &project.join("missing").display().to_string())
            .replace("LINK", &project.join("link").display().to_string())
            .replace("UP", &project.join("../up").display().to_string())
            .replace("GIT", &project.join(".git/config").display().to_string());
        told += &talk.turn(&words).await;
    }
    assert_snapshot!(told, @r#"
    text 0 {}
    stopped {"outcome":"completed"}
    text 0 {"content":"written"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32002,"message":"Resource not found","data":"there is nothing at this path; check its spelling"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32602,"message":"Invalid params","data":"this path is outside the directories that are open here, or protected; give an absolute path inside them, or ask the person for it"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32602,"message":"Invalid params","data":"this path is outside the directories that are open here, or protected; give an absolute path inside them, or ask the person for it"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32602,"message":"Invalid params","data":"this is no plain file; name the file itself, not a directory, a device or a link that would be written to"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32602,"message":"Invalid params","data":"this path is outside the directories that are open here, or protected; give an absolute path inside them, or ask the person for it"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32602,"message":"Invalid params","data":"this path is outside the directories that are open here, or protected; give an absolute path inside them, or ask the person for it"}
    stopped {"outcome":"completed"}
    text 0 {"code":-32602,"message":"Invalid params","data":"this path is outside the directories that are open here, or protected; give an absolute path inside them, or ask the person for it"}
    stopped {"outcome":"completed"}
    "#);
    assert_eq!(fs::read_to_string(project.join("new/file")).unwrap(), "written");
    assert!(!project.join("../up").exists());
}

/// The directory is replaced by a link to another one while its agent runs: nothing is written or read there.
#[tokio::test]
async fn an_agent_is_not_led_out_by_a_link_in_its_directorys_place() {
    let place = Place::new(&["good"]);
    let project = place.project();
    let outside = project.with_file_name("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "secret").unwrap();
    let mut talk = place.start("good");
    talk.begun().await;
    fs::rename(&project, project.with_file_name("moved")).unwrap();
    symlink(&outside, &project).unwrap();
    let refused = "outside the directories that are open here";
    for words in ["write FILE", "read SECRET"] {
        let words = words
            .replace("FILE", &project.join("file").display().to_string())
            .replace("SECRET", &project.join("secret").display().to_string());
        let told = talk.turn(&words).await;
        assert!(told.contains(refused), "{told}");
    }
    assert!(!outside.join("file").exists());
    // A directory that is made anew is the session's own again.
    fs::remove_file(&project).unwrap();
    fs::create_dir(&project).unwrap();
    talk.turn(&format!("write {}", project.join("file").display())).await;
    assert_eq!(fs::read_to_string(project.join("file")).unwrap(), "written");
}

#[tokio::test]
async fn a_terminal_runs_beside_and_is_shown_in_its_call() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    let line = "run echo out; echo err >&2; pwd; echo $GREETING $LD_PRELOAD; exit 3";
    assert_snapshot!(talk.turn(line).await, @r#"
    tool 1 started c1 {"title":"Run","kind":"execute","content":[{"type":"terminal","command":"echo out; echo err >&2; pwd; echo $GREETING $LD_PRELOAD; exit 3","output":""}]}
    tool 1 {"status":"completed","content":[{"type":"terminal","command":"echo out; echo err >&2; pwd; echo $GREETING $LD_PRELOAD; exit 3","output":"out\nerr\n/FOLDER/project\nhi\n","exitCode":3}]}
    text 0 {"exitCode":3} {"output":"out\nerr\n/FOLDER/project\nhi\n","truncated":false,"exitStatus":{"exitCode":3}} -32602
    stopped {"outcome":"completed"}
    "#);
    assert_snapshot!(talk.turn("run echo begun; sleep 1000").await, @r#"
    tool 1 started c1 {"title":"Run","kind":"execute","content":[{"type":"terminal","command":"echo begun; sleep 1000","output":""}]}
    tool 1 + "begun\n"
    tool 1 {"status":"completed"}
    text 0 {"signal":"9"} {"output":"begun\n","truncated":false,"exitStatus":{"signal":"9"}} -32602
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn a_terminals_line_may_be_a_shells() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("start echo one && touch two").await, @r#"
    text 0 {"terminalId":"term-1"}
    stopped {"outcome":"completed"}
    "#);
    assert_snapshot!(talk.turn("start no-such-program").await, @r#"
    text 0 {"terminalId":"term-2"}
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn what_nobody_does_is_refused() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    talk.begun().await;
    assert_snapshot!(talk.turn("unknown").await, @r#"
    raw {"sessionUpdate":"telepathy","strength":9}
    raw {"method":"_hostile/pulse","params":{"sessionId":"s1"}}
    text 0 favour: -32601, read: -32602, other's: -32602
    stopped {"outcome":"completed"}
    "#);
}

/// Whether a call creates a file is known from what existed before it, whatever its tool is called.
#[tokio::test]
async fn a_file_that_is_not_there_when_a_call_names_it_is_a_new_one() {
    let place = Place::new(&["good"]);
    let (new, old) = (place.project().join("new.md"), place.project().join("old.md"));
    fs::write(&old, "").unwrap();
    let mut talk = place.start("good");
    talk.begun().await;
    let mut told = String::new();
    for (word, file) in [("make", &new), ("make", &new), ("make-from-empty", &old)] {
        talk.prompt(&format!("{word} {}", file.display())).await;
        let (key, before) = talk.asked().await;
        talk.answer(key, Some("y"), None).await;
        let told_before = before.lines().find(|line| line.starts_with("tool 1")).unwrap_or_default();
        told += &format!("{told_before}\n{}", talk.over().await);
    }
    fs::remove_file(&old).unwrap();
    talk.prompt(&format!("make-from-empty {}", old.display())).await;
    told += talk.asked().await.1.lines().next().unwrap_or_default();
    assert_snapshot!(told, @r#"
    tool 1 started c1 {"title":"Write","kind":"edit","content":[{"type":"text","text":"{\"path\":\"/FOLDER/project/new.md\",\"content\":\"written\"}"}],"newFiles":["/FOLDER/project/new.md"]}
    tool 1 {"status":"completed","locations":[{"path":"/FOLDER/project/new.md"}],"input":{"path":"/FOLDER/project/new.md","content":"written"}}
    stopped {"outcome":"completed"}
    tool 1 started c1 {"title":"Write","kind":"edit","content":[{"type":"text","text":"{\"path\":\"/FOLDER/project/new.md\",\"content\":\"written\"}"}]}
    tool 1 {"status":"completed","locations":[{"path":"/FOLDER/project/new.md"}],"input":{"path":"/FOLDER/project/new.md","content":"written"}}
    stopped {"outcome":"completed"}
    tool 1 started c1 {"title":"Write","kind":"edit","content":[{"type":"diff","path":"/FOLDER/project/old.md","oldText":"","newText":"written"}]}
    tool 1 {"status":"completed","locations":[{"path":"/FOLDER/project/old.md"}],"input":{"path":"/FOLDER/project/old.md","content":"written"}}
    stopped {"outcome":"completed"}
    tool 1 started c1 {"title":"Write","kind":"edit","content":[{"type":"diff","path":"/FOLDER/project/old.md","newText":"written"}],"newFiles":["/FOLDER/project/old.md"]}
    "#);
}
