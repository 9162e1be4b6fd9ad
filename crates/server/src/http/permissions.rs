//! What agents ask, answered by a person. An agent's or an applet's credential never is one.

use axum::Json;
use axum::extract::State;
use doors::{Principal, Scope};
use engine::{Asker, SubmitError};
use model::{Answerer, Command, PermissionAnswer, Rejection, Request, SessionId, TokenId};

use crate::error::ApiError;
use crate::extract::{Asking, Body, Named, NoParams};
use crate::http::Success;
use crate::{App, access, wire};

/// Answers what the agent asked. The first answer counts.
#[utoipa::path(
    post,
    path = "/sessions/{id}/permissions/{request}", operation_id = "answerPermission",
    params(("id" = String, Path), ("request" = String, Path, description = "As in `permission.asked`, written `p7`"), wire::KeyHeader),
    request_body = wire::NewAnswer,
    responses(
        (status = 200, description = "The answer is durable and the agent is told", body = Success),
        (status = 400, description = "The agent offers no such option", body = wire::ErrorBody),
        (status = 404, body = wire::ErrorBody),
        (status = 409, description = "It was answered or withdrawn; `details.answer` is the first answer", body = wire::ErrorBody)
    )
)]
pub(crate) async fn answer(
    State(app): State<App>,
    asking: Asking,
    Named((id, request)): Named<(SessionId, Request)>,
    _: NoParams,
    Body(mut answer): Body<wire::NewAnswer>,
) -> Result<Json<Success>, ApiError> {
    access::session(&asking.principal, Scope::Approve, id)?;
    let key = answer.key.take();
    let principal = asking.principal.clone();
    let asker = asking.asker(&format!("answer {id} {request}"), &answer, key)?;
    answer_request(&app, &principal, (id, request), answer, asker).await?;
    Ok(Json(Success::YES))
}

pub(crate) async fn answer_request(
    app: &App,
    principal: &Principal,
    (id, request): (SessionId, Request),
    answer: wire::NewAnswer,
    asker: Asker,
) -> Result<(), ApiError> {
    let wire::NewAnswer { option, fields, .. } = answer;
    let answer = PermissionAnswer { option: Some(option), kind: None, fields, by: person(app, principal) };
    match app.engine.submit(id, Command::Answer { request, answer }, asker).await {
        Ok(_) => Ok(()),
        Err(refused @ SubmitError::Rejected(Rejection::RequestNotOpen(_))) => {
            match app.engine.find_answer(id, request).await? {
                Some(first) => Err(ApiError::Answered(Box::new(first))),
                None => Err(refused.into()),
            }
        }
        Err(err) => Err(err.into()),
    }
}

fn person(app: &App, principal: &Principal) -> Answerer {
    let token_id: Option<TokenId> = principal.id.parse().ok();
    let token = token_id.and_then(|id| app.engine.tokens().into_iter().find(|token| token.id == id));
    let name = token.map_or_else(|| "command line".to_owned(), |token| token.name);
    Answerer::Person { token_id, name }
}
