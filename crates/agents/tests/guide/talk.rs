//! Tests the guide's answers that are text alone.

use agent_client_protocol::v1::schema::{ContentBlock, ImageContent, ResourceLink, TextContent};
use model::{BlockScanner, Turn};
use tokio::time::Instant;

use crate::support::World;

/// A turn in a session of its own.
async fn check(prompt: &str, expected: &str) {
    let world = World::new().await;
    let session = world.session().await;
    assert_eq!(world.turn(&session, prompt).await, expected, "{prompt}");
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn say_repeats_the_text() {
    check("say hello there", "> hello there\ntitle say hello there\nusage 6 of 100000\nEndTurn").await;
    check("/say hello", "> hello\ntitle /say hello\nusage 3 of 100000\nEndTurn").await;
    check("say a\n\n  b", "> a\n\n  b\ntitle say a\nusage 4 of 100000\nEndTurn").await;
}

#[tokio::test(start_paused = true)]
async fn words_come_one_by_one() {
    let world = World::new().await;
    let session = world.session().await;
    world.prompt(&session, "say one two  three").await;
    let pieces = world.pieces(&session);
    assert_eq!(pieces[..4], ["> one ", "> two ", ">  ", "> three"]);
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn think_thinks_before_it_speaks() {
    check(
        "think hm, well",
        "~ hm, well\n> I thought about it, as far as a guide can.\ntitle think hm, well\nusage 16 of 100000\nEndTurn",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn long_counts_words() {
    check("long 3", "> word1 word2 word3 \ntitle long 3\nusage 6 of 100000\nEndTurn").await;
}

#[tokio::test(start_paused = true)]
async fn slow_takes_its_time() {
    let before = Instant::now();
    check("slow 90", "> Taking 90 s. Done.\ntitle slow 90\nusage 6 of 100000\nEndTurn").await;
    assert_eq!(before.elapsed().as_secs(), 90);
}

#[tokio::test(start_paused = true)]
async fn a_plan_is_done_step_by_step() {
    check(
        "plan look; leap",
        "plan [>] look [ ] leap\nplan [x] look [>] leap\nplan [x] look [x] leap\n> The plan is done.\n\
         title plan look; leap\nusage 8 of 100000\nEndTurn",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn fail_is_a_call_that_fails() {
    check(
        "fail no luck",
        "call Fail on purpose (Other) inprogress input {\"text\":\"no luck\"}\nfailed: no luck\n\
         > That failed, as you asked.\ntitle fail no luck\nusage 9 of 100000\nEndTurn",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn next_offers_a_block() {
    let world = World::new().await;
    let session = world.session().await;
    let said = world.turn(&session, "next Go \"on\" | say on | the work").await;
    assert!(said.starts_with("> ```throughline:next\n"), "{said}");
    let expected = serde_json::json!({ "label": "Go \"on\"", "command": "say on", "metaContext": "the work" });
    assert_eq!(blocks(&said).0, [("next".to_owned(), expected)]);
    world.end().await;
}

/// The blocks of the answer, each with its kind, and what follows the last of them.
fn blocks(said: &str) -> (Vec<(String, serde_json::Value)>, &str) {
    let mut found = Vec::new();
    let mut rest = said;
    while let Some((_, after)) = rest.split_once("```throughline:") {
        let (kind, after) = after.split_once('\n').unwrap();
        let (body, after) = after.split_once("\n```\n").unwrap();
        found.push((kind.to_owned(), serde_json::from_str(body).unwrap()));
        rest = after;
    }
    // The scanner of the log must recognise them as blocks too.
    let mut scanner = BlockScanner::default();
    let mut understood = scanner.read(Turn(1), 0, said.strip_prefix("> ").unwrap());
    understood.extend(scanner.end());
    assert_eq!(understood.len(), found.len(), "{understood:?}");
    (found, rest)
}

/// Presses every button, each in a session of its own.
#[tokio::test(start_paused = true)]
async fn a_pipeline_leads_through_its_phases_button_by_button() {
    for name in ["loom", "the \"new\" loom | 2", &"ö".repeat(200)] {
        let world = World::new().await;
        let mut prompt = format!("pipeline {name}");
        let mut seen = Vec::new();
        loop {
            let session = world.session().await;
            let said = world.turn(&session, &prompt).await;
            assert!(said.contains(&format!("“{name}”")), "{said}");
            let (blocks, after) = blocks(&said);
            let kinds: Vec<_> = blocks.iter().map(|(kind, _)| kind.as_str()).collect();
            let title = prompt.chars().take(40).collect::<String>();
            seen.push(format!("{} {}", title.split(' ').take(2).collect::<Vec<_>>().join(" "), kinds.join(" ")));
            let Some((_, next)) = blocks.last().filter(|(kind, _)| kind == "next") else {
                assert!(said.contains("the last phase"), "{said}");
                break;
            };
            // The block ends the answer: what follows is reported of the turn, not said.
            assert!(after.starts_with("\ntitle "), "{after}");
            assert!(next["label"].as_str().unwrap().chars().count() <= 120, "{next}");
            assert_eq!(next["metaContext"], name);
            assert_eq!(next.as_object().unwrap().len(), 3, "{next}");
            prompt = next["command"].as_str().unwrap().to_owned();
        }
        let first = seen.remove(0);
        assert!(first.starts_with("pipeline ") && first.ends_with(" next"), "{first}");
        let expected = [
            "phase research next",
            "phase requirements usecase next",
            "phase architecture eventmodel next",
            "phase plan next",
            "phase tasks tasks next",
            "phase build ",
        ];
        assert_eq!(seen, expected);
        world.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_block_is_whole_whatever_its_command_holds() {
    let world = World::new().await;
    let session = world.session().await;
    let command = "say ```\n```\nand | a bar";
    let said = world.turn(&session, &format!("next Go on | {command} | work")).await;
    let (blocks, _) = blocks(&said);
    assert_eq!(blocks.len(), 1, "{said}");
    let expected = serde_json::json!({ "label": "Go on", "command": command, "metaContext": "work" });
    assert_eq!(blocks[0], ("next".to_owned(), expected));
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_word_without_what_it_takes_says_how_to_use_it() {
    let world = World::new().await;
    let session = world.session().await;
    let said = world.turn(&session, "long story").await;
    assert!(said.starts_with("> Write `long NUMBER`: streams that many words.\n"), "{said}");
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn anything_else_is_told_what_to_try() {
    let world = World::new().await;
    let session = world.session().await;
    let said = world.turn(&session, "please fix my program").await;
    assert!(said.starts_with("> I am the built-in guide, not a model: "), "{said}");
    assert!(said.contains("\n\n- `say TEXT` answers with the text, word by word\n- `think TEXT`"), "{said}");
    assert!(said.contains("write `pipeline loom`"), "{said}");
    assert!(!said.contains("> please"), "{said}");
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn attachments_are_seen_and_context_is_not_obeyed() {
    let world = World::new().await;
    let session = world.session().await;
    let prompt = vec![
        ContentBlock::Text(TextContent::new("say what the packet says")),
        ContentBlock::Text(TextContent::new("say mine")),
        ContentBlock::Image(ImageContent::new("AAAAAA==", "image/png")),
        ContentBlock::ResourceLink(ResourceLink::new("notes.txt", "file:///notes.txt")),
    ];
    let said = world.turn_with(&session, prompt).await;
    assert!(
        said.starts_with(
            "> You attached an image (image/png, 4 bytes).\n\nYou attached `notes.txt`.\n\nmine\ntitle say mine\n"
        ),
        "{said}"
    );
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn the_first_prompt_names_the_session_and_usage_adds_up() {
    let world = World::new().await;
    let session = world.session().await;
    assert_eq!(world.turn(&session, "say one").await, "> one\ntitle say one\nusage 2 of 100000\nEndTurn");
    assert_eq!(world.turn(&session, "say two").await, "> two\nusage 5 of 100000\nEndTurn");
    world.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_tour_stops_at_contents_an_edit_and_a_next_step() {
    let world = World::new().await;
    let session = world.session().await;
    let contents = world.turn(&session, "tour").await;
    assert!(contents.starts_with("> Four stops, one press each.") && contents.contains("**Contents.**"), "{contents}");
    let edit = world.turn(&session, "tour edit").await;
    assert!(edit.contains("call Write tour.md") && edit.contains("I wrote `tour.md`."), "{edit}");
    let next = world.turn(&session, "tour next").await;
    let offered = blocks(&next).0;
    assert_eq!(offered[0].1["command"], "tour end", "{next}");
    let end = world.turn(&session, "tour end").await;
    assert!(end.contains("This is a second session") && end.contains("**Now your own.**"), "{end}");
    world.end().await;
}
