//! Credentials and sign-in codes.

use engine::{TokenSecret, TokenWish};
use model::TokenKind;
use store::prelude::*;

use crate::support::World;

fn wish(kind: TokenKind) -> TokenWish {
    TokenWish { kind, name: "test".to_owned(), session: None }
}

#[tokio::test(start_paused = true)]
async fn a_credential_opens_until_it_is_ended_also_after_a_restart() {
    let mut world = World::new().await;
    let issued = world.engine.issue_token(wish(TokenKind::Person)).await.unwrap();
    world.stop_and_restart().await;
    assert_eq!(world.engine.tokens().find(&issued.secret, None), Some(issued.row.clone()));
    assert_eq!(world.engine.tokens().find(&TokenSecret::new("guess"), None), None);
    let mut changes = world.engine.tokens().changes();
    world.engine.revoke_token(issued.row.id).await.unwrap();
    changes.changed().await.unwrap();
    assert_eq!(world.engine.tokens().find(&issued.secret, None), None);
    world.stop_and_restart().await;
    assert_eq!(world.engine.tokens().find(&issued.secret, None), None);
}

#[tokio::test(start_paused = true)]
async fn a_browsers_credential_needs_both_halves() {
    let world = World::new().await;
    let one = world.engine.issue_token(wish(TokenKind::Browser)).await.unwrap();
    let two = world.engine.issue_token(wish(TokenKind::Browser)).await.unwrap();
    let found =
        |secret: &TokenSecret, proof: Option<&TokenSecret>| world.engine.tokens().find(secret, proof).map(|row| row.id);
    assert_eq!(found(&one.secret, one.proof.as_ref()), Some(one.row.id));
    assert_eq!(found(&one.secret, None), None);
    assert_eq!(found(&one.secret, two.proof.as_ref()), None);
    assert_eq!(found(one.proof.as_ref().unwrap(), Some(&one.secret)), None);
    let person = world.engine.issue_token(wish(TokenKind::Person)).await.unwrap();
    assert_eq!(found(&person.secret, one.proof.as_ref()), None);
}

#[tokio::test(start_paused = true)]
async fn rotation_ends_all_and_makes_one() {
    let world = World::new().await;
    let old = world.engine.issue_token(wish(TokenKind::Person)).await.unwrap();
    world.engine.issue_token(wish(TokenKind::Browser)).await.unwrap();
    let new = world.engine.rotate_tokens(wish(TokenKind::Person)).await.unwrap();
    assert_eq!(world.engine.tokens().all(), vec![new.row]);
    assert_eq!(world.engine.tokens().find(&old.secret, None), None);
}

/// A caller that hangs up must not leave a credential that the log has ended and the door still takes.
#[tokio::test(start_paused = true)]
async fn a_revocation_that_nobody_waits_for_is_carried_out() {
    let world = World::new().await;
    let issued = world.engine.issue_token(wish(TokenKind::Person)).await.unwrap();
    let mut changes = world.engine.tokens().changes();
    let revocation = world.engine.revoke_token(issued.row.id);
    // Polled once, then dropped.
    drop(tokio::time::timeout(std::time::Duration::ZERO, revocation).await);
    changes.changed().await.unwrap();
    assert_eq!(world.engine.tokens().find(&issued.secret, None), None);
}

#[tokio::test(start_paused = true)]
async fn rotation_also_ends_what_is_made_meanwhile_and_open_links() {
    let world = World::new().await;
    let code = world.engine.offer_code();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let engine = world.engine.clone();
        calls.spawn(async move { drop(engine.issue_token(wish(TokenKind::Browser)).await.unwrap()) });
    }
    let engine = world.engine.clone();
    calls.spawn(async move { drop(engine.rotate_tokens(wish(TokenKind::Person)).await.unwrap()) });
    calls.join_all().await;
    // Those issued before the rotation have ended, those after it are in force: what the door takes is what the log says.
    let mut in_log = world.store.tokens().await.unwrap();
    in_log.sort_by_key(|row| (row.issued_at, row.id));
    assert_eq!(world.engine.tokens().all(), in_log);
    assert_eq!(world.engine.tokens().consume_code(&code), None);
}

#[tokio::test(start_paused = true)]
async fn the_credentials_of_a_session_end_with_it() {
    let world = World::new().await;
    let session = world.session().await;
    let wish = TokenWish { kind: TokenKind::Agent, name: "agent".to_owned(), session: Some(session) };
    let issued = world.engine.issue_token(wish).await.unwrap();
    world.engine.purge(session, crate::support::asker()).await.unwrap();
    assert_eq!(world.engine.tokens().find(&issued.secret, None), None);
}

#[tokio::test(start_paused = true)]
async fn a_code_is_good_once_and_for_a_while() {
    let world = World::new().await;
    let code = world.engine.offer_code();
    assert_eq!(world.engine.tokens().consume_code(&code).as_deref(), Some("browser"));
    assert_eq!(world.engine.tokens().consume_code(&code), None);
    let late = world.engine.offer_code();
    tokio::time::advance(engine::CODE_GOOD_FOR).await;
    assert_eq!(world.engine.tokens().consume_code(&late), None);
    assert_eq!(world.engine.tokens().consume_code(&TokenSecret::new("guess")), None);
    let offered = world.engine.offer_code_for(Some("phone"));
    assert_eq!(world.engine.tokens().consume_code(&offered.code).as_deref(), Some("phone"));
}

/// The log keeps hashes: nobody who reads the store can sign in.
#[tokio::test(start_paused = true)]
async fn secrets_are_not_in_the_log() {
    use store::prelude::*;
    let world = World::new().await;
    let issued = world.engine.issue_token(wish(TokenKind::Browser)).await.unwrap();
    let entries = world.store.read(model::StreamId::Server, model::Seq::START, 100).await.unwrap();
    let text = serde_json::to_string(&entries).unwrap();
    assert!(text.contains("token.issued"));
    assert!(!text.contains(issued.secret.expose()) && !text.contains(issued.proof.unwrap().expose()));
    assert_eq!(format!("{:?}", issued.secret), "[secret]");
}
