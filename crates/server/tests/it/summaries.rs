//! A model writes lines and titles: TOC-10 to TOC-20. Whatever it does, each turn keeps a line.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agents::provider::{PlainHttp, Provider, ProviderKind, ProviderSettings, ProviderUrl};
use axum::Router;
use axum::http::StatusCode;
use axum::routing::post;
use engine::Summarising;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep};

use crate::support::World;

/// A model on loopback that says what it is told to.
struct Model {
    port: u16,
    asked: Arc<Mutex<Vec<Value>>>,
    most_at_once: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
    _tasks: JoinSet<()>,
}

impl Model {
    async fn open(
        answer: impl Fn(&Value) -> (StatusCode, String) + Clone + Send + Sync + 'static,
        open: usize,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Semaphore::new(open));
        let (heard, most_at_once, at_gate) = (Arc::clone(&asked), Arc::clone(&most), Arc::clone(&gate));
        let route = post(move |body: String| {
            let (heard, now, most, gate, answer) =
                (Arc::clone(&heard), Arc::clone(&now), Arc::clone(&most), Arc::clone(&at_gate), answer.clone());
            async move {
                let request: Value = serde_json::from_str(&body).unwrap();
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
                now.fetch_sub(1, Ordering::SeqCst);
                let (status, text) = answer(&request);
                heard.lock().unwrap().push(request);
                (status, [("content-type", "application/json")], text)
            }
        });
        let app = Router::new().route("/v1/chat/completions", route);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { port, asked, most_at_once, gate, _tasks: tasks }
    }

    fn summarising(&self, daily_calls: u32) -> Summarising {
        let url = format!("http://127.0.0.1:{}/v1", self.port);
        let settings = ProviderSettings {
            kind: ProviderKind::OpenAi,
            url: ProviderUrl::parse(&url, PlainHttp::ThisMachineOnly).unwrap(),
            model: "test-model".to_owned(),
            key: None,
        };
        Summarising { provider: Provider::new(settings).unwrap(), daily_calls, titles: true }
    }
}

const PLENTY: usize = 10_000;

