//! What a session is called as its turns go by, and the lines that this is found by.

use model::{Command, InteractionId, SessionRow, TITLE_TURNS, TitleMaker, Topics, Turn, TurnLine, TurnSummary};
use store::{ReadError, Store};

use crate::summaries::Titles;

/// The newest lines of a session's contents.
pub(crate) async fn newest_lines(store: &dyn Store, row: &SessionRow) -> Result<Vec<TurnLine>, ReadError> {
    let after = Turn(row.turns.0.saturating_sub(u32::try_from(TITLE_TURNS).unwrap_or(u32::MAX)));
    let rows = store.turns(row.id, after, TITLE_TURNS).await?;
    let line = |row: model::TurnRow| {
        let summary = row.summary.map_or(row.prompt_line, |summary| summary.text);
        TurnLine { turn: row.turn, summary }
    };
    // The turn that is about to end is told of by its own summary.
    Ok(rows.into_iter().filter(|row| row.stop.is_some()).map(line).collect())
}

/// What a session's newest turns are about.
pub(crate) async fn newest_topics(store: &dyn Store, row: &SessionRow) -> Result<Topics, ReadError> {
    let mut topics = Topics::default();
    newest_lines(store, row).await?.iter().for_each(|line| topics.push(&line.summary));
    Ok(topics)
}

/// What the session is to be called after a turn, if that is something new; a model that makes titles is left to it.
pub(crate) fn title(
    row: &SessionRow,
    topics: &Topics,
    newest: &TurnSummary,
    interaction_id: Option<InteractionId>,
    made: Titles,
) -> Option<Command> {
    // Without the turns before it, nobody knows whether the topic has changed.
    if made == Titles::ByModel || (topics.is_empty() && newest.turn > Turn(1)) {
        return None;
    }
    let mut topics = topics.clone();
    topics.push(&newest.summary);
    let title = topics.title(Some(row.title.as_str()).filter(|title| !title.is_empty()))?;
    Some(Command::SetTitle { title, by: TitleMaker::Terms, turn: Some(newest.turn), interaction_id })
}
