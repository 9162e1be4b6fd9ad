//! Cases of the tables, but for those of who may do what: the rows are what the log's entries fold to.

#![expect(missing_docs, reason = "the name of a case is its statement")]

use model::{
    AgentReport, Answerer, Author, Command, ContextWish, DeletedKey, Extent, Fact, FactShape, FilingWish, ListKey,
    MAX_TITLES, Marker, Memory, Outcome, PermissionAnswer, Request, Seq, SessionEvent, SessionId, SessionRow,
    SessionState, SetMode, Shelf, Stop, SummaryMaker, TagWish, TitleMaker, Turn, TurnSummary, Untold, fold,
};

use crate::conformance::{
    AnyStore, act, at, attached, create, interaction_id, pictures, prompt, prompt_by, question, session_id, stream,
    token_id,
};
use crate::{EntryOrder, Head};

const MANY: usize = 10_000;

fn ready() -> Command {
    Command::Agent(AgentReport::Ready { attached: None })
}

fn stopped(outcome: Outcome) -> Command {
    Command::Agent(AgentReport::Stopped(Stop { outcome, reason: Some("so".to_owned()) }))
}

fn asks(title: &str) -> Command {
    Command::Agent(AgentReport::Asked(question(title)))
}

fn answer(request: u32, option: &str) -> Command {
    let by = Answerer::Policy { rule: "a rule".to_owned() };
    let answer = PermissionAnswer { option: Some(option.to_owned()), kind: None, fields: None, by, remembered: None };
    Command::Answer { request: Request(request), answer }
}

fn phone() -> Author {
    Author::Person { token_id: Some(token_id(1)), name: "phone \"\0\"".to_owned() }
}

fn agent() -> Author {
    Author::Agent { session: "a-1".to_owned() }
}

pub async fn a_session_is_what_its_entries_fold_to(store: AnyStore) {
    assert_eq!(store.session(session_id(1)).await.expect("session"), None);
    let long = "long ".repeat(20_000);
    let life = [
        create("a"),
        prompt(1, "first\nof all"),
        prompt_by(2, "second", pictures(2), phone()),
        prompt_by(3, &long, Vec::new(), phone()),
        attached("their id", Memory::New),
        Command::Agent(AgentReport::Text { block: 0, text: "words".to_owned() }),
        Command::Agent(AgentReport::Title("what the agent calls it".to_owned())),
        Command::ChangePrompt { interaction_id: interaction_id(2), text: "second, better".to_owned(), by: agent() },
        asks("may I?"),
        asks("\u{1f9f5} \0 \"and\"?"),
        answer(1, "yes"),
        mark("files", &["/a", "/b"]),
        mark("notes", &["n"]),
        mark("notes", &[]),
        Command::Prove { tool: 1, facts: vec![fact("filesEdited", "/a"), fact("filesEdited", "/b")] },
        Command::Prove { tool: 2, facts: vec![fact("filesEdited", "/a")] },
        Command::SetIntent { intent: "look".to_owned() },
        Command::Change {
            name: Some("b".to_owned()),
            env_hint: Some("dev".to_owned()),
            context: None,
            filing: model::FilingWish::default(),
        },
        stopped(Outcome::Completed),
        Command::RemovePrompt { interaction_id: interaction_id(3) },
        Command::Interrupt { reason: "server_restart".to_owned() },
        Command::Observe,
        prompt(4, "again"),
        attached("another id", Memory::New),
        Command::SendPacket { text: "what was".to_owned() },
        Command::Agent(AgentReport::Failed { reason: "broke".to_owned() }),
        Command::MoveTo { cwd: "/elsewhere".to_owned() },
        Command::Resume { agent: Some("other".to_owned()) },
        Command::Delete,
        Command::Restore,
    ];
    let (mut asked, mut untold, mut shown, mut authors) = (0, Untold::Nothing, 0, Vec::new());
    for (when, command) in life.into_iter().enumerate() {
        act(&store, 1, command, i64::try_from(when).expect("few")).await;
        let mut folded = None;
        for entry in store.read(stream(1), Seq::START, MANY).await.expect("read") {
            folded = fold(stream(1), folded, &entry).0;
        }
        let session = store.session(session_id(1)).await.expect("session");
        assert_eq!(session, folded, "after step {when}");
        let session = session.expect("it was created first");
        assert_eq!(Head::At(session.head), store.head(stream(1)).await.expect("head"), "after step {when}");
        asked = asked.max(session.row.open_requests.len());
        untold = untold.max(session.row.untold);
        shown = shown.max(session.queue.iter().map(|prompt| prompt.images.len()).sum());
        authors.extend(session.queue.iter().map(|prompt| prompt.by.clone()));
    }
    assert_eq!((asked, untold, shown), (2, Untold::Everything, 2), "the life has all that there is to keep");
    assert!([phone(), agent()].iter().all(|by| authors.contains(by)), "who wrote what waits is kept");
    let session = store.session(session_id(1)).await.expect("session").expect("it exists");
    let edited = session.context.facts.find("filesEdited").expect("proved");
    assert_eq!((session.context.sets.items("files").len(), edited.count, edited.newest[0].evidence.tool), (2, 2, 2));
    let row = session.row;
    assert_eq!(row.intent, "look");
    assert_eq!((row.requests, row.title.as_str()), (Request(2), "what the agent calls it"));
    assert_eq!((row.agent.as_str(), row.agent_session, row.cwd.as_str()), ("other", None, "/elsewhere"));
}

