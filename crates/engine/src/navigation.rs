//! The newest lines of a session's contents: its title follows from them.

use model::{SessionRow, TITLE_TURNS, Topics, Turn, TurnLine};
use store::{ReadError, Reader};

/// The newest lines of a session's contents.
pub(crate) async fn newest_lines(store: &dyn Reader, row: &SessionRow) -> Result<Vec<TurnLine>, ReadError> {
    let after = Turn(row.turns.0.saturating_sub(u32::try_from(TITLE_TURNS).unwrap_or(u32::MAX)));
    let rows = store.turns(row.id, after, TITLE_TURNS).await?;
    let line = |row: model::TurnRow| {
        let summary = row.summary.map_or(row.prompt_line, |summary| summary.text);
        TurnLine { turn: row.turn, summary }
    };
    // The turn that is about to end has its own summary.
    Ok(rows.into_iter().filter(|row| row.stop.is_some()).map(line).collect())
}

/// What a session's newest turns are about.
pub(crate) async fn newest_topics(store: &dyn Reader, row: &SessionRow) -> Result<Topics, ReadError> {
    let mut topics = Topics::default();
    newest_lines(store, row).await?.iter().for_each(|line| topics.push(&line.summary));
    Ok(topics)
}