fn says(text: &str) -> String {
    json!({ "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }] }).to_string()
}

fn is_title(request: &Value) -> bool {
    request.to_string().contains("[RECENT]")
}

async fn line(world: &World, session: &str, turn: u64) -> (String, String) {
    let toc = world.get(&format!("/api/v1/sessions/{session}/toc")).await.ok(200);
    let entries = toc["entries"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["turn"] == turn).unwrap();
    (entry["summary"].as_str().unwrap().to_owned(), entry["summary_by"].as_str().unwrap_or_default().to_owned())
}

/// Waits until the model has been done with so many turns.
async fn until_done(world: &World, turns: u64) -> Value {
    loop {
        let progress = world.get("/api/v1/summaries").await.ok(200);
        let done = progress["written"].as_u64().unwrap() + progress["failed"].as_u64().unwrap();
        if done >= turns && progress["waiting"] == json!(0) {
            return progress;
        }
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn a_model_writes_a_better_line_and_the_title() {
    let model = Model::open(
        |request| match is_title(request) {
            true => (StatusCode::OK, says("\"Sparrow release\"")),
            false => (StatusCode::OK, says("\"Counted sparrows in the yard.\"\nand more")),
        },
        PLENTY,
    )
    .await;
    let world = World::asking(model.summarising(100)).await;
    let session = world.session().await;
    world.turn(&session, "say how many sparrows are there").await;
    until_done(&world, 1).await;
    assert_eq!(line(&world, &session, 1).await, ("Counted sparrows in the yard".to_owned(), "model".to_owned()));
    let history = world.get(&format!("/api/v1/sessions/{session}/title-history")).await.ok(200);
    assert_eq!(
        (&history["titles"][0]["title"], &history["titles"][0]["by"]),
        (&json!("Sparrow release"), &json!("model"))
    );
    let asked = model.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "once for the line and once for the title: {asked:?}");
    assert!(asked[0].to_string().contains("sparrows"));
    // It is found by the model's words too.
    let found = world.get("/api/v1/search?q=yard").await.ok(200);
    assert_eq!(found["results"][0]["session_id"], json!(session));
    world.close().await;
}

#[tokio::test]
async fn a_model_that_fails_or_is_hostile_leaves_the_line_as_it_is() {
    let huge = says(&"x".repeat(1 << 20));
    let answers: Vec<(StatusCode, String)> = vec![
        (StatusCode::INTERNAL_SERVER_ERROR, "{}".to_owned()),
        (StatusCode::OK, "<html><body>Sign in to the network</body></html>".to_owned()),
        (StatusCode::OK, "null".to_owned()),
        (StatusCode::OK, String::new()),
        (StatusCode::OK, json!({ "choices": [{ "message": { "content": null } }] }).to_string()),
        (StatusCode::OK, says("")),
        (StatusCode::OK, huge),
        (StatusCode::OK, r#"{"choices": 7}"#.to_owned()),
        (StatusCode::OK, says("<html><body>hello</body></html>")),
    ];
    let turns = answers.len() as u64;
    let next = Arc::new(Mutex::new(answers.into_iter()));
    let model = Model::open(
        move |_| next.lock().unwrap().next().unwrap_or((StatusCode::INTERNAL_SERVER_ERROR, "{}".to_owned())),
        PLENTY,
    )
    .await;
    let world = World::asking(model.summarising(1_000)).await;
    let session = world.session().await;
    for turn in 1..=turns {
        world.turn(&session, &format!("say bird number {turn} was seen in the garden")).await;
        until_done(&world, turn).await;
    }
    for turn in 1..=turns {
        let (line, by) = line(&world, &session, turn).await;
        assert!(by == "extract" && line.contains(&format!("bird number {turn}")), "turn {turn}: {line} by {by}");
    }
    world.close().await;
}

#[tokio::test]
async fn escape_codes_and_direction_marks_do_not_get_through() {
    let model = Model::open(|_| (StatusCode::OK, says("\u{1b}[31mred\u{1b}[0m \u{202e}evil\u{7} line")), PLENTY).await;
    let world = World::asking(model.summarising(100)).await;
    let session = world.session().await;
    world.turn(&session, "say hello there").await;
    until_done(&world, 1).await;
    let (line, _) = line(&world, &session, 1).await;
    assert!(line.chars().all(|c| !c.is_control() && c != '\u{202e}') && line.contains("red"), "{line:?}");
    world.close().await;
}

#[tokio::test]
async fn five_are_asked_at_a_time_and_the_others_wait_their_turn() {
    let model = Model::open(|_| (StatusCode::OK, says("A line of the model")), 0).await;
    let world = World::asking(model.summarising(1_000)).await;
    let mut sessions = Vec::new();
    for n in 0..8 {
        let session = world.session().await;
        world.turn(&session, &format!("say number {n}")).await;
        sessions.push(session);
    }
    while model.most_at_once.load(Ordering::SeqCst) < 5 {
        sleep(Duration::from_millis(10)).await;
    }
    let progress = world.get("/api/v1/summaries").await.ok(200);
    assert_eq!((&progress["waiting"], &progress["written"]), (&json!(3), &json!(0)), "{progress}");
    model.gate.add_permits(PLENTY);
    until_done(&world, 8).await;
    for session in &sessions {
        assert_eq!(line(&world, session, 1).await.1, "model");
    }
    assert_eq!(model.most_at_once.load(Ordering::SeqCst), 5);
    world.close().await;
}

#[tokio::test]
async fn a_days_calls_are_not_exceeded_and_lines_can_be_upgraded_later() {
    let model = Model::open(|_| (StatusCode::OK, says("A line of the model")), PLENTY).await;
    let world = World::asking(model.summarising(4)).await;
    let session = world.session().await;
    for n in 0..5 {
        world.turn(&session, &format!("say number {n} of the list")).await;
    }
    until(&world, |progress| progress["written"] == json!(2)).await;
    assert!(model.asked.lock().unwrap().len() <= 4);
    let progress = world.get("/api/v1/summaries").await.ok(200);
    assert_eq!((&progress["waiting"], &progress["left_today"]), (&json!(3), &json!(0)));
    world.clock.advance(Duration::from_secs(24 * 60 * 60));
    // Those that wait are not asked about twice.
    let upgraded = world.call("POST /api/v1/summaries", json!({ "session_id": session })).await.ok(202);
    assert_eq!(upgraded, json!({ "queued": 0 }));
    until(&world, |progress| progress["written"].as_u64() >= Some(4)).await;
    world.close().await;
}

async fn until(world: &World, wanted: impl Fn(&Value) -> bool) {
    while !wanted(&world.get("/api/v1/summaries").await.ok(200)) {
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn without_a_model_there_is_nothing_to_upgrade() {
    let world = World::open().await;
    let refused = world.call("POST /api/v1/summaries", json!({})).await;
    assert_eq!((refused.status, &refused.json()["error"]["code"]), (409, &json!("no_model")));
    let progress = world.get("/api/v1/summaries").await.ok(200);
    assert_eq!((&progress["has_model"], &progress["left_today"]), (&json!(false), &Value::Null));
    world.close().await;
}