/// Whoever asks whose file a path is need not read every session.
pub async fn sessions_that_may_name_a_file_are_found(store: AnyStore) {
    for n in 1..=4 {
        act(&store, n, create("a"), 0).await;
    }
    act(&store, 1, mark("files", &["/a/odd \"name\".md"]), 1).await;
    act(&store, 2, mark("files", &["/a/other.md"]), 1).await;
    act(&store, 3, mark("notes", &["/a/odd \"name\".md"]), 1).await;
    act(&store, 4, mark("files", &["odd \"name\".md"]), 1).await;
    let found = async |after, limit| {
        store.may_name_file("/a/odd \"name\".md", after, limit).await.expect("sessions that may name it")
    };
    assert_eq!(found(None, MANY).await, [1, 4].map(session_id));
    assert_eq!(found(None, 1).await, [session_id(1)]);
    assert_eq!(found(Some(session_id(1)), MANY).await, [session_id(4)]);
    act(&store, 1, Command::Delete, 2).await;
    assert_eq!(found(None, MANY).await, [session_id(4)]);
    assert_eq!(store.may_name_file("/nowhere.md", None, MANY).await.expect("none"), []);

    let cwd = store.session(session_id(4)).await.expect("session").expect("it is there").row.cwd;
    let above = async |path: &str| store.directories_above(path).await.expect("directories");
    assert!(above(&format!("{cwd}/x")).await.contains(&cwd));
    assert_eq!(above("elsewhere").await, Vec::<String>::new());
    for n in 2..=4 {
        act(&store, n, Command::Delete, 3).await;
    }
    assert_eq!(above(&format!("{cwd}/x")).await, Vec::<String>::new());
}

pub async fn the_entries_of_a_context_are_found(store: AnyStore) {
    act(&store, 1, create("a"), 0).await;
    act(&store, 2, create("b"), 0).await;
    let mut heads = Vec::new();
    for (when, item) in ["/a", "/b", "/c"].into_iter().enumerate() {
        act(&store, 1, mark("files", &[item]), i64::try_from(when).expect("few")).await;
        act(
            &store,
            1,
            Command::Change {
                name: Some(item.to_owned()),
                env_hint: None,
                context: None,
                filing: model::FilingWish::default(),
            },
            9,
        )
        .await;
        let session = store.session(session_id(1)).await.expect("session").expect("it was created");
        heads.push(Seq(session.head.0 - 1));
    }
    let ordered = async |after, up_to, order, limit| {
        let found = store.context_entries(session_id(1), after, up_to, order, limit).await.expect("context entries");
        assert!(found.iter().all(|entry| matches!(entry.event, SessionEvent::ContextSet { .. })), "{found:?}");
        found.iter().map(|entry| entry.seq).collect::<Vec<_>>()
    };
    let found = async |after, up_to, limit| ordered(after, up_to, EntryOrder::OldestFirst, limit).await;
    let newest = async |after, up_to, limit| ordered(after, up_to, EntryOrder::NewestFirst, limit).await;
    assert_eq!(newest(Seq::START, Seq(u64::MAX), MANY).await, [heads[2], heads[1], heads[0]]);
    assert_eq!(newest(Seq::START, Seq(u64::MAX), 2).await, [heads[2], heads[1]]);
    assert_eq!(newest(heads[0], heads[1], MANY).await, heads[1..2]);
    assert_eq!(found(Seq::START, Seq(u64::MAX), MANY).await, heads);
    assert_eq!(found(heads[0], heads[1], MANY).await, heads[1..2]);
    assert_eq!(found(Seq::START, Seq(u64::MAX), 2).await, heads[..2]);
    assert_eq!(found(heads[2], heads[0], MANY).await, []);
    let of_other = store.context_entries(session_id(2), Seq::START, Seq(9), EntryOrder::NewestFirst, MANY).await;
    assert_eq!(of_other.expect("none"), []);
    let head = store.session(session_id(1)).await.expect("session").expect("it is there").head;
    store.purge(session_id(1), head, at(10)).await.expect("purge");
    assert_eq!(found(Seq::START, Seq(u64::MAX), MANY).await, []);
}

