//! Each table's description is the table: the same columns, and its key in front.

use std::convert::Infallible;

use model::{AgentReport, Command, Memory, Outcome, Stop, Turn};
use rusqlite::Connection;

use crate::conformance::{act, at, attached, batch, create, part_of_command, prompt, session_id};
use crate::prelude::*;
use crate::rows::columns::FACTS;
use crate::rows::{Cells as _, EachTable, FoldedRow, Table, each_table, folded_tables};
use crate::sqlite::checksums::{RECEIPTS, STREAMS, TURNS};
use crate::sqlite::tests::{folder, open_at};

struct Schema(Connection);

impl Schema {
    fn compare(&self, table: &Table, key: usize) {
        let sql = "SELECT name, pk FROM pragma_table_info(?1) WHERE name <> 'checksum' ORDER BY pk = 0, pk, name";
        let mut select = self.0.prepare(sql).unwrap();
        let found = select.query_map([table.name], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let found: Vec<(String, u32)> = found.collect::<Result<_, _>>().unwrap();
        // Values of facts are told apart by their numbers, so that long ones are in no key.
        let key = if table.name == FACTS.name { 0 } else { key };
        let mut described: Vec<&str> = table.columns().split(", ").collect();
        described[key..].sort_unstable();
        assert_eq!(found.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), described, "{}", table.name);
        assert_eq!(found.iter().filter(|(_, place)| *place > 0).count(), key, "{}", table.name);
    }
}

impl EachTable for Schema {
    type Error = Infallible;

    fn table<R: FoldedRow>(&mut self) -> Result<(), Infallible> {
        self.compare(R::table(), R::Key::COUNT);
        Ok(())
    }
}

#[tokio::test]
async fn each_table_is_described_as_it_is() {
    let (_folder, path) = folder();
    open_at(&path).close().await;
    let mut schema = Schema(Connection::open(&path).unwrap());
    let Ok(()) = each_table(&mut schema);
    schema.compare(&STREAMS, 1);
    schema.compare(&RECEIPTS, 2);
}

/// The checksums that are there were made in this order.
#[test]
fn columns_are_summed_in_the_order_in_which_they_always_were() {
    let sums =
        include_str!("../../../migrations/sqlite/V10__sums.sql").split_whitespace().collect::<Vec<_>>().join(" ");
    let sums = sums.replace("( ", "(").replace(" )", ")");
    for table in folded_tables().chain([&STREAMS, &RECEIPTS]).filter(|table| table.since <= 10) {
        let made = sums.split_once(&format!("UPDATE {} SET checksum = row_sum(", table.name));
        let first = made.and_then(|(_, rest)| rest.split_once(')')).unwrap().0;
        assert!(table.columns().starts_with(first), "{}: {first}", table.name);
    }
}

/// A new checksum would pass the damage off as whole.
#[tokio::test]
async fn a_damaged_row_that_is_to_be_changed_stays_damaged_until_it_is_made_anew() {
    let (_folder, path) = folder();
    let store = std::sync::Arc::new(open_at(&path));
    let any: crate::conformance::AnyStore = store.clone();
    act(&any, 1, create("one"), 1).await;
    act(&any, 1, attached("own", Memory::New), 2).await;
    act(&any, 1, prompt(1, "words"), 3).await;
    let running = store.session(session_id(1)).await.unwrap();
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    let ended = part_of_command(session_id(1), running, Command::Agent(AgentReport::Stopped(stop)), at(4)).unwrap();
    store.look(|conn| conn.execute("UPDATE turns SET prompt_line = 'other words'", []).map(drop)).await.unwrap();
    store.append(batch([ended])).await.unwrap();
    let is_whole = format!("SELECT {} FROM turns", TURNS.is_whole(i64::MAX));
    let is_whole = store.look(move |conn| conn.query_row(&is_whole, [], |row| row.get::<_, bool>(0))).await;
    assert_eq!(is_whole, Ok(false));
    let turns = store.turns(session_id(1), Turn(0), 9).await.unwrap();
    assert_eq!((turns[0].prompt_line.as_str(), turns[0].stop.is_some()), ("words", true));
}
