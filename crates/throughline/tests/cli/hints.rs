//! Tests that suggested commands use the same data folder as the command that prints them.

use std::fs;

use crate::support::Folder;

/// How many hints were printed; each one is checked.
#[track_caller]
fn hints(text: &str, option: &str) -> usize {
    let bare = text.replace(&format!("`throughline{option}"), "").replace(&format!(": throughline{option} "), "");
    assert!(!bare.contains("`throughline") && !bare.contains(": throughline "), "{text}");
    text.matches(&format!("throughline{option}")).count()
}

#[test]
fn every_hint_keeps_the_folder_that_was_given() {
    let folder = Folder::new();
    let data = folder.home().join("else where");
    let option = format!(" --data-dir '{}'", data.display());
    let given = ["--data-dir", data.to_str().unwrap()];
    let run = |arguments: &[&str]| {
        let ran = folder.run(&[&given, arguments].concat());
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(hints(&told, &option) > 0, "{arguments:?} prints no hint: {told}");
        told
    };
    run(&["list"]);
    run(&["show", "last"]);
    run(&["token", "link"]);
    run(&["permissions"]);
    run(&["work"]);
    run(&["skill"]);
    run(&["mcp"]);
    let new = run(&["new"]);
    assert!(new.contains(&format!("Talk to it: throughline{option} send ")), "{new}");
    run(&["show", "0000"]);
    run(&["send", "last", "--no-wait", "x"]);
    run(&["next", "last", "--take"]);
    run(&["next", "last", "t1.n1"]);
    run(&["delete", "last"]);
    run(&["token", "rotate", "--yes"]);
    run(&["backup", folder.home().join("copy").to_str().unwrap()]);

    // An agent's text is left as it is; what follows below is ours.
    run(&["new"]);
    let offer = "next Go on | see `throughline list` | loom";
    let sent = folder.run(&[&given[..], &["send", "last", offer]].concat()).ok();
    assert!(sent.contains(&format!("`throughline{option} next ")), "{sent}");
    let listed = folder.run(&[&given[..], &["next", "last"]].concat()).ok();
    assert!(listed.contains("   | see `throughline list`\n"), "{listed}");
    assert!(listed.contains(&format!("open: `throughline{option} next ")), "{listed}");

    // A store that can not be opened is an error of another crate, whose hint is kept as well.
    fs::write(data.join("throughline.db"), "no database").unwrap();
    let doctor = folder.run(&[&given[..], &["doctor"]].concat());
    hints(&format!("{}{}", doctor.stdout, doctor.stderr), &option);
}

/// A variable of the environment holds for the next command anyway.
#[test]
fn without_the_option_a_hint_has_none() {
    let folder = Folder::new();
    assert_eq!(hints(&folder.run(&["list"]).ok(), ""), 1);
}