pub async fn a_prompt_leads_to_its_turn(store: AnyStore) {
    act(&store, 1, create("a"), 0).await;
    act(&store, 1, Command::Agent(AgentReport::Ready { attached: None }), 0).await;
    act(&store, 1, prompt(1, "first"), 1).await;
    act(&store, 1, prompt(2, "waits"), 2).await;
    let found = store.find_turn(interaction_id(1)).await.expect("find").expect("it was sent");
    assert_eq!((found.session, found.turn, found.summary), (session_id(1), Turn(1), None));
    assert_eq!(store.find_turn(interaction_id(2)).await.expect("find"), None);
    let head = store.session(session_id(1)).await.expect("session").expect("it is there").head;
    store.purge(session_id(1), head, at(10)).await.expect("purge");
    assert_eq!(store.find_turn(interaction_id(1)).await.expect("find"), None);
}

pub async fn the_newest_titles_are_kept(store: AnyStore) {
    act(&store, 1, create("a"), 0).await;
    act(&store, 2, create("b"), 0).await;
    for n in 1..=MAX_TITLES + 3 {
        let (title, by, turn) = (format!("title {n}"), TitleMaker::Terms, Some(Turn(n)));
        act(&store, 1, Command::SetTitle { title, by, turn, interaction_id: None }, i64::from(n)).await;
    }
    let titles = store.titles(session_id(1)).await.expect("titles");
    let numbers: Vec<u32> = titles.iter().map(|row| row.nth).collect();
    assert_eq!(numbers, (4..=MAX_TITLES + 3).rev().collect::<Vec<_>>());
    assert_eq!((titles[0].title.as_str(), titles[0].turn), ("title 23", Some(Turn(23))));
    assert_eq!(store.titles(session_id(2)).await.expect("titles"), []);
    let head = store.session(session_id(1)).await.expect("session").expect("it is there").head;
    store.purge(session_id(1), head, at(100)).await.expect("purge");
    assert_eq!(store.titles(session_id(1)).await.expect("titles"), []);
}

pub async fn sessions_are_unsummarised_until_each_turn_has_its_line(store: AnyStore) {
    let waiting = async |after: Option<SessionId>| store.unsummarised(after, MANY).await.expect("unsummarised");
    let line = |turn| {
        let extent = Some(Extent { prompt: 5, response: 0, tools: 0 });
        let (turn, summary, by) = (Turn(turn), format!("turn {turn}"), SummaryMaker::Extract);
        TurnSummary { turn, summary, by, extent }
    };
    for n in [1, 2] {
        act(&store, n, create("a"), 0).await;
        act(&store, n, Command::Agent(AgentReport::Ready { attached: None }), 0).await;
        for turn in [1, 2] {
            act(&store, n, prompt(u64::from(n) * 10 + turn, "go"), 1).await;
            let stop = Stop { outcome: Outcome::Completed, reason: None };
            act(&store, n, Command::Agent(AgentReport::Stopped(stop)), 2).await;
        }
    }
    assert_eq!(waiting(None).await, [session_id(1), session_id(2)]);
    assert_eq!(waiting(Some(session_id(1))).await, [session_id(2)]);
    act(&store, 1, Command::Summarise(vec![line(2)]), 3).await;
    assert_eq!(waiting(None).await, [session_id(1), session_id(2)], "the first turn has no line yet");
    act(&store, 1, Command::Summarise(vec![line(1), line(2)]), 4).await;
    assert_eq!(waiting(None).await, [session_id(2)]);
    let model = TurnSummary { by: SummaryMaker::Model, extent: None, ..line(2) };
    act(&store, 1, Command::Summarise(vec![model]), 5).await;
    let turns = store.turns(session_id(1), Turn(1), 1).await.expect("turns");
    let summary = turns[0].summary.clone().expect("it has one");
    assert_eq!((summary.text.as_str(), summary.by, summary.made_at), ("turn 2", SummaryMaker::Model, at(5)));
    assert_eq!(turns[0].extent, Some(Extent { prompt: 5, response: 0, tools: 0 }), "what is known stays known");
}

