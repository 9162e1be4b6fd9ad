//! Lists, makes and revokes credentials. Only the person, and only with a credential for the whole server.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use doors::{Principal, Right};
use engine::TokenWish;
use model::{TokenId, TokenKind};

use crate::error::ApiError;
use crate::extract::{Body, MaybeBody, Named, NoKey, NoParams, Unrepeatable};
use crate::{App, QrSquares, access, convert, sign_in_link, wire};

const MAX_NAME_CHARS: usize = 100;

/// Every credential in force, without its secret.
#[utoipa::path(get, path = "/tokens", operation_id = "listTokens", responses((status = 200, body = wire::TokenPage)))]
pub(crate) async fn list(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
) -> Result<Json<wire::TokenPage>, ApiError> {
    access::everything(&principal, Right::Manage)?;
    let tokens = app.engine.tokens().all().iter().map(convert::token).collect();
    Ok(Json(wire::TokenPage { tokens, own: principal.id.parse().ok() }))
}

/// Makes a credential; the secret is shown this once.
#[utoipa::path(
    post,
    path = "/tokens", operation_id = "issueToken",
    request_body = wire::NewToken,
    responses((status = 201, body = wire::IssuedToken))
)]
pub(crate) async fn issue(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    _: Unrepeatable,
    Body(new): Body<wire::NewToken>,
) -> Result<(StatusCode, Json<wire::IssuedToken>), ApiError> {
    access::everything(&principal, Right::Manage)?;
    check_name(&new.name)?;
    let kind = if new.session.is_some() { TokenKind::Agent } else { TokenKind::Person };
    let issued = app.engine.issue_token(TokenWish { kind, name: new.name, session: new.session }).await?;
    let secret = wire::Hidden::new(issued.secret.expose());
    Ok((StatusCode::CREATED, Json(wire::IssuedToken { token: convert::token(&issued.row), secret })))
}

/// Ends a credential; sockets that it opened are closed.
#[utoipa::path(
    delete,
    path = "/tokens/{id}", operation_id = "revokeToken",
    params(("id" = String, Path)),
    responses((status = 204, description = "It opens nothing any more"))
)]
pub(crate) async fn revoke(
    State(app): State<App>,
    principal: Principal,
    Named(id): Named<TokenId>,
    _: NoParams,
    _: NoKey,
) -> Result<StatusCode, ApiError> {
    access::everything(&principal, Right::Manage)?;
    if !app.engine.tokens().is_in_force(id) {
        return Err(ApiError::TokenNotFound);
    }
    app.engine.revoke_token(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends every credential, closes every socket, and makes the person a new token, kept in the token file.
#[utoipa::path(post, path = "/tokens/rotate", operation_id = "rotateTokens", responses((status = 200, body = wire::Token)))]
pub(crate) async fn rotate(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    _: NoKey,
) -> Result<Json<wire::Token>, ApiError> {
    access::everything(&principal, Right::Manage)?;
    let wish = TokenWish { kind: TokenKind::Person, name: "token file".to_owned(), session: None };
    let (engine, settings) = (app.engine.clone(), Arc::clone(&app.settings));
    // To the end even if the caller hangs up: the token file must not be left with a token that opens nothing.
    let rotated = app.engine.run_detached(async move {
        let issued = engine.rotate_tokens(wish).await?;
        let kept = (settings.keep_token)(&issued.secret);
        Ok((issued.row, kept))
    });
    let (row, kept) = rotated.await?;
    kept.map_err(ApiError::TokenFile)?;
    Ok(Json(convert::token(&row)))
}

/// A fresh sign-in link for a browser; what the browser is called may be said.
#[utoipa::path(
    post,
    path = "/tokens/link", operation_id = "makeSignInLink",
    request_body = Option<wire::NewSignInLink>,
    responses((status = 201, body = wire::SignInLink))
)]
pub(crate) async fn link(
    State(app): State<App>,
    principal: Principal,
    _: NoParams,
    _: Unrepeatable,
    MaybeBody(new): MaybeBody<wire::NewSignInLink>,
) -> Result<(StatusCode, Json<wire::SignInLink>), ApiError> {
    access::everything(&principal, Right::Manage)?;
    if new.key.is_some() {
        return Err(ApiError::KeyNotTaken);
    }
    if let Some(name) = &new.name {
        check_name(name)?;
    }
    let offered = app.engine.offer_code_for(new.name.as_deref());
    let (url, local_only) = (sign_in_link(&app.settings.url, &offered.code), app.settings.local_only);
    // A code that no phone could follow would only mislead.
    let squares = if local_only { None } else { QrSquares::of(&url) };
    let picture =
        squares.map(|squares| wire::LinkPicture { side: squares.side(), path: wire::Hidden::new(squares.path()) });
    let link = wire::SignInLink { url: wire::Hidden::new(url), expires_at: offered.expires_at, local_only, picture };
    Ok((StatusCode::CREATED, Json(link)))
}

fn check_name(name: &str) -> Result<(), ApiError> {
    let fits = (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if fits { Ok(()) } else { Err(ApiError::InvalidTokenName) }
}
