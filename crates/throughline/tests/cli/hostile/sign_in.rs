//! Tests an agent that wants somebody to sign in, at a terminal.

use super::world::World;

#[test]
fn whoever_is_signed_out_is_told_what_to_run() {
    let world = World::new("", &[("signed-out", "terminal new:signed-out"), ("forgets", "terminal")]);
    let session = world.session("signed-out");
    let methods = &world.until(&session, &["needs_you"]);
    assert_eq!(methods["state"], "needs_you");
    let entries = world.entries(&session);
    let ways = &entries.iter().find(|entry| entry["data"]["state"] == "signed_out").unwrap()["data"]["methods"];
    assert_eq!((ways[0]["run"].as_str(), ways[2]["id"].as_str()), (None, Some("login")), "{ways}");
    let run = ways[2]["run"].as_str().unwrap();
    assert!(run.starts_with("env 'MODE=a b' /") && run.ends_with(r"login --as 'it'\''s me'"), "{run}");

    let told = world.folder.run(&["send", &session, "hello"]).failed();
    let short = &session[session.len() - 8..];
    assert_eq!(
        told,
        format!(
            "error: the agent wants you to sign in\n  Run {run} in a terminal.\n  Choose on the page: With a key, With luck.\n  \
             The prompt is kept and waits; then run `throughline resume {short}`.\n"
        )
    );
    // In the middle of a turn the prompt has already been sent.
    let session = world.session("forgets");
    world.settled(&session);
    let told = world.folder.run(&["send", &session, "signout"]).failed();
    assert!(told.ends_with("With luck.\n  Then send the prompt again.\n"), "{told}");
    world.guide_is_unharmed();
    world.server.stop();
}