fn mark(set: &str, items: &[&str]) -> Command {
    let items = items.iter().map(|item| (*item).to_owned()).collect();
    let wish = ContextWish::One { set: set.to_owned(), items, mode: SetMode::Replace };
    Command::SetContext { wish, by: Marker::Agent }
}

fn fact(name: &str, value: &str) -> Fact {
    let (name, value, rule) = (name.to_owned(), value.to_owned(), "r".to_owned());
    Fact { name, shape: FactShape::List, value, rule, exit_code: None, file: None }
}

pub async fn sessions_are_found_by_their_ids(store: AnyStore) {
    for n in [1, 2, 3, 4] {
        act(&store, n, create("a"), i64::from(n)).await;
    }
    act(&store, 2, Command::Delete, 50).await;
    let found = async |ids: &[u8]| {
        let rows = store.sessions_by_id(ids.iter().copied().map(session_id).collect()).await.expect("sessions");
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    assert_eq!(found(&[4, 9, 2, 1]).await, [4, 1].map(session_id), "neither unknown nor deleted ones");
    assert_eq!(found(&[]).await, []);
    let whole = store.session(session_id(3)).await.expect("session").expect("it is there").row;
    assert_eq!(store.sessions_by_id(vec![session_id(3)]).await.expect("sessions"), [whole]);
}

pub async fn the_list_is_by_activity_and_comes_in_pages(store: AnyStore) {
    // Two of one instant, so that the id decides; one deleted; one that moves to the front.
    for (n, when) in [(1, 10), (2, 20), (3, 20), (4, 30), (5, 40), (6, -5)] {
        act(&store, n, create("a"), when).await;
    }
    act(&store, 4, Command::Delete, 50).await;
    act(&store, 1, ready(), 60).await;
    act(&store, 1, prompt(1, "go"), 70).await;
    let expected = [1, 5, 3, 2, 6].map(session_id);
    for limit in [1, 2, 3, MANY] {
        let mut seen = Vec::new();
        let mut after = None;
        loop {
            let page = store.sessions(model::Shelf::All, after, limit).await.expect("sessions");
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = Some(ListKey::of(last));
            seen.extend(page.into_iter().map(|row| row.id));
        }
        assert_eq!(seen, expected, "by {limit}");
    }
    assert_eq!(store.sessions(model::Shelf::All, None, 0).await.expect("sessions"), []);
    // A key need not be that of a row that still stands there.
    let between = ListKey { active_at: at(25), id: session_id(9) };
    let page = store.sessions(model::Shelf::All, Some(between), MANY).await.expect("sessions");
    assert_eq!(page.iter().map(|row| row.id).collect::<Vec<_>>(), expected[2..]);
}

/// Pinned and archived sessions, those that wait for the person, and tags.
pub async fn a_session_is_kept_as_the_person_files_it(store: AnyStore) {
    let ids = async |shelf| {
        let rows = store.sessions(shelf, None, MANY).await.expect("sessions");
        rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
    };
    let foremost =
        async || store.foremost(MANY).await.expect("foremost").into_iter().map(|row| row.id).collect::<Vec<_>>();
    for n in 1..=5 {
        act(&store, n, create("a"), i64::from(n)).await;
        act(&store, n, attached("their id", Memory::New), 6).await;
    }
    act(&store, 1, filed(FilingWish { pinned: Some(true), ..FilingWish::default() }), 10).await;
    for n in [2, 4] {
        act(&store, n, filed(FilingWish { archived: Some(true), ..FilingWish::default() }), 11).await;
    }
    let tags = |tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        filed(FilingWish { tags: Some(TagWish::All(tags)), ..FilingWish::default() })
    };
    act(&store, 2, tags(&["bug", "Api"]), 12).await;
    act(&store, 5, tags(&["bug"]), 12).await;
    assert_eq!(ids(Shelf::Listed).await, [5, 3, 1].map(session_id));
    assert_eq!(ids(Shelf::Archived).await, [4, 2].map(session_id));
    assert_eq!(ids(Shelf::All).await, [5, 4, 3, 2, 1].map(session_id));
    let page = store.sessions(Shelf::All, None, 2).await.expect("sessions");
    let rest = store.sessions(Shelf::All, page.last().map(ListKey::of), MANY).await.expect("sessions");
    assert_eq!(rest.iter().map(|row| row.id).collect::<Vec<_>>(), [3, 2, 1].map(session_id));
    let row = store.session(session_id(2)).await.expect("session").expect("it exists").row;
    assert_eq!((row.archived_at, row.pinned_at, row.tags.join(" ").as_str()), (Some(at(11)), None, "api bug"));
    assert_eq!(foremost().await, [session_id(1)]);
    let both = vec!["api".to_owned(), "bug".to_owned()];
    let tagged = store.tagged().await.expect("tagged");
    assert_eq!(tagged, [(session_id(2), both.clone()), (session_id(5), vec!["bug".to_owned()])]);

    // What asks brings it back into the list, before the others.
    act(&store, 4, asks("may I?"), 20).await;
    assert_eq!(ids(Shelf::Archived).await, [session_id(2)]);
    assert_eq!(foremost().await, [4, 1].map(session_id));
    // So does a turn, and what is deleted is in none.
    act(&store, 2, prompt(2, "go on"), 21).await;
    assert_eq!(ids(Shelf::Listed).await, [2, 5, 4, 3, 1].map(session_id));
    act(&store, 1, Command::Delete, 22).await;
    act(&store, 5, Command::Delete, 22).await;
    assert_eq!(foremost().await, [session_id(4)]);
    assert_eq!(store.tagged().await.expect("tagged"), [(session_id(2), both)]);
}

