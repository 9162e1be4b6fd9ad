//! Asks a model for the summary of a turn, and for the session's title.

use std::sync::atomic::Ordering;

use agents::provider::{ProviderError, ProviderRequest};
use model::{
    Command, ModelRequest, SessionId, SummaryMaker, TitleMaker, Turn, TurnRow, TurnSummary, clean_summary, clean_title,
    summary_request, title_request,
};

use super::SummaryJob;
use crate::{QueryError, Shared, navigation, paging};

/// Asks about a turn. Whatever goes wrong, the line that it has stays.
pub(super) async fn sum_up(shared: &Shared, SummaryJob { session, turn, title }: SummaryJob) {
    let count = match try_sum_up(shared, session, turn, title).await {
        Ok(true) => &shared.summaries.written,
        Ok(false) => &shared.summaries.failed,
        Err(err) => {
            tracing::warn!(%session, %turn, error = %err, "a turn could not be read to be summed up");
            &shared.summaries.failed
        }
    };
    count.fetch_add(1, Ordering::Relaxed);
}

async fn try_sum_up(shared: &Shared, id: SessionId, turn: Turn, title: bool) -> Result<bool, QueryError> {
    // What was deleted is nobody's to read any more.
    let session = shared.store.session(id).await?;
    if session.is_none_or(|session| session.row.deleted_at.is_some()) {
        return Ok(false);
    }
    let Some(row) = paging::find_turn(&*shared.store, id, turn).await? else { return Ok(false) };
    if row.summary.as_ref().is_some_and(|summary| summary.by == SummaryMaker::Model) {
        return Ok(true);
    }
    let digest = shared.digest(&row).await?;
    let (prompt, response) = digest.words();
    if prompt.trim().is_empty() && response.trim().is_empty() {
        return Ok(false);
    }
    let Some(summary) = ask(shared, &summary_request(prompt, response)).await.as_deref().and_then(clean_summary) else {
        return Ok(false);
    };
    let summary = TurnSummary { turn, summary, by: SummaryMaker::Model, extent: None };
    shared.note(id, Command::Summarise(vec![summary])).await?;
    if title {
        name(shared, id, &row).await?;
    }
    Ok(true)
}

/// Asks for a title once the newest turn has its line.
async fn name(shared: &Shared, id: SessionId, row: &TurnRow) -> Result<(), QueryError> {
    let Some(session) = shared.store.session(id).await? else { return Ok(()) };
    if session.row.deleted_at.is_some() || row.turn < session.row.turns {
        return Ok(());
    }
    let lines = navigation::newest_lines(&*shared.store, &session.row).await?;
    let current = Some(session.row.title.as_str()).filter(|title| !title.is_empty());
    if let Some(title) = ask(shared, &title_request(current, &lines)).await.as_deref().and_then(clean_title) {
        let (turn, interaction_id) = (Some(row.turn), Some(row.interaction_id));
        shared.note(id, Command::SetTitle { title, by: TitleMaker::Model, turn, interaction_id }).await?;
    }
    Ok(())
}

async fn ask(shared: &Shared, request: &ModelRequest) -> Option<String> {
    let model = shared.summaries.model.as_ref()?;
    let ModelRequest { system, user, max_tokens, temperature } = request;
    let ask = ProviderRequest { system, user, max_tokens: *max_tokens, temperature: *temperature };
    model.provider.ask(&ask).await.inspect_err(|err: &ProviderError| tracing::warn!(error = %err, "no summary")).ok()
}
