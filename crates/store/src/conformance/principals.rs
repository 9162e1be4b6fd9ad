//! Cases of the tables that say who may do what: tokens, remembered answers, and what was granted to applets.

#![expect(missing_docs, reason = "the name of a case is its statement")]

use model::{
    Answerer, AppletGrant, AppletName, RememberedDecision, RememberedRow, RowChange, Seq, ServerEvent, TokenKind,
};

use crate::Part;
use crate::conformance::{AnyStore, at, batch, remembered_id, remembers, session_id, token_id};

pub async fn tokens_are_in_force_until_revoked(store: AnyStore) {
    let kinds = [TokenKind::Person, TokenKind::Browser, TokenKind::Agent, TokenKind::Applet];
    let issued = (1..).zip(kinds).map(|(n, kind)| ServerEvent::TokenIssued {
        token_id: token_id(n),
        kind,
        name: format!("token {n}"),
        session_id: (kind == TokenKind::Agent).then(|| session_id(1)),
        secret_hash: format!("{n:064x}"),
        proof_hash: (kind == TokenKind::Browser).then(|| "f".repeat(64)),
    });
    let part = Part::of_server(Seq::START, issued.collect(), at(5));
    store.append(batch([part])).await.expect("appended");
    let tokens = store.tokens().await.expect("tokens");
    assert_eq!(tokens.iter().map(|token| token.kind).collect::<Vec<_>>(), kinds);
    assert_eq!(tokens[2].session, Some(session_id(1)));
    assert_eq!(tokens[1].proof_hash, Some("f".repeat(64)));
    assert_eq!((tokens[3].name.as_str(), tokens[3].issued_at), ("token 4", at(5)));

    let revoked =
        vec![ServerEvent::TokenRevoked { token_id: token_id(2) }, ServerEvent::TokenRevoked { token_id: token_id(9) }];
    let part = Part::of_server(Seq(4), revoked, at(6));
    store.append(batch([part])).await.expect("appended");
    let left = store.tokens().await.expect("tokens");
    assert_eq!(left.iter().map(|token| token.id).collect::<Vec<_>>(), [1, 3, 4].map(token_id));
}

pub async fn what_is_remembered_is_there_until_it_is_forgotten(store: AnyStore) {
    let events = vec![
        remembers(1, "make \u{1f9f5} \0", RememberedDecision::Allow),
        remembers(2, "make", RememberedDecision::Deny),
        remembers(3, "", RememberedDecision::Allow),
    ];
    let part = Part::of_server(Seq::START, events, at(5));
    let expected: Vec<RememberedRow> = part.rows.iter().map(remembered_row).collect();
    store.append(batch([part])).await.expect("appended");
    assert_eq!(store.remembered().await.expect("remembered"), expected);

    let forgotten = [2, 9].map(|n| ServerEvent::PermissionForgotten { id: remembered_id(n) }).to_vec();
    let part = Part::of_server(Seq(3), forgotten, at(6));
    store.append(batch([part])).await.expect("appended");
    let left = store.remembered().await.expect("remembered");
    assert_eq!(left, [expected[0].clone(), expected[2].clone()]);
}

pub async fn what_is_granted_to_an_applet_is_there_until_it_is_taken(store: AnyStore) {
    let applet = |text: &str| text.parse::<AppletName>().expect("a name");
    let own = applet("_shown/0190a8c0-0000-7000-8000-0000000000c1");
    let grants = |applet: &AppletName, hash: &str, grants: &[AppletGrant]| ServerEvent::AppletGranted {
        applet: applet.clone(),
        hash: hash.to_owned(),
        grants: grants.to_vec(),
        by: Answerer::Person { token_id: None, name: "phone \"\0\"".to_owned() },
    };
    let board = applet("board");
    let events = vec![
        grants(&board, "old", &[AppletGrant::FilesRead]),
        grants(&own, "own", &[AppletGrant::Message]),
        grants(&board, "new", &[AppletGrant::FilesRead, AppletGrant::FilesWrite]),
        grants(&applet("never"), "x", &[]),
    ];
    store.append(batch([Part::of_server(Seq::START, events, at(5))])).await.expect("appended");
    let kept = store.applet_grants().await.expect("grants");
    let seen: Vec<_> = kept.iter().map(|row| (row.applet.clone(), row.hash.as_str(), row.grants.len())).collect();
    assert_eq!(seen, [(own.clone(), "own", 1), (board.clone(), "new", 2)]);

    let part = Part::of_server(Seq(4), vec![grants(&board, "new", &[])], at(6));
    store.append(batch([part])).await.expect("appended");
    let left = store.applet_grants().await.expect("grants");
    assert_eq!(left, [kept[0].clone()]);
}

fn remembered_row(change: &RowChange) -> RememberedRow {
    match change {
        RowChange::PutRemembered(row) => row.clone(),
        other => panic!("{other:?}"),
    }
}