fn filed(filing: FilingWish) -> Command {
    Command::Change { name: None, env_hint: None, context: None, filing }
}

pub async fn unsettled_sessions_are_starting_or_running(store: AnyStore) {
    for n in 1..=5 {
        act(&store, n, create("a"), 1).await;
    }
    for n in 2..=4 {
        act(&store, n, ready(), 2).await;
    }
    act(&store, 3, prompt(1, "go"), 3).await;
    act(&store, 4, prompt(2, "go"), 3).await;
    act(&store, 4, stopped(Outcome::Completed), 4).await;
    // A deleted session has nothing to settle: what its agent still says is not kept either.
    act(&store, 5, Command::Delete, 5).await;
    assert_eq!(store.unsettled().await.expect("unsettled"), [1, 3].map(session_id));
    act(&store, 3, Command::Interrupt { reason: "server_restart".to_owned() }, 6).await;
    act(&store, 1, Command::Interrupt { reason: "server_restart".to_owned() }, 6).await;
    assert_eq!(store.unsettled().await.expect("unsettled"), []);
}

/// Its turn runs, so a restart has to settle it, and what it asked with it: nobody would hear the answer.
pub async fn a_session_that_waits_for_an_answer_is_unsettled(store: AnyStore) {
    for n in 1..=2 {
        act(&store, n, create("a"), 1).await;
        act(&store, n, attached("their id", Memory::New), 2).await;
        act(&store, n, prompt(u64::from(n), "go"), 3).await;
        act(&store, n, asks("may I?"), 4).await;
    }
    act(&store, 2, answer(1, "no"), 5).await;
    act(&store, 2, stopped(Outcome::Completed), 6).await;
    assert_eq!(store.unsettled().await.expect("unsettled"), [session_id(1)]);
    let waits = store.session(session_id(1)).await.expect("session").expect("it exists").row;
    assert_eq!((waits.state(), waits.open_requests.len()), (SessionState::NeedsYou, 1));
    assert_eq!(waits.open_requests[0].options, question("").options);
    assert!(
        store.sessions(model::Shelf::All, None, MANY).await.expect("sessions").contains(&waits),
        "the list says the same"
    );

    act(&store, 1, Command::Interrupt { reason: "server_restart".to_owned() }, 7).await;
    assert_eq!(store.unsettled().await.expect("unsettled"), []);
    let settled = store.session(session_id(1)).await.expect("session").expect("it exists").row;
    assert_eq!((settled.open_requests.len(), settled.requests), (0, Request(1)), "its number is not given again");
}

