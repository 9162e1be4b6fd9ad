//! Steps that are taken, and the pieces of work that they make.

use engine::{Asker, Click, Delete, Engine, ListChange, RequestKey, Restore, StepTaken, SubmitError};
use insta::assert_snapshot;
use model::{
    AgentOption, Answerer, Author, Choice, Command, FirstPrompt, NewSession, NextId, OfferState, OptionCategory,
    Origin, Rejection, Seq, SessionEvent, SessionId, StepOrigin, Timestamp, Turn, WorkId, decide,
};
use store::conformance::faulty::StoreCall;
use store::prelude::*;
use store::{Batch, Part};

use crate::support::{World, asker};

const OFFER: &str = "next Go on | say on and on | loom";

fn block(turn: u32, nth: u32) -> NextId {
    NextId { turn: Turn(turn), nth }
}

fn click(block: NextId) -> Click {
    let by = Answerer::Person { token_id: None, name: "test".to_owned() };
    Click { block, agent: None, model: None, mode: None, by }
}

async fn take(engine: &Engine, session: SessionId, block: NextId) -> (WorkId, SessionId) {
    match engine.click_next(session, click(block), asker()).await {
        Ok(StepTaken { work, session }) => (work, session),
        other => panic!("{other:?}"),
    }
}

impl World {
    /// A session whose newest turn said these words, one after the other.
    async fn offering(&self, words: &[&str]) -> SessionId {
        let session = self.session().await;
        for text in words {
            self.say(session, text).await;
        }
        session
    }

    async fn say(&self, session: SessionId, text: &str) {
        let prompt = self.prompt(session, text).await;
        self.finish(session, prompt).await;
    }

    /// Follows a session that a click began until its first turn has ended.
    async fn first_turn(&self, session: SessionId) {
        let mut follow = self.engine.follow(session, None).await.unwrap();
        while !matches!(crate::support::next_event(&mut follow).await, SessionEvent::TurnEnded { .. }) {}
    }

