//! What a session is called as its turns go by, and the lines that this is found by.

use model::{Command, InteractionId, SessionRow, TITLE_TURNS, TitleMaker, Turn, TurnLine, TurnSummary, topic_title};
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

/// Takes in the line of the turn after those that are known.
pub(crate) fn follow(lines: &mut Vec<TurnLine>, line: TurnLine) {
    if lines.len() >= TITLE_TURNS {
        lines.remove(0);
    }
    lines.push(line);
}

/// What the session is to be called after a turn, if that is something new; a model that makes titles is left to it.
pub(crate) fn title(
    row: &SessionRow,
    lines: &[TurnLine],
    newest: &TurnSummary,
    interaction_id: Option<InteractionId>,
    made: Titles,
) -> Option<Command> {
    // Without the lines before it, nobody knows whether the topic has changed.
    if made == Titles::ByModel || (lines.is_empty() && newest.turn > Turn(1)) {
        return None;
    }
    let mut lines = lines.to_vec();
    lines.push(TurnLine { turn: newest.turn, summary: newest.summary.clone() });
    let current = Some(row.title.as_str()).filter(|title| !title.is_empty());
    let title = topic_title(current, &lines)?;
    Some(Command::SetTitle { title, by: TitleMaker::Terms, turn: Some(newest.turn), interaction_id })
}