/// No turn says so, only what it asked.
pub async fn a_question_beside_the_turns_leaves_its_session_unsettled(store: AnyStore) {
    for n in 1..=4 {
        act(&store, n, create("a"), 1).await;
        act(&store, n, attached("their id", Memory::New), 2).await;
        act(&store, n, asks("may I?"), 3).await;
    }
    act(&store, 2, answer(1, "no"), 4).await;
    act(&store, 3, Command::Delete, 4).await;
    // What is asked of a turn does not outlast it; this does.
    act(&store, 4, prompt(4, "go"), 4).await;
    act(&store, 4, asks("and this?"), 5).await;
    act(&store, 4, stopped(Outcome::Completed), 6).await;
    assert_eq!(store.unsettled().await.expect("unsettled"), [1, 4].map(session_id));
    let waits = store.session(session_id(4)).await.expect("session").expect("it exists").row;
    assert_eq!((waits.state(), waits.running, waits.requests), (SessionState::NeedsYou, None, Request(2)));
    let open: Vec<_> = waits.open_requests.iter().map(|open| (open.request, open.aside)).collect();
    assert_eq!(open, [(Request(1), Some(Seq(4)))]);

    for n in [1, 4] {
        act(&store, n, Command::Interrupt { reason: "server_restart".to_owned() }, 7).await;
    }
    assert_eq!(store.unsettled().await.expect("unsettled"), []);
}

pub async fn unobserved_sessions_came_to_rest_unseen(store: AnyStore) {
    for n in 1..=3 {
        act(&store, n, create("a"), 1).await;
        act(&store, n, ready(), 2).await;
        act(&store, n, prompt(u64::from(n), "go"), 3).await;
        assert_eq!(store.unobserved_count().await.expect("count"), u64::from(n) - 1, "{n} still runs");
        act(&store, n, stopped(Outcome::Completed), 4).await;
    }
    assert_eq!(store.unobserved_count().await.expect("count"), 3);
    act(&store, 1, Command::Observe, 5).await;
    act(&store, 2, Command::Delete, 5).await;
    assert_eq!(store.unobserved_count().await.expect("count"), 1);
    act(&store, 1, prompt(9, "go on"), 6).await;
    act(&store, 1, stopped(Outcome::Failed), 7).await;
    act(&store, 2, Command::Restore, 7).await;
    assert_eq!(store.unobserved_count().await.expect("count"), 3);
}

