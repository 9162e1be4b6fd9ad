//! What is remembered at the command line: answered, listed, shown and forgotten.

use serde_json::Value;

use crate::support::Folder;

#[test]
fn an_answer_is_remembered_listed_and_forgotten() {
    let folder = Folder::new();
    let server = folder.serve();
    folder.run(&["new"]).ok();
    insta::assert_snapshot!(folder.run(&["permissions"]).ok(), @"Nothing is remembered. `throughline answer SESSION OPTION --remember` remembers.");
    folder.run(&["send", "last", "--no-wait", "run echo one"]).ok();
    folder.until_logged("permission.asked");
    insta::assert_snapshot!(folder.run(&["answer", "last", "allow", "--remember"]).ok(), @"Answered, and remembered.");
    folder.until_logged("turn.ended");

    // Nobody is asked: it ends by itself.
    folder.run(&["send", "last", "--json", "run echo one"]).ok();
    let shown = folder.run(&["show", "last"]).ok();
    let page: Value = serde_json::from_str(&folder.run(&["permissions", "--json"]).ok()).unwrap();
    let [row] = &page["permissions"].as_array().unwrap()[..] else { panic!("{page}") };
    let id = row["id"].as_str().unwrap();
    assert_eq!((row["subject"].as_str(), row["project"].as_str()), (Some("echo one"), folder.work().to_str()));
    assert!(shown.contains("allowed once by command line, and remembered"), "{shown}");
    assert!(shown.contains(&format!("allowed once, remembered ({id})")), "{shown}");
    let listed = folder.run(&["permissions"]).ok();
    assert!(
        listed.lines().nth(1).unwrap().starts_with(&format!("{id}  allow     guide  execute  echo one")),
        "{listed}"
    );

    insta::assert_snapshot!(folder.run(&["permissions", "forget", id]).ok(), @"Forgotten. The same will be asked again.");
    insta::assert_snapshot!(folder.run(&["permissions", "forget", id]).failed(), @"error: no such permission is remembered (permission_not_found)");
    server.stop();
}
