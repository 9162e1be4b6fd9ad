//! Tests listing and deleting the records that agents keep.

use agents::{AgentLimits, AgentRequest, Record, RecordsError, RecordsWish};

use crate::support::{Place, millis};

#[tokio::test]
async fn a_record_is_deleted_with_its_conversation_and_not_closed_before() {
    for drops_at_once in [true, false] {
        let place = Place::new(&["resume"]);
        let mut talk = place.start("resume");
        talk.begun().await;
        talk.call(AgentRequest::Delete).await;
        if drops_at_once {
            drop(talk);
        } else {
            talk.ended().await;
        }
        place.noted("session/delete s1").await;
        place.noted("ended").await;
        assert_eq!(place.notes(), "session/delete s1\nended\n");
        place.agents.shutdown().await;
    }
}

#[tokio::test]
async fn a_record_that_is_not_deleted_keeps_nobody() {
    for agent in ["good", "resume delete:refuse"] {
        let place = Place::new(&[agent]);
        let mut talk = place.start(agent);
        talk.begun().await;
        talk.call(AgentRequest::Delete).await;
        talk.ended().await;
        place.noted("ended").await;
        assert_eq!(place.notes(), "ended\n");
    }
    // An agent that does not answer is waited for up to the limit, and no longer.
    let place = Place::with(&["resume"], AgentLimits { delete: millis(200), ..AgentLimits::default() });
    let mut talk = place.start("resume");
    talk.begun().await;
    talk.prompt("asleep").await;
    talk.call(AgentRequest::Delete).await;
    talk.ended().await;
    place.agents.shutdown().await;
}

#[tokio::test]
async fn a_record_that_nobody_holds_is_deleted_by_a_process_that_is_there() {
    let place = Place::new(&["resume", "shared resume"]);
    place.agents.delete_record("resume", "s7".to_owned());
    place.agents.delete_record("nobody", "s7".to_owned());
    let mut talk = place.start("resume");
    talk.begun().await;
    place.agents.delete_record("shared resume", "s8".to_owned());
    place.agents.delete_record("resume", "s9".to_owned());
    place.noted("session/delete").await;
    assert_eq!(place.notes(), "session/delete s9\n");
    drop(talk);
    place.noted("ended").await;
    place.agents.delete_record("resume", "s10".to_owned());
    place.agents.shutdown().await;
    assert_eq!(place.notes(), "session/delete s9\nsession/close s1\nended\n");
}

fn told(records: &[Record]) -> Vec<String> {
    let line = |record: &Record| {
        let Record { id, title, cwd, updated_at } = record;
        let at = updated_at.map_or_else(|| "-".to_owned(), |at| at.to_string());
        format!("{id} {} {cwd} {at}", title.as_deref().unwrap_or("-"))
    };
    records.iter().map(line).collect()
}

#[tokio::test]
async fn an_agent_tells_what_it_keeps_a_page_at_a_time() {
    let place = Place::new(&["list", "shared list"]);
    let first = place.agents.records("list", RecordsWish::default()).await.unwrap();
    assert_eq!(told(&first.records), ["s1 Number 1 /anywhere 2026-01-02T03:04:05.000Z"]);
    assert_eq!(first.next_cursor.as_deref(), Some("more"));
    // The process that was started for this alone has ended with it.
    place.noted("ended").await;
    let wish = RecordsWish { cwd: Some("/here".into()), cursor: first.next_cursor };
    let next = place.agents.records("list", wish).await.unwrap();
    assert_eq!((told(&next.records), next.next_cursor), (vec!["odd Tidy [2K up /here -".to_owned()], None));
    // A shared process lists what other sessions began with it.
    let (mut one, mut two) = (place.start("shared list"), place.start("shared list"));
    one.begun().await;
    two.begun().await;
    assert_eq!(place.agents.records("shared list", RecordsWish::default()).await.unwrap().records.len(), 2);
    place.agents.shutdown().await;
}

#[tokio::test]
async fn an_agent_that_does_not_tell_says_why_in_bounded_time() {
    let wishes =
        ["good", "list list:refuse", "list list:signed-out", "list list:crash", "initialize:crash", "list list:many"];
    let place = Place::new(&wishes);
    let mut why = Vec::new();
    for wishes in wishes.iter().chain(&["nobody"]) {
        match place.agents.records(wishes, RecordsWish::default()).await {
            Ok(all) => why.push(format!("{} records", all.records.len())),
            Err(err) => why.push(err.to_string()),
        }
    }
    assert_eq!(
        why,
        [
            "this agent does not tell which sessions it keeps",
            "the agent refused: none of your business",
            "this agent wants you to sign in first; begin a session with it to do so",
            "the agent ended (exit code 3): about to break / broke at list [31mred",
            "the agent ended (exit code 3): about to break / broke at initialize [31mred",
            "1000 records",
            "there is no agent called \"nobody\"; known are good, list list:refuse, list list:signed-out, list list:crash, \
             initialize:crash, list list:many, guide",
        ]
    );
    let place = Place::with(
        &["list list:hang", "initialize:hang"],
        AgentLimits { records: millis(300), ..AgentLimits::default() },
    );
    for wishes in ["list list:hang", "initialize:hang"] {
        let told = place.agents.records(wishes, RecordsWish::default()).await;
        assert_eq!(told, Err(RecordsError::TooSlow(millis(300))));
    }
    place.agents.shutdown().await;
}
