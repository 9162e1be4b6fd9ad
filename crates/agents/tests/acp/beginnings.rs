//! Tests how sessions begin, are resumed, and fail to begin.

use agents::{AgentLimits, AgentRequest, AgentStart};
use insta::assert_snapshot;
use model::SignInMethod;

use crate::support::{Place, millis};

#[tokio::test]
async fn a_session_begins_and_ends_with_its_agent() {
    let place = Place::new(&["good"]);
    let mut talk = place.start("good");
    assert_snapshot!(talk.begun().await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
    place.agents.shutdown().await;
    talk.ended().await;
}

#[tokio::test]
async fn an_agent_that_is_not_known_or_not_there_fails() {
    let place = Place::new(&["good"]);
    assert_snapshot!(place.start("nobody").begun().await, @r#"failed: there is no agent called "nobody"; known are good, guide"#);
    let mut lost = place.start_with(AgentStart { cwd: "/no/such/folder".into(), ..place.asking("good") });
    assert_snapshot!(lost.begun().await, @"failed: the directory /no/such/folder is gone: make it again, or begin a session elsewhere");
    lost.ended().await;
}

#[tokio::test]
async fn an_agent_that_breaks_while_it_begins_says_so_with_its_last_words() {
    let wishes = ["initialize:crash", "new:crash", "initialize:refuse", "initialize:version", "new:refuse"];
    let place = Place::new(&wishes);
    let mut told = String::new();
    for wish in wishes {
        let mut talk = place.start(wish);
        told += &talk.begun().await;
        talk.ended().await;
    }
    assert_snapshot!(told, @r#"
    failed: the agent ended (exit code 3): about to break / broke at initialize [31mred
    failed: the agent ended (exit code 3): about to break / broke at new [31mred
    failed: the agent refused to begin: not today
    failed: the agent speaks version 2 of its protocol, and only version 1 is known here
    failed: the agent refused the session: no room
    "#);
}

#[tokio::test]
async fn an_agent_that_hangs_while_it_begins_is_given_up() {
    let limits = AgentLimits { initialize: millis(300), attach: millis(300), ..AgentLimits::default() };
    let wishes = ["initialize:hang", "new:hang", "resume resume:hang", "load load:hang"];
    let place = Place::with(&wishes, limits);
    let mut told = String::new();
    for wish in wishes {
        let mut talk = place.take_up(wish, "s7");
        told += &talk.begun().await;
        talk.ended().await;
    }
    assert_snapshot!(told, @r#"
    failed: the agent did not say what it is within 0.3 seconds
    failed: the agent did not begin a session within 0.3 seconds
    failed: the agent did not take its session up within 0.3 seconds
    failed: the agent did not take its session up within 0.3 seconds
    "#);
}

#[tokio::test]
async fn junk_on_the_wire_does_no_harm() {
    let place = Place::new(&["initialize:junk new:junk"]);
    let mut talk = place.start("initialize:junk new:junk");
    assert_snapshot!(talk.begun().await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
    assert_snapshot!(talk.turn("junk").await, @r#"
    text 0 still here
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn what_comes_before_the_session_has_its_name_is_for_the_session() {
    let place = Place::new(&["new:early"]);
    let mut talk = place.start("new:early");
    talk.begun().await;
    assert_snapshot!(talk.until(|_| true).await, @r#"commands [{"name":"go","description":"Goes"}]"#);
}

#[tokio::test]
async fn a_session_is_taken_up_as_the_agent_can() {
    let place = Place::new(&["good", "load", "resume", "resume load"]);
    let mut told = String::new();
    for (agent, earlier) in [
        ("good", "s7"),
        ("load", "s7"),
        ("resume", "s7"),
        ("resume load", "s7"),
        ("load", "lost"),
        ("resume load", "lost"),
    ] {
        told += &format!("{agent}, {earlier}:\n");
        told += &place.take_up(agent, earlier).begun().await;
    }
    assert_snapshot!(told, @r#"
    good, s7:
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    load, s7:
    ready {"agentSession":"s7","memory":"loaded","program":"hostile 1.0"}
    resume, s7:
    ready {"agentSession":"s7","memory":"resumed","program":"hostile 1.0"}
    resume load, s7:
    ready {"agentSession":"s7","memory":"resumed","program":"hostile 1.0"}
    load, lost:
    noticed {"severity":"warning","title":"The agent could not take up its own record of this session","description":"no such session"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    resume load, lost:
    noticed {"severity":"warning","title":"The agent could not take up its own record of this session","description":"no such session"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
}

/// Some agents reply that they have loaded their record while they still replay it.
#[tokio::test]
async fn a_record_that_is_still_read_out_is_not_the_next_answer() {
    let limits = AgentLimits { replayed: millis(1_000), ..AgentLimits::default() };
    let place = Place::with(&["load load:on-and-on"], limits);
    let mut talk = place.take_up("load load:on-and-on", "s7");
    // Also with a prompt from before it is attached.
    talk.prompt("hello").await;
    assert_snapshot!(talk.begun().await, @r#"ready {"agentSession":"s7","memory":"loaded","program":"hostile 1.0"}"#);
    assert_snapshot!(talk.over().await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn a_record_that_has_no_end_is_told_and_keeps_nobody() {
    let limits = AgentLimits { attach: millis(100), replayed: millis(1_000), ..AgentLimits::default() };
    let place = Place::with(&["load load:on-and-on"], limits);
    let mut talk = place.take_up("load load:on-and-on", "s7");
    assert_snapshot!(talk.begun().await, @r#"
    noticed {"severity":"warning","title":"The agent reads out its own record and does not come to an end","description":"Earlier words may stand in its next answer."}
    ready {"agentSession":"s7","memory":"loaded","program":"hostile 1.0"}
    "#);
}

#[tokio::test]
async fn who_is_signed_out_signs_in_and_goes_on() {
    let place = Place::new(&["new:signed-out"]);
    let mut talk = place.start("new:signed-out");
    assert_snapshot!(talk.begun().await, @r#"signed out [{"id":"key","name":"With a key"},{"id":"luck","name":"With luck"}]"#);
    talk.call(AgentRequest::SignIn { method: "luck".to_owned() }).await;
    assert_snapshot!(talk.begun().await, @r#"
    noticed {"severity":"warning","title":"The agent did not sign in","description":"no such way"}
    signed out [{"id":"key","name":"With a key"},{"id":"luck","name":"With luck"}]
    "#);
    talk.call(AgentRequest::SignIn { method: "key".to_owned() }).await;
    assert_snapshot!(talk.begun().await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
    // Also in the middle of a session.
    assert_snapshot!(talk.turn("signout").await, @r#"signed out [{"id":"key","name":"With a key"},{"id":"luck","name":"With luck"}]"#);
    talk.call(AgentRequest::SignIn { method: "key".to_owned() }).await;
    assert_snapshot!(talk.begun().await, @"ready null");
    assert_snapshot!(talk.turn("hello").await, @r#"
    text 0 hello
    stopped {"outcome":"completed"}
    "#);
}

#[tokio::test]
async fn a_way_to_sign_in_that_needs_a_terminal_is_told_and_not_taken() {
    let place = Place::new(&["terminal new:signed-out"]);
    let mut talk = place.start("terminal new:signed-out");
    let told = talk.begun().await;
    let methods: Vec<SignInMethod> = serde_json::from_str(told.trim().strip_prefix("signed out ").unwrap()).unwrap();
    // The method whose command hides something is left out.
    let ways: Vec<_> = methods.iter().map(|way| (way.id.as_str(), way.run.is_some())).collect();
    assert_eq!(ways, [("key", false), ("luck", false), ("login", true)]);
    let run = methods[2].run.clone().unwrap();
    assert!(run.starts_with("env 'MODE=a b' /") && run.ends_with(r"login --as 'it'\''s me'"), "{run}");
    assert!(run.contains("/hostile terminal new:signed-out notes="), "{run}");
    talk.call(AgentRequest::SignIn { method: "login".to_owned() }).await;
    let told = talk.begun().await;
    let needs =
        r#"noticed {"severity":"warning","title":"This way to sign in needs a terminal","description":"Run env "#;
    assert!(told.starts_with(needs) && told.lines().nth(1).unwrap().starts_with("signed out "), "{told}");
}

#[tokio::test]
async fn options_are_set_before_the_first_prompt() {
    let place = Place::new(&["modes"]);
    let options = [("mode", "code"), ("weather", "fine")];
    let options = options.map(|(option, value)| (option.to_owned(), value.to_owned())).into();
    let mut talk = place.start_with(AgentStart { options, ..place.asking("modes") });
    assert_snapshot!(talk.begun().await, @r#"
    options [{"id":"mode","name":"Mode","category":"mode","value":"ask","choices":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code"}]}]
    options [{"id":"mode","name":"Mode","category":"mode","value":"code","choices":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code"}]}]
    noticed {"severity":"warning","title":"The agent offers no \"weather\" to choose"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
    assert_eq!(place.notes(), "session/set_mode s1\n");
    talk.call(AgentRequest::SetOption { option: "mode".to_owned(), value: "ask".to_owned() }).await;
    assert_snapshot!(talk.until(|_| true).await, @r#"options [{"id":"mode","name":"Mode","category":"mode","value":"ask","choices":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code"}]}]"#);
}

#[tokio::test]
async fn an_agent_that_loading_harms_begins_anew_and_makes_its_own_files() {
    let agents = ["load files", "load files harmed"];
    let place = Place::new(&agents);
    let mut told = String::new();
    for agent in agents {
        told += &place.take_up(agent, "s7").begun().await;
    }
    assert_snapshot!(told, @r#"
    ready {"agentSession":"s7","memory":"loaded","program":"hostile 1.0"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
    // When the first one notes its end, beside the second one's beginning, is left to the system.
    let notes = place.notes();
    let files: Vec<_> = notes.lines().filter(|note| note.starts_with("files")).collect();
    assert_snapshot!(files.join("\n"), @r#"
    files {"readTextFile":true,"writeTextFile":true}
    files {"readTextFile":false,"writeTextFile":false}
    "#);
}

#[tokio::test]
async fn a_model_is_chosen_in_the_former_way_where_it_is_offered_so() {
    let place = Place::new(&["models"]);
    let options = [("model".to_owned(), "pro".to_owned())].into();
    let mut talk = place.start_with(AgentStart { options, ..place.asking("models") });
    assert_snapshot!(talk.begun().await, @r#"
    options [{"id":"model","name":"Model","category":"model","value":"auto","choices":[{"value":"auto","name":"Auto"},{"value":"pro","name":"Pro"}]}]
    options [{"id":"model","name":"Model","category":"model","value":"pro","choices":[{"value":"auto","name":"Auto"},{"value":"pro","name":"Pro"}]}]
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
    assert_eq!(place.notes(), "set_model pro\n");
}
