//! Outputs are removed once each, whatever runs, and without waking the session.

use super::{History, parse};
use crate::{Answerer, Command, OutputId, OutputRemoval, Rejection, SessionEvent};

fn remove(ids: &[u8]) -> Command {
    let ids = ids.iter().map(|n| OutputId::from_bytes([*n; 16])).collect();
    let by = Some(Answerer::Policy { rule: "outputs.keep_days".to_owned() });
    Command::RemoveOutputs { ids, reason: OutputRemoval::Pruned, by }
}

#[test]
fn outputs_are_removed_once_each_and_the_session_stays_as_it_is() {
    let mut history = History::default();
    history.run(parse("create")).unwrap();
    history.run(parse("archive true")).unwrap();
    let before = history.session.clone().unwrap().row;
    let events = history.run(remove(&[2, 1, 2])).unwrap();
    let ids: Vec<_> = events
        .iter()
        .map(|event| match event {
            SessionEvent::OutputRemoved { id, reason: OutputRemoval::Pruned, by: Some(_) } => *id,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids, [1, 2].map(|n| OutputId::from_bytes([n; 16])));
    assert_eq!(history.session.clone().unwrap().row, before, "it neither wakes nor counts as active");
    assert!(history.run(remove(&[])).unwrap().is_empty());
    history.run(parse("delete")).unwrap();
    assert_eq!(history.run(remove(&[1])).unwrap_err(), Rejection::SessionDeleted);
}
