//! Random histories: a healthy store has no findings, a rebuild changes nothing, and what is exported or backed up and
//! put back is exported again as the same lines.

use std::fs;

use proptest::prelude::*;

use crate::histories::{Step, history, write};
use crate::outside::{CheckReport, Depth, Repair};
use crate::sqlite::tests::folder;
use crate::sqlite::tests::outside::{backup, check, export, restore_from, told};

/// All but the first line, which names the store, and the hash over it in the last.
fn body(text: &str) -> Vec<String> {
    text.lines().skip(1).map(|line| line.split(r#","sha256""#).next().unwrap().to_owned()).collect()
}

/// What a check finds but for payloads: a history names some, and writes none.
fn log_findings(report: &CheckReport) -> Vec<String> {
    told(report).into_iter().filter(|line| !line.starts_with("Payload ")).collect()
}

fn goes_round(steps: Vec<Step>) {
    let (folder, path) = folder();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = runtime.block_on(write(steps, &path));
    // Beside its owner first.
    assert_eq!(log_findings(&check(&path, Depth::All)), Vec::<String>::new());
    let (lines, exported) = export(&path);
    let kept = folder.path().join("backup");
    let note = backup(&path, &kept).unwrap();
    assert_eq!((note.entries, exported.damaged, exported.strays), (exported.entries, 0, 0));
    drop(store);

    Repair::begin(&path).unwrap().rebuild(&mut |_| ()).unwrap();
    assert_eq!(log_findings(&check(&path, Depth::All)), Vec::<String>::new());
    assert_eq!(export(&path).0, lines);

    let file = folder.path().join("export.jsonl");
    fs::write(&file, &lines).unwrap();
    for (from, name) in [(&kept, "of-backup.db"), (&file, "of-export.db")] {
        let new = folder.path().join(name);
        let restored = restore_from(from, &new).unwrap();
        assert_eq!(restored.entries, exported.entries);
        assert_eq!(log_findings(&check(&new, Depth::All)), Vec::<String>::new(), "{name}");
        assert_eq!(body(&export(&new).0), body(&lines), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_history_goes_round(steps in history()) {
        goes_round(steps);
    }
}