pub async fn deleted_sessions_are_found_by_age(store: AnyStore) {
    for (n, when) in [(1, 30), (2, 10), (3, 20), (4, 20), (5, 5)] {
        act(&store, n, create("a"), 1).await;
        act(&store, n, Command::Delete, when).await;
    }
    act(&store, 5, Command::Restore, 40).await;
    assert_eq!(store.deleted_before(at(30), MANY).await.expect("deleted"), [2, 3, 4].map(session_id));
    assert_eq!(store.deleted_before(at(31), 2).await.expect("deleted"), [2, 3].map(session_id));
    assert_eq!(store.deleted_before(at(10), MANY).await.expect("deleted"), []);
    for limit in [1, 2, MANY] {
        let mut seen: Vec<SessionRow> = Vec::new();
        loop {
            let page = store.deleted(seen.last().and_then(DeletedKey::of), limit).await.expect("deleted");
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        let mut ids: Vec<_> = seen.iter().map(|row| row.id).collect();
        ids.reverse();
        assert_eq!(ids, store.deleted_before(at(1_000), MANY).await.expect("deleted"), "by {limit}");
        assert!(ids.len() > 2 && seen.iter().all(|row| row.deleted_at.is_some()));
    }
}

pub async fn sessions_are_found_by_their_agents_own_ids(store: AnyStore) {
    for n in 1..=4 {
        act(&store, n, create("a"), 1).await;
    }
    for (n, theirs) in [(1, "one"), (2, "it's \"two\""), (3, "one")] {
        act(&store, n, attached(theirs, Memory::New), 2).await;
    }
    act(&store, 2, Command::Delete, 3).await;
    let agent = store.session(session_id(1)).await.expect("session").expect("it exists").row.agent;
    let find = async |agent: &str, ids: &[&str]| {
        let ids = ids.iter().map(|id| (*id).to_owned()).collect();
        store.attached(agent, ids).await.expect("attached")
    };
    let found = |theirs: &str, n| (theirs.to_owned(), session_id(n));
    assert_eq!(find(&agent, &["one", "none"]).await, [found("one", 1), found("one", 3)]);
    assert_eq!(find(&agent, &["it's \"two\"", ""]).await, [found("it's \"two\"", 2)]);
    assert_eq!(find("another", &["one"]).await, []);
    assert_eq!(find(&agent, &[]).await, []);

    // An agent that begins anew has another id, and so has another agent; a session keeps all of them.
    act(&store, 1, attached("two", Memory::New), 4).await;
    act(&store, 1, Command::Resume { agent: Some("another".to_owned()) }, 5).await;
    act(&store, 1, attached("three", Memory::New), 6).await;
    act(&store, 1, attached("three", Memory::Resumed), 7).await;
    let all = ["one", "two", "three"];
    assert_eq!(find(&agent, &all).await, [found("one", 1), found("two", 1), found("one", 3)]);
    assert_eq!(find("another", &all).await, [found("three", 1)]);

    // A deleted session keeps them; a purged one is gone.
    act(&store, 3, Command::Delete, 8).await;
    assert_eq!(find(&agent, &["one"]).await, [found("one", 1), found("one", 3)]);
    let head = store.session(session_id(1)).await.expect("session").expect("it exists").head;
    store.purge(session_id(1), head, at(9)).await.expect("purge");
    assert_eq!(find(&agent, &all).await, [found("one", 3)]);
    assert_eq!(find("another", &all).await, []);
}

pub async fn turns_come_in_order(store: AnyStore) {
    for n in [1, 2] {
        act(&store, n, create("a"), 1).await;
        act(&store, n, ready(), 2).await;
    }
    for (n, outcome) in [(1, Outcome::Completed), (2, Outcome::Cancelled), (3, Outcome::Failed)] {
        act(&store, 1, prompt(n, &format!("\n prompt {n}\nmore")), 10).await;
        act(&store, 1, stopped(outcome), 20).await;
    }
    act(&store, 1, prompt(4, "runs"), 30).await;
    let turns = store.turns(session_id(1), Turn(0), MANY).await.expect("turns");
    let told: Vec<_> = turns
        .iter()
        .map(|row| (row.turn.0, row.prompt_line.as_str(), row.stop.as_ref().map(|stop| stop.outcome)))
        .collect();
    let expected = [
        (1, "prompt 1", Some(Outcome::Completed)),
        (2, "prompt 2", Some(Outcome::Cancelled)),
        (3, "prompt 3", Some(Outcome::Failed)),
        (4, "runs", None),
    ];
    assert_eq!(told, expected);
    let second = &turns[1];
    assert_eq!(second.stop.as_ref().and_then(|stop| stop.reason.as_deref()), Some("so"));
    assert_eq!((second.started_at, second.ended_at), (at(10), Some(at(20))));
    assert_eq!((second.first_seq, second.last_seq), (Seq(7), Some(Seq(9))));
    assert_eq!((turns[3].ended_at, turns[3].last_seq), (None, None));
    assert_eq!(store.turns(session_id(1), Turn(1), 2).await.expect("turns"), turns[1..3]);
    assert_eq!(store.turns(session_id(1), Turn(u32::MAX), MANY).await.expect("turns"), []);
    assert_eq!(store.turns(session_id(2), Turn(0), MANY).await.expect("turns"), []);
}