    async fn prompts_sent(&self, session: SessionId) -> Vec<String> {
        let entries = self.store.read_session(session, Seq::START, 1_000).await.unwrap();
        let sent = entries.into_iter().filter_map(|entry| match entry.event {
            SessionEvent::PromptSent { text, .. } => Some(text),
            _ => None,
        });
        sent.collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_click_begins_a_session_of_the_work_and_sends_the_command() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let (work, begun) = take(&world.engine, session, block(1, 1)).await;
    world.first_turn(begun).await;
    assert_eq!(world.prompts_sent(begun).await, ["say on and on"]);

    let row = world.engine.session(begun).await.unwrap().row;
    assert_eq!((row.agent.as_str(), &row.cwd, row.work), ("guide", &world.cwd, Some(work)));
    assert_eq!(row.from, Some(Origin::Step(StepOrigin { session, block: block(1, 1) })));
    let named = world.engine.work(work).await.unwrap();
    assert_eq!((named.row.name.as_str(), named.sessions), ("loom", vec![begun]));
    assert_eq!(world.engine.session_before(&row).await.unwrap(), Some(session));

    let offers = world.engine.next_blocks(session, None, 10).await.unwrap();
    assert_eq!(offers.iter().map(model::Offer::state).collect::<Vec<_>>(), [OfferState::Used]);
}

#[tokio::test(start_paused = true)]
async fn the_new_agent_is_told_of_the_phase_before() {
    let world = World::new().await;
    let session = world.offering(&["write notes.md the plan", OFFER]).await;
    let (_, begun) = take(&world.engine, session, block(2, 1)).await;
    world.first_turn(begun).await;
    let entries = world.store.read_session(begun, Seq::START, 1_000).await.unwrap();
    let told = entries.iter().find_map(|entry| match &entry.event {
        SessionEvent::ResumeSent { text, .. } => Some(text.clone()),
        _ => None,
    });
    let told = told.expect("it is told").replace(&world.cwd, "/project").replace(&session.to_string(), "SESSION");
    for line in [
        "Work: loom",
        "Directory: /project",
        "Started from: session SESSION (write notes.md the plan), by its offer t2.n1",
        "The turn that offered this step:",
        "t2 person: next Go on | say on and on | loom",
        "Its contents:",
        "[End of the record.]",
    ] {
        assert!(told.lines().any(|found| found == line), "{line:?} is not in:\n{told}");
    }
    assert!(told.contains("notes.md (t1"), "{told}");
}

/// A phase that begins with a slash command: the agent gets the command alone, and the record of the phase before with the
/// first prompt that is none, also when the server ended meanwhile.
#[tokio::test(start_paused = true)]
async fn a_command_of_the_new_agent_goes_alone_and_the_phase_before_is_told_later() {
    let mut world = World::new().await;
    let session = world.offering(&["write notes.md the plan", "next Go on | /say my-spec | loom"]).await;
    let (_, begun) = take(&world.engine, session, block(2, 1)).await;
    world.first_turn(begun).await;
    world.crash_and_restart().await;
    world.say(begun, "/say more").await;
    world.say(begun, "say and now in words").await;
    world.say(begun, "say again").await;
    let entries = world.store.read_session(begun, Seq::START, 1_000).await.unwrap();
    let told = entries.iter().filter_map(|entry| match &entry.event {
        SessionEvent::ResumeSent { turn, text } => Some((*turn, text.clone())),
        _ => None,
    });
    let told: Vec<(Turn, String)> = told.collect();
    let [(Turn(3), text)] = told.as_slice() else { panic!("{told:?}") };
    for part in
        ["[The next step of a piece of work", "notes.md (t1", "t1 person: /say my-spec", "t2 person: next Go on"]
    {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
    assert_eq!(world.prompts_sent(begun).await[..2], ["/say my-spec", "/say more"]);
    // It was told and did a turn: now its own turns are what there is to tell.
    let packet = world.engine.resume_packet(begun).await.unwrap().text;
    assert!(packet.starts_with("[Session resumed."), "{packet}");
}

/// One that comes back without a record of its own knows neither the phase before nor what the first one was at.
#[tokio::test(start_paused = true)]
async fn an_agent_that_was_lost_in_its_first_turn_is_told_of_the_phase_before_again() {
    let mut world = World::new().await;
    let session = world.offering(&["write notes.md the plan", "next Go on | slow 1000 | loom"]).await;
    let (_, begun) = take(&world.engine, session, block(2, 1)).await;
    let mut follow = world.engine.follow(begun, None).await.unwrap();
    while !matches!(crate::support::next_event(&mut follow).await, SessionEvent::TextPart { .. }) {}
    world.crash_and_restart().await;
    let packet = world.engine.resume_packet(begun).await.unwrap().text;
    let told = packet.replace(&world.cwd, "/project").replace(&session.to_string(), "SESSION");
    let at = |line: &str| {
        told.lines().position(|told| told == line).unwrap_or_else(|| panic!("{line:?} is not in:\n{told}"))
    };
    let (own, before) = (at("t1 person: slow 1000"), at("And this is what it goes on with:"));
    assert!(own < before && before < at("The turn that offered this step:"), "{told}");
    at("Started from: session SESSION (write notes.md the plan), by its offer t2.n1");
    assert!(told.contains("notes.md (t1"), "{told}");
    assert!(told.ends_with("[End of the record.]") && told.chars().count() <= 12_000);

    // Once a turn is done, its own turns are what there is to tell.
    let prompt = world.prompt(begun, "say done").await;
    world.finish(begun, prompt).await;
    let packet = world.engine.resume_packet(begun).await.unwrap().text;
    assert!(packet.starts_with("[Session resumed.") && packet.contains("t2 agent: done"), "{packet}");
}

#[tokio::test(start_paused = true)]
async fn many_clicks_at_once_are_one() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let mut clicks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let engine = world.engine.clone();
        clicks.spawn(async move { take(&engine, session, block(1, 1)).await });
    }
    let led = clicks.join_all().await;
    assert!(led.iter().all(|to| *to == led[0]), "{led:?}");
    let (work, begun) = led[0];
    world.first_turn(begun).await;
    assert_eq!(world.engine.work(work).await.unwrap().sessions, [begun]);
    assert_eq!(world.engine.works(None, 10).await.unwrap().len(), 1);
    assert_eq!(world.prompts_sent(begun).await.len(), 1);
    let sessions = world.engine.sessions(model::Shelf::All, None, 10).await.unwrap();
    assert_eq!(sessions.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_step_of_a_known_work_is_added_to_it_and_a_remark_between_does_not_end_the_offer() {
    let world = World::new().await;
    let session = world.offering(&[OFFER, "say a remark"]).await;
    let (work, first) = take(&world.engine, session, block(1, 1)).await;
    world.first_turn(first).await;
    world.say(first, OFFER).await;
    let (again, second) = take(&world.engine, first, block(2, 1)).await;
    assert_eq!((again, world.engine.work(work).await.unwrap().sessions), (work, vec![first, second]));
    let row = world.engine.session(second).await.unwrap().row;
    assert_eq!(world.engine.session_before(&row).await.unwrap(), Some(first));
}

#[tokio::test(start_paused = true)]
async fn a_later_offer_of_the_same_work_takes_the_place_of_an_earlier_one() {
    let world = World::new().await;
    let session = world.offering(&[OFFER, "next Other | say other | loop", OFFER]).await;
    let states: Vec<_> = world.engine.next_blocks(session, None, 10).await.unwrap();
    let states: Vec<_> = states.iter().map(|offer| (offer.row.id.to_string(), offer.state())).collect();
    let expected = [("t3.n1", OfferState::Open), ("t2.n1", OfferState::Open), ("t1.n1", OfferState::Superseded)];
    assert_eq!(states, expected.map(|(id, state)| (id.to_owned(), state)));
    let refused = world.engine.click_next(session, click(block(1, 1)), asker()).await;
    assert!(matches!(refused, Err(SubmitError::Rejected(Rejection::NextSuperseded { by: Turn(3) }))), "{refused:?}");
    take(&world.engine, session, block(2, 1)).await;
    take(&world.engine, session, block(3, 1)).await;
    assert_eq!(world.engine.works(None, 10).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_offer_by_an_old_name_is_of_the_same_work() {
    let world = World::new().await;
    let session = world.offering(&["next First | say one | loom"]).await;
    let (work, _) = take(&world.engine, session, block(1, 1)).await;
    world.engine.rename_work(work, "weave", asker()).await.unwrap();
    for words in ["next A | say a | loom", "next B | say b | weave", "next C | say c | loom"] {
        world.say(session, words).await;
    }
    for (turn, by) in [(2, 3), (3, 4)] {
        let refused = world.engine.click_next(session, click(block(turn, 1)), asker()).await;
        let Err(SubmitError::Rejected(Rejection::NextSuperseded { by: told })) = refused else { panic!("{refused:?}") };
        assert_eq!(told, Turn(by));
    }
    assert_eq!(take(&world.engine, session, block(4, 1)).await.0, work);
}

/// How much of the members of a work is read for a click in it, its first turn and a look at it.
async fn members_read(members: u8) -> usize {
    let world = World::new().await;
    let session = world.offering(&["next First | say one | loom"]).await;
    let (work, first) = take(&world.engine, session, block(1, 1)).await;
    world.first_turn(first).await;
    world.say(session, OFFER).await;
    for n in 1..=members {
        let place = world.cwd.clone();
        let new = NewSession {
            agent: "guide".to_owned(),
            cwd: place.clone(),
            project: place,
            work: Some(work),
            ..NewSession::default()
        };
        let (id, at) = (SessionId::from_bytes([n; 16]), Timestamp::from_millis(0));
        let created = decide(None, Command::Create(new)).unwrap();
        let part = Part::of_session(id, Seq::START, None, created, at).0;
        world.store.append(Batch { parts: vec![part], ..Batch::default() }).await.unwrap();
    }
    let read = || {
        [StoreCall::WorkSessions, StoreCall::NewestOfWork].map(|call| world.disk.met(call).given).iter().sum::<usize>()
    };
    let before = read();
    let (_, second) = take(&world.engine, session, block(2, 1)).await;
    world.first_turn(second).await;
    let row = world.engine.session(second).await.unwrap().row;
    assert_eq!(world.engine.session_before(&row).await.unwrap(), Some(first));
    assert_eq!(world.engine.works(None, 10).await.unwrap()[0].sessions.len(), usize::from(members) + 2);
    read() - before
}

#[tokio::test(start_paused = true)]
async fn a_step_costs_the_same_in_a_large_work() {
    assert_eq!(members_read(20).await, members_read(200).await);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_offered_can_not_be_taken() {
    let world = World::new().await;
    let session = world.offering(&["next Go on | say on | "]).await;
    let invented = world.engine.click_next(session, click(block(1, 2)), asker()).await;
    assert!(matches!(invented, Err(SubmitError::NoSuchBlock { .. })), "{invented:?}");
    let incomplete = world.engine.click_next(session, click(block(1, 1)), asker()).await;
    assert!(matches!(incomplete, Err(SubmitError::Rejected(Rejection::NextIncomplete))), "{incomplete:?}");
    let unknown = Click { agent: Some("nobody".to_owned()), ..click(block(1, 1)) };
    let unknown = world.engine.click_next(session, unknown, asker()).await;
    assert!(matches!(unknown, Err(SubmitError::UnknownAgent { .. })), "{unknown:?}");
    assert_eq!(world.engine.sessions(model::Shelf::All, None, 10).await.unwrap().len(), 1);
}

/// The click is durable, and the server ended before anything that follows it.
#[tokio::test(start_paused = true)]
async fn a_step_that_was_just_taken_goes_on_in_the_next_life_once() {
    let mut world = World::new().await;
    let begun = SessionId::from_bytes([9; 16]);
    let origin = StepOrigin { session: SessionId::from_bytes([8; 16]), block: block(1, 1) };
    let prompt = FirstPrompt {
        interaction_id: world.engine.new_interaction(),
        text: "say on and on".to_owned(),
        images: Vec::new(),
        by: Author::Step(origin),
    };
    let new = NewSession {
        agent: "guide".to_owned(),
        cwd: world.cwd.clone(),
        project: world.cwd.clone(),
        from: Some(Origin::Step(origin)),
        first: Some(prompt),
        ..NewSession::default()
    };
    let events = decide(None, Command::Create(new)).unwrap();
    let part = Part::of_session(begun, Seq::START, None, events, Timestamp::from_millis(0)).0;
    world.store.append(Batch { parts: vec![part], ..Batch::default() }).await.unwrap();
    world.stop_and_restart().await;
    assert_eq!(world.store.unbegun().await.unwrap(), [begun]);
    for _ in 0..3 {
        world.engine.start_unbegun().await.unwrap();
    }
    world.first_turn(begun).await;
    assert_eq!(world.prompts_sent(begun).await, ["say on and on"]);
    world.stop_and_restart().await;
    assert_eq!(world.engine.start_unbegun().await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_name_leads_to_one_work_of_its_project() {
    let world = World::new().await;
    let names = ["Loom", "loom", " Loom ", "Cafe\u{301}", "Café"];
    let mut works = Vec::new();
    for name in names {
        let session = world.offering(&[&format!("next Go | say on | {name}")]).await;
        works.push(take(&world.engine, session, block(1, 1)).await.0);
    }
    assert_eq!((works[0], works[3]), (works[2], works[4]));
    assert!(works[0] != works[1] && works[1] != works[3]);
}

#[tokio::test(start_paused = true)]
async fn a_work_is_renamed_and_taken_apart() {
    let world = World::new().await;
    let session = world.offering(&[OFFER, "next Other | say other | loop"]).await;
    let (loom, first) = take(&world.engine, session, block(1, 1)).await;
    let (other, _) = take(&world.engine, session, block(2, 1)).await;
    let taken = world.engine.rename_work(loom, "loop", asker()).await;
    assert!(matches!(taken, Err(SubmitError::Rejected(Rejection::WorkNameTaken))), "{taken:?}");
    let invalid = world.engine.rename_work(loom, " \u{200b} ", asker()).await;
    assert!(matches!(invalid, Err(SubmitError::Rejected(Rejection::WorkNameInvalid))), "{invalid:?}");
    world.engine.rename_work(loom, "the loom", asker()).await.unwrap();
    // An agent that knows the old name still means the same work.
    world.first_turn(first).await;
    world.say(first, OFFER).await;
    assert_eq!(take(&world.engine, first, block(2, 1)).await.0, loom);

    world.engine.delete_work(loom, asker()).await.unwrap();
    let works: Vec<WorkId> = world.engine.works(None, 10).await.unwrap().iter().map(|work| work.row.id).collect();
    assert_eq!(works, [other]);
    let row = world.engine.session(first).await.unwrap().row;
    assert_eq!(world.engine.work_of(&row).await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_repeated_rename_has_its_first_answer_whatever_became_of_the_work() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let (work, _) = take(&world.engine, session, block(1, 1)).await;
    let key = |key: &str| Asker { principal: "ada".to_owned(), key: Some(RequestKey::new(key, &[b"rename"])) };
    let first = world.engine.rename_work(work, "one", key("k")).await.unwrap();
    assert_eq!(first.row.name, "one");
    world.engine.rename_work(work, "two", asker()).await.unwrap();
    assert_eq!(world.engine.rename_work(work, "one", key("k")).await.unwrap(), first);
    assert_eq!(world.engine.work(work).await.unwrap().row.name, "two");
    world.engine.delete_work(work, asker()).await.unwrap();
    assert_eq!(world.engine.rename_work(work, "one", key("k")).await.unwrap(), first);
}

/// It is damaged, so it can not be deleted first: no entry tells of its end.
#[tokio::test(start_paused = true)]
async fn a_work_is_told_when_a_damaged_member_is_purged() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let (work, begun) = take(&world.engine, session, block(1, 1)).await;
    world.first_turn(begun).await;
    world.damage(begun);
    let mut changes = world.engine.list_changes();
    world.engine.purge(begun, asker()).await.unwrap();
    while !matches!(changes.recv().await.unwrap(), ListChange::RemovedWork { id } if id == work) {}
}

#[tokio::test(start_paused = true)]
async fn a_deleted_member_is_out_until_it_is_restored() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let (work, begun) = take(&world.engine, session, block(1, 1)).await;
    world.first_turn(begun).await;
    let mut changes = world.engine.list_changes();
    world.engine.submit(begun, Delete, asker()).await.unwrap();
    let removed =
        async { while !matches!(changes.recv().await.unwrap(), ListChange::RemovedWork { id } if id == work) {} };
    removed.await;
    assert_eq!(world.engine.works(None, 10).await.unwrap(), []);
    world.engine.submit(begun, Restore, asker()).await.unwrap();
    let back = async {
        while !matches!(changes.recv().await.unwrap(), ListChange::PutWork(told) if told.sessions == [begun]) {}
    };
    back.await;
}

#[tokio::test(start_paused = true)]
async fn the_contents_of_a_work_are_one_list() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let (work, first) = take(&world.engine, session, block(1, 1)).await;
    world.first_turn(first).await;
    world.say(first, OFFER).await;
    let (_, second) = take(&world.engine, first, block(2, 1)).await;
    world.first_turn(second).await;
    let whole = world.engine.work_contents(work, 0, 10).await.unwrap();
    let lines: Vec<_> = whole.lines.iter().map(|(number, row)| (*number, row.session, row.turn.0)).collect();
    assert_eq!(lines, [(1, first, 1), (2, first, 2), (3, second, 1)]);
    let page = world.engine.work_contents(work, 0, 2).await.unwrap();
    assert_eq!((page.lines.len(), page.more), (2, true));
    let rest = world.engine.work_contents(work, 2, 2).await.unwrap();
    assert_eq!((rest.lines.len(), rest.more, rest.lines[0].0), (1, false, 3));
}

#[tokio::test(start_paused = true)]
async fn the_new_session_is_set_as_the_old_one_however_long_ago_that_was() {
    let mut world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    world.stop_and_restart().await;
    let option = AgentOption {
        id: "the-model".to_owned(),
        name: "Model".to_owned(),
        description: None,
        category: OptionCategory::Model,
        value: "large".to_owned(),
        choices: Vec::new(),
    };
    let long_since = (0..600).map(|_| SessionEvent::SessionObserved {});
    let events = [SessionEvent::AgentOptionsChanged { options: vec![option] }].into_iter().chain(long_since).collect();
    let before = world.store.session(session).await.unwrap().unwrap();
    let part = Part::of_session(session, before.head, Some(before), events, Timestamp::from_millis(0)).0;
    world.store.append(Batch { parts: vec![part], ..Batch::default() }).await.unwrap();

    let (_, begun) = take(&world.engine, session, block(1, 1)).await;
    let options = world.engine.session(begun).await.unwrap().row.options;
    assert_eq!(options, [("the-model".to_owned(), "large".to_owned())].into());
}

#[tokio::test(start_paused = true)]
async fn a_model_or_mode_that_the_agent_does_not_list_is_refused_and_changes_nothing() {
    let mut world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    world.stop_and_restart().await;
    let option = |about: &str, category, choices: &[&str]| AgentOption {
        id: format!("the-{about}"),
        name: about.to_owned(),
        description: None,
        category,
        value: choices[0].to_owned(),
        choices: choices
            .iter()
            .map(|value| Choice { value: (*value).to_owned(), name: (*value).to_owned(), description: None })
            .collect(),
    };
    let options = vec![
        option("model", OptionCategory::Model, &["large", "small"]),
        option("mode", OptionCategory::Mode, &["ask", "plan"]),
    ];
    let before = world.store.session(session).await.unwrap().unwrap();
    let events = vec![SessionEvent::AgentOptionsChanged { options }];
    let part = Part::of_session(session, before.head, Some(before), events, Timestamp::from_millis(0)).0;
    world.store.append(Batch { parts: vec![part], ..Batch::default() }).await.unwrap();

    let mut told = String::new();
    for (model, mode) in [(Some("nosuch"), None), (None, Some("yolo")), (Some("ask"), None)] {
        let wish = Click { model: model.map(str::to_owned), mode: mode.map(str::to_owned), ..click(block(1, 1)) };
        told += &format!("{}\n", world.engine.click_next(session, wish, asker()).await.unwrap_err());
    }
    assert_snapshot!(told, @r#"
    the agent guide offers no model "nosuch"; it offers: large, small
    the agent guide offers no mode "yolo"; it offers: ask, plan
    the agent guide offers no model "ask"; it offers: large, small
    "#);
    let wish = Click { model: Some("small".to_owned()), ..click(block(1, 1)) };
    let begun = world.engine.click_next(session, wish, asker()).await.unwrap().session;
    let options = world.engine.session(begun).await.unwrap().row.options;
    assert_eq!(
        options,
        [("the-mode", "ask"), ("the-model", "small")].map(|(a, b)| (a.to_owned(), b.to_owned())).into()
    );
}

#[tokio::test(start_paused = true)]
async fn a_wish_for_a_model_is_bounded() {
    let world = World::new().await;
    let session = world.offering(&[OFFER]).await;
    let long = Click { model: Some("x".repeat(1_000)), ..click(block(1, 1)) };
    let refused = world.engine.click_next(session, long, asker()).await;
    assert!(matches!(refused, Err(SubmitError::Rejected(Rejection::NameInvalid))), "{refused:?}");
    take(&world.engine, session, block(1, 1)).await;
}
