//! Words that are found whatever the index is busy with.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::client::Client;
use crate::support::Folder;

/// Longer than news wait for a commit of the index.
const LONG_ENOUGH: Duration = Duration::from_millis(2_500);

#[test]
fn a_commit_of_the_index_that_never_ends_keeps_nothing_from_being_found() {
    let folder = Folder::new();
    let server = folder.serve_failing("index-commit=pause");
    let client = Client::new(&folder, &server);
    let session = client.session();
    let started = Instant::now();
    let mut renamed = 0;
    while started.elapsed() < LONG_ENOUGH {
        let name = format!("needle{renamed:04}x");
        let told = client.call(&format!("PATCH /api/v1/sessions/{session}"), None, &json!({ "name": name }));
        assert_eq!(told.unwrap().status, 200);
        let found = client.get(&format!("/search?q={name}"));
        assert_eq!(found.body["total"], 1, "{name}: {}", found.body);
        renamed += 1;
    }
}
