//! Tests what a trial of an agent says, and that it leaves nothing running.

use agents::{AgentLimits, Trial, TrialOutcome};

use crate::support::{Place, millis};

/// One line for each trial.
async fn tried(place: &Place, agent: &str) -> String {
    let Trial { program, outcome } = place.agents.try_out(agent).await;
    let program = program.unwrap_or_else(|| "-".to_owned());
    match outcome {
        TrialOutcome::Ready => format!("{program}: ready"),
        TrialOutcome::SignedOut(methods) => {
            let ids: Vec<_> = methods.iter().map(|method| method.id.as_str()).collect();
            format!("{program}: sign in by {}", ids.join(", "))
        }
        TrialOutcome::Failed(why) => format!("{program}: {why}"),
    }
}

#[tokio::test]
async fn a_trial_ends_its_process_before_it_answers_also_that_of_a_shared_agent() {
    for agent in ["good", "shared good", "resume"] {
        let place = Place::new(&[agent]);
        assert_eq!(tried(&place, agent).await, "hostile 1.0: ready");
        let notes = place.notes();
        assert!(notes.ends_with("ended\n"), "{agent}: {notes}");
        assert_eq!(notes.contains("session/delete s1"), agent == "resume", "its own record is deleted where it can be");
        place.agents.shutdown().await;
    }
}

#[tokio::test]
async fn a_trial_leaves_a_session_of_the_same_agent_alone() {
    let place = Place::new(&["shared good"]);
    let mut talk = place.start("shared good");
    talk.begun().await;
    assert_eq!(tried(&place, "shared good").await, "hostile 1.0: ready");
    assert!(talk.turn("hello").await.contains("hello"));
    place.agents.shutdown().await;
}

#[tokio::test]
async fn a_trial_says_why_an_agent_can_not_be_used_in_bounded_time() {
    let wishes = ["initialize:crash", "new:crash", "new:refuse", "new:signed-out"];
    let place = Place::new(&wishes);
    let mut told = Vec::new();
    for wish in wishes.iter().chain(&["nobody"]) {
        told.push(tried(&place, wish).await);
    }
    insta::assert_snapshot!(told.join("\n"), @r#"
    -: the agent ended (exit code 3): about to break / broke at initialize [31mred
    hostile 1.0: the agent ended (exit code 3): about to break / broke at new [31mred
    hostile 1.0: the agent refused the session: no room
    hostile 1.0: sign in by key, luck
    -: there is no agent called "nobody"; known are initialize:crash, new:crash, new:refuse, new:signed-out, guide
    "#);
    place.agents.shutdown().await;
    let limits = AgentLimits { initialize: millis(300), attach: millis(300), ..AgentLimits::default() };
    let place = Place::with(&["initialize:hang", "new:hang stubborn"], limits);
    assert_eq!(tried(&place, "initialize:hang").await, "-: the agent did not say what it is within 0.3 seconds");
    assert_eq!(
        tried(&place, "new:hang stubborn").await,
        "hostile 1.0: the agent did not begin a session within 0.3 seconds"
    );
    place.agents.shutdown().await;
}
