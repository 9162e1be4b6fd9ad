//! Tests agents that would act without asking, and what is done about it.

use agents::{AgentRequest, AgentStart};
use insta::assert_snapshot;

use crate::support::{Place, Talk};

/// Everything except the list of options.
async fn begun(talk: &mut Talk) -> String {
    without_options(&talk.begun().await)
}

fn without_options(told: &str) -> String {
    told.lines().filter(|line| !line.starts_with("options ")).map(|line| format!("{line}\n")).collect()
}

#[tokio::test]
async fn an_agent_that_begins_in_a_mode_that_asks_nobody_is_set_to_ask() {
    let wishes =
        ["mode=yolo mode:note known", "mode=fast mode:note known", "mode=yolo mode:note", "mode=fast mode:note"];
    let place = Place::new(&wishes);
    let mut told = String::new();
    for wish in wishes {
        told += &format!("{wish}:\n{}", begun(&mut place.start(wish)).await);
    }
    assert_snapshot!(told, @r#"
    mode=yolo mode:note known:
    noticed {"severity":"info","title":"The agent is set to ask you before it acts","description":"Its mode was “YOLO”, in which it does not, so it is set to “Ask”. Choose another if you want it otherwise."}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    mode=fast mode:note known:
    noticed {"severity":"info","title":"The agent is set to ask you before it acts","description":"Its mode was “Fast”, in which it does not, so it is set to “Ask”. Choose another if you want it otherwise."}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    mode=yolo mode:note:
    noticed {"severity":"info","title":"The agent is set to ask you before it acts","description":"Its mode was “YOLO”, in which it does not, so it is set to “Ask”. Choose another if you want it otherwise."}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    mode=fast mode:note:
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
    // Nothing is known of the last one, and its mode has no name that is known not to ask.
    assert_eq!(place.notes().matches("set_mode ask").count(), 3);
}

#[tokio::test]
async fn what_the_person_chose_stays() {
    let wish = "mode=ask mode:note known";
    let place = Place::new(&[wish]);
    let options = [("mode".to_owned(), "yolo".to_owned())].into();
    let mut talk = place.start_with(AgentStart { options, ..place.asking(wish) });
    assert_snapshot!(begun(&mut talk).await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
    assert_eq!(place.notes(), "set_mode yolo\n");

    // Also in a resumed conversation, which the agent begins in a mode of its own.
    let again = "mode=ask mode:note known resume";
    let place = Place::new(&[wish, again]);
    let options = [("mode".to_owned(), "yolo".to_owned())].into();
    let start = AgentStart { options, earlier: Some("s7".to_owned()), ..place.asking(again) };
    assert_snapshot!(begun(&mut place.start_with(start)).await, @r#"ready {"agentSession":"s7","memory":"resumed","program":"hostile 1.0"}"#);
    assert_eq!(place.notes(), "set_mode yolo\n");

    let mut talk = place.start(wish);
    talk.begun().await;
    talk.call(AgentRequest::SetOption { option: "mode".to_owned(), value: "fast".to_owned() }).await;
    assert_snapshot!(without_options(&talk.turn("mode fast").await), @r#"stopped {"outcome":"completed"}"#);
}

#[tokio::test]
async fn an_agent_that_can_not_be_set_to_ask_is_told_of() {
    let wishes = ["mode=yolo mode:refuse known", "mode=yolo mode:one known"];
    let place = Place::new(&wishes);
    let mut told = String::new();
    for wish in wishes {
        told += &begun(&mut place.start(wish)).await;
    }
    assert_snapshot!(told, @r#"
    noticed {"severity":"error","title":"The agent may act without asking you","description":"Its mode is “YOLO”, and it could not be set: I like it here"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    noticed {"severity":"error","title":"The agent may act without asking you","description":"Its mode is “YOLO”, and it could not be set: it offers none in which it is known to ask"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
}

#[tokio::test]
async fn an_agent_that_hides_its_mode_is_set_to_the_one_it_tells() {
    let wishes = ["mode=ask mode:note known hidden", "mode=ask mode:refuse known hidden"];
    let place = Place::new(&wishes);
    assert_snapshot!(begun(&mut place.start(wishes[0])).await, @r#"ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}"#);
    assert_eq!(place.notes(), "set_mode ask\n");
    assert_snapshot!(begun(&mut place.start(wishes[1])).await, @r#"
    noticed {"severity":"error","title":"The agent may act without asking you","description":"Its mode is said to be “Ask”, and it could not be set: I like it here"}
    ready {"agentSession":"s1","memory":"new","program":"hostile 1.0"}
    "#);
}

#[tokio::test]
async fn an_agent_that_moves_itself_into_such_a_mode_is_believed_and_told_of() {
    let wish = "mode=ask known";
    let place = Place::new(&[wish]);
    let mut talk = place.start(wish);
    talk.begun().await;
    assert_snapshot!(talk.turn("mode yolo").await, @r#"
    options [{"id":"mode","name":"Mode","category":"mode","value":"yolo","choices":[{"value":"yolo","name":"YOLO"},{"value":"fast","name":"Fast"},{"value":"ask","name":"Ask"}]}]
    noticed {"severity":"warning","title":"The agent may act without asking you from now on","description":"Its mode is “YOLO” now."}
    stopped {"outcome":"completed"}
    "#);
    assert_snapshot!(talk.turn("mode ask").await, @r#"
    options [{"id":"mode","name":"Mode","category":"mode","value":"ask","choices":[{"value":"yolo","name":"YOLO"},{"value":"fast","name":"Fast"},{"value":"ask","name":"Ask"}]}]
    stopped {"outcome":"completed"}
    "#);
}
