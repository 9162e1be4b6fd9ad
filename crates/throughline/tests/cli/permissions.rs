//! Tests remembered answers at the command line: given, listed, shown and forgotten.

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

    insta::assert_snapshot!(folder.run(&["permissions", "forget", "a"]).failed(), @r#"error: "a" is too little of an id; give 4 or more characters of its beginning or its end"#);
    insta::assert_snapshot!(folder.run(&["permissions", "forget", "nonsense"]).failed(), @"error: no remembered answer's id begins or ends with nonsense; `throughline permissions` shows them");
    let end = id[id.len() - 8..].to_uppercase();
    insta::assert_snapshot!(folder.run(&["permissions", "forget", &end]).ok(), @"Forgotten. The same is asked again, unless the agent itself was told to allow it always.");
    insta::assert_snapshot!(folder.run(&["permissions", "forget", id]).failed(), @"error: no such permission is remembered (permission_not_found)");
    server.stop();
}

#[test]
fn what_two_ids_have_in_common_forgets_neither() {
    let folder = Folder::new();
    let server = folder.serve();
    for text in ["run echo one", "run echo two"] {
        folder.run(&["new"]).ok();
        folder.run(&["send", "last", "--no-wait", text]).ok();
        folder.until_logged("permission.asked");
        // As the page's button does.
        assert_eq!(folder.run(&["answer", "last", "always"]).ok(), "Answered, and remembered.\n");
        // Until then it could become the last one again.
        folder.until_logged("turn.ended");
    }
    let rows = || {
        let page: Value = serde_json::from_str(&folder.run(&["permissions", "--json"]).ok()).unwrap();
        let rows = page["permissions"].as_array().unwrap().clone();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let [first, second] = &rows()[..] else { panic!("{:?}", rows()) };
    // Ids begin with their time.
    assert_eq!(first[..4], second[..4]);
    let refused = folder.run(&["permissions", "forget", &first[..4]]).failed();
    assert!(refused.starts_with("error: 2 remembered answers' ids begin or end with "), "{refused}");
    assert_eq!(rows().len(), 2);
    server.stop();
}
