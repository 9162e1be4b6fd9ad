//! How a browser signs in: a one-time code becomes a cookie and a proof, and every request needs both.
//!
//! A cookie alone also travels to whatever an agent serves on another port of the same host; the proof is kept by the
//! page's own origin and never does.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use doors::{Arrival, Gatekeeper as _, Principal, Right, Role};
use engine::{TokenSecret, TokenWish};
use model::TokenKind;

use crate::error::ApiError;
use crate::extract::{Body, NoParams, Unrepeatable};
use crate::{App, wire};

/// A year: a browser stays signed in until its credential is revoked.
const COOKIE_SECONDS: u32 = 365 * 24 * 3_600;

/// Uses up a sign-in code.
#[utoipa::path(
    post,
    path = "/auth/exchange", operation_id = "exchangeCode",
    security(()),
    request_body = wire::CodeExchange,
    responses(
        (status = 200, description = "The proof; the other half comes as a cookie", body = wire::Proof),
        (status = 204, description = "The code was discarded and opens nothing any more"),
        (status = 401, description = "The code was used or has expired", body = wire::ErrorBody)
    )
)]
pub(crate) async fn exchange(
    State(app): State<App>,
    arrival: axum::Extension<Arrival>,
    _: NoParams,
    _: Unrepeatable,
    Body(exchange): Body<wire::CodeExchange>,
) -> Result<Response, Response> {
    let Some(name) = app.engine.tokens().consume_code(&TokenSecret::new(exchange.code.expose())) else {
        // Guessing is counted; the caller learns only that this code does not open anything.
        let refusal = arrival.credential_failed();
        return Err(match refusal {
            doors::Refusal::TooManyFailures { .. } => refusal.into_response(),
            _ => ApiError::InvalidCode.into_response(),
        });
    };
    if exchange.discard {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let wish = TokenWish { kind: TokenKind::Browser, name, session: None };
    let issued = app.engine.issue_token(wish).await.map_err(|err| ApiError::from(err).into_response())?;
    let proof = issued.proof.expect("a browser's credential has a proof");
    let mut response = Json(wire::Proof { proof: wire::Hidden::new(proof.expose()) }).into_response();
    let secure = if app.settings.secure_cookie { "; Secure" } else { "" };
    let cookie = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={COOKIE_SECONDS}{secure}",
        app.settings.gatekeeper.cookie_name(),
        issued.secret.expose(),
    );
    let mut cookie = HeaderValue::from_str(&cookie).expect("names and hex digits are header text");
    cookie.set_sensitive(true);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Who is asking, as the server sees it.
#[utoipa::path(get, path = "/whoami", operation_id = "whoami", responses((status = 200, body = wire::Whoami)))]
pub(crate) async fn whoami(State(app): State<App>, principal: Principal, _: NoParams) -> Json<wire::Whoami> {
    let role = match principal.role {
        Role::Person => "person",
        Role::Agent => "agent",
        Role::Applet => "applet",
    };
    let directory = app.settings.directory.clone().filter(|_| principal.may(Right::Write));
    let tour_directory = app.settings.tour_directory.clone().filter(|_| principal.may(Right::Write));
    Json(wire::Whoami {
        directory,
        tour_directory,
        role: role.to_owned(),
        session: principal.session,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        incarnation: app.engine.incarnation().to_string(),
    })
}
