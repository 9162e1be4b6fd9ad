//! Each table's description is the table: the same columns, and its key in front.

use std::convert::Infallible;

use model::{AgentReport, Command, Memory, Outcome, Stop, Turn};
use rusqlite::Connection;

use crate::conformance::{act, attached, create, prompt, session_id};
use crate::prelude::*;
use crate::rows::{Cells as _, EachTable, FoldedRow, Table, each_table};
use crate::sqlite::checksums::{RECEIPTS, STREAMS};
use crate::sqlite::tests::{folder, open_at};

struct Schema(Connection);

impl Schema {
    fn compare(&self, table: &Table, key: usize) {
        let sql = "SELECT name, pk FROM pragma_table_info(?1) WHERE name <> 'checksum' ORDER BY pk = 0, pk, name";
        let mut select = self.0.prepare(sql).unwrap();
        let found = select.query_map([table.name], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let found: Vec<(String, i64)> = found.collect::<Result<_, _>>().unwrap();
        let described: Vec<&str> = table.columns().split(", ").collect();
        let (key_columns, mut others) = (described[..key].to_vec(), described[key..].to_vec());
        others.sort_unstable();
        let described: Vec<&str> = key_columns.into_iter().chain(others).collect();
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

/// A new checksum would pass the damage off as whole.
#[tokio::test]
async fn a_damaged_row_that_is_to_be_changed_stays_damaged_until_it_is_made_anew() {
    let (_folder, path) = folder();
    let store = std::sync::Arc::new(open_at(&path));
    let any: crate::conformance::AnyStore = store.clone();
    act(&any, 1, create("one"), 1).await;
    act(&any, 1, attached("own", Memory::New), 2).await;
    act(&any, 1, prompt(1, "words"), 3).await;
    let is_damaged = "SELECT checksum IS NOT row_sum(session, turn, interaction, prompt_line, outcome, reason, started_at, \
                      ended_at, first_seq, last_seq, summary, summary_by, summary_at, prompt_chars, response_chars, tools) \
                      FROM turns";
    store.look(|conn| conn.execute("UPDATE turns SET prompt_line = 'other words'", []).map(drop)).await.unwrap();
    let stop = Stop { outcome: Outcome::Completed, reason: None };
    act(&any, 1, Command::Agent(AgentReport::Stopped(stop)), 4).await;
    assert!(store.look(move |conn| conn.query_row(is_damaged, [], |row| row.get::<_, bool>(0))).await.unwrap());
    let turns = store.turns(session_id(1), Turn(0), 9).await.unwrap();
    assert_eq!((turns[0].prompt_line.as_str(), turns[0].stop.is_some()), ("words", true));
}
