//! Connections to an agent that the test plays, with a paused clock.

use agent_client_protocol::v1::schema::{NewSessionRequest, PromptRequest};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio_util::task::AbortOnDropHandle;

use super::*;
use crate::acp::inbox::Message;
use crate::acp::outbox::MAX_LINES;

struct PlayedAgent {
    lease: Option<Lease>,
    /// What the agent reads.
    heard: Lines<BufReader<DuplexStream>>,
    says: DuplexStream,
    run: tokio::task::JoinHandle<()>,
}

fn play(limits: AgentLimits) -> PlayedAgent {
    let (says, output) = tokio::io::duplex(64 << 10);
    let (input, heard) = tokio::io::duplex(64 << 10);
    let tasks = tokio_util::task::TaskTracker::new();
    let body = AbortOnDropHandle::new(tasks.spawn(std::future::pending()));
    let transport = Transport::task(output, input, body);
    let (lease, run) = Connection::open(transport, limits, Duration::ZERO, &CancellationToken::new());
    lease.connection().share();
    PlayedAgent { lease: Some(lease), heard: BufReader::new(heard).lines(), says, run: tasks.spawn(run) }
}

impl PlayedAgent {
    fn connection(&self) -> Connection {
        self.lease.as_ref().unwrap().connection().clone()
    }

    async fn say(&mut self, message: Value) {
        self.says.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn heard(&mut self) -> Value {
        serde_json::from_str(&self.heard.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn begin(&mut self, name: &str) -> (u64, Inbox) {
        let (session, mut inbox) = self.connection().add_session();
        let id = self.connection().request_new(session, &NewSessionRequest::new("/p"));
        self.heard().await;
        self.say(json!({ "id": id, "result": { "sessionId": name } })).await;
        assert!(matches!(inbox.take().await, Ok(Message::Reply { .. })));
        (session, inbox)
    }
}

fn update(session: &str, number: u64) -> Value {
    json!({ "method": "session/update", "params": { "sessionId": session, "update": { "number": number } } })
}

#[tokio::test(start_paused = true)]
async fn who_is_alone_may_leave_news_untaken() {
    let limits = AgentLimits { queue_messages: 2, ..AgentLimits::default() };
    let untaken = limits.untaken;
    let mut played = play(limits);
    let (_, mut inbox) = played.begin("s1").await;
    for number in 0..6 {
        played.say(update("s1", number)).await;
    }
    tokio::time::sleep(100 * untaken).await;
    for number in 0..6 {
        let message = inbox.take().await;
        assert!(matches!(&message, Ok(Message::Update(update)) if update["number"] == number), "{message:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_news_untaken_while_others_wait_is_left_behind() {
    let limits = AgentLimits { queue_messages: 2, ..AgentLimits::default() };
    let mut played = play(limits);
    let (_, mut slow) = played.begin("s1").await;
    let _other = played.connection().lease().unwrap();
    let (_, mut quick) = played.begin("s2").await;
    for number in 0..6 {
        played.say(update("s1", number)).await;
    }
    played.say(update("s2", 0)).await;
    assert!(matches!(quick.take().await, Ok(Message::Update(_))));
    let mut taken = 0;
    let why = loop {
        match slow.take().await {
            Ok(_) => taken += 1,
            Err(why) => break why,
        }
    };
    assert_eq!(taken, 2);
    assert_eq!(why, "the session did not take the agent's news, and others of the same process were waiting");
}

#[tokio::test(start_paused = true)]
async fn a_reply_does_not_overtake_what_was_said_before_it() {
    let mut played = play(AgentLimits { queue_messages: 1, ..AgentLimits::default() });
    let (session, mut inbox) = played.begin("s1").await;
    let id = played.connection().request(session, &PromptRequest::new("s1", Vec::new()));
    for number in 0..50 {
        played.say(update("s1", number)).await;
    }
    played.say(json!({ "id": id, "result": { "stopReason": "end_turn" } })).await;
    for _ in 0..50 {
        assert!(matches!(inbox.take().await, Ok(Message::Update(_))));
    }
    assert!(matches!(inbox.take().await, Ok(Message::Reply { id: of, .. }) if of == id));
}

#[tokio::test(start_paused = true)]
async fn bytes_count_as_well_as_messages() {
    let mut played = play(AgentLimits { queue_bytes: 4_000, ..AgentLimits::default() });
    let (_, mut inbox) = played.begin("s1").await;
    let large = "x".repeat(3_000);
    let say = async {
        for _ in 0..60 {
            let params = json!({ "sessionId": "s1", "update": { "text": large } });
            let line = json!({ "method": "session/update", "params": params }).to_string() + "\n";
            played.says.write_all(line.as_bytes()).await.unwrap();
        }
    };
    // The pipe is full, and nobody reads on.
    assert!(timeout(Duration::from_secs(9), say).await.is_err());
    assert!(matches!(inbox.take().await, Ok(Message::Update(_))));
}

#[tokio::test(start_paused = true)]
async fn what_comes_before_a_name_waits_for_it_and_no_longer() {
    let mut played = play(AgentLimits::default());
    let (session, mut inbox) = played.connection().add_session();
    played.say(update("s1", 0)).await;
    // Dropped, because it is for nobody. The answer shows that everything before it was read.
    played.say(json!({ "id": "x", "method": "m", "params": {} })).await;
    assert_eq!(played.heard().await["error"]["code"], -32601);
    let id = played.connection().request_new(session, &NewSessionRequest::new("/p"));
    played.heard().await;
    played.say(update("s1", 1)).await;
    played.say(update("other", 2)).await;
    played.say(json!({ "id": id, "result": { "sessionId": "s1" } })).await;
    played.say(update("s1", 3)).await;
    let mut told = Vec::new();
    while told.len() < 3 {
        told.push(match inbox.take().await.unwrap() {
            Message::Update(update) => update["number"].to_string(),
            Message::Reply { .. } => "reply".to_owned(),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(told, ["reply", "1", "3"]);
}

#[tokio::test(start_paused = true)]
async fn the_last_user_takes_it_along() {
    let mut played = play(AgentLimits::default());
    let connection = played.connection();
    let second = connection.lease().unwrap();
    played.lease = None;
    assert!(connection.lease().is_some());
    drop(second);
    played.run.await.unwrap();
    assert!(connection.lease().is_none());
    assert!(connection.add_session().1.take().await.is_err());
}

/// A session that sends never waits for the agent, so that it can be stopped; an agent that reads nothing is ended.
#[tokio::test(start_paused = true)]
async fn an_agent_that_reads_nothing_holds_nobody_up() {
    let mut played = play(AgentLimits::default());
    let (_, mut inbox) = played.begin("s1").await;
    let connection = played.connection();
    let (id, long) = (json!(1), "x".repeat(1 << 10));
    for _ in 0..2 * MAX_LINES {
        connection.answer(&id, Ok(json!({ "text": long })));
    }
    let why = inbox.take().await.err();
    assert_eq!(why.as_deref(), Some("the agent does not read its input: more is waiting than it could be sent"));
}
