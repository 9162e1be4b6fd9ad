//! Credentials: who is let in. Rights follow from the stored kind and from nothing the caller says.
//!
//! Invariant: secrets are kept only as hashes; a revoked one opens nothing from the moment its entry is durable, and
//! `changes` wakes whoever holds a door open on the strength of it. What is lent to an agent is in no log: it is in force
//! while its [`Loan`] is held, unless it was ended before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use model::{RowChange, ServerEvent, SessionId, Timestamp, TokenId, TokenKind, TokenRow};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::id_source::hex;
use crate::{Engine, Shared, SubmitError, TokenSecret};

/// How long a sign-in link is good for.
pub const CODE_GOOD_FOR: Duration = Duration::from_secs(15 * 60);
/// How many sign-in links may be open at once; the oldest gives way.
const MAX_CODES: usize = 16;
/// What the credential of a browser is called that nobody named.
const UNNAMED_BROWSER: &str = "browser";

/// The credentials in force, and the codes that sign a browser in.
#[derive(Debug)]
pub struct Tokens {
    by_hash: RwLock<HashMap<String, Known>>,
    codes: Mutex<Vec<Code>>,
    changes: watch::Sender<u64>,
}

/// A credential in force.
#[derive(Debug)]
struct Known {
    row: TokenRow,
    /// An agent has it while it is attached; it is not stored.
    is_lent: bool,
}

/// A credential that is lent to an agent. Dropping this ends it.
#[derive(Debug)]
pub(crate) struct Loan {
    tokens: Arc<Tokens>,
    id: TokenId,
}

#[derive(Debug)]
struct Code {
    hash: String,
    /// What the credential is called that comes of it.
    name: String,
    expires_at: Instant,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.tokens.end_loans(|row| row.id == self.id);
    }
}

impl Tokens {
    pub(crate) fn new(rows: Vec<TokenRow>) -> Self {
        let tokens = Self { by_hash: RwLock::default(), codes: Mutex::default(), changes: watch::Sender::new(0) };
        tokens.replace(rows);
        tokens
    }

    fn known(&self) -> RwLockReadGuard<'_, HashMap<String, Known>> {
        self.by_hash.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut HashMap<String, Known>)) {
        change(&mut self.by_hash.write().unwrap_or_else(PoisonError::into_inner));
        self.changes.send_modify(|generation| *generation += 1);
    }

    /// Replaces the stored ones; those that are lent stay.
    pub(crate) fn replace(&self, rows: Vec<TokenRow>) {
        self.change(|by_hash| {
            by_hash.retain(|_, known| known.is_lent);
            by_hash.extend(rows.into_iter().map(|row| (row.secret_hash.clone(), Known { row, is_lent: false })));
        });
    }

    pub(crate) fn apply(&self, changes: &[RowChange]) {
        self.change(|by_hash| {
            for change in changes {
                match change {
                    RowChange::PutToken(row) => {
                        by_hash.insert(row.secret_hash.clone(), Known { row: row.clone(), is_lent: false });
                    }
                    RowChange::RemoveToken { id } => by_hash.retain(|_, known| known.row.id != *id),
                    // The rest is of others.
                    _ => (),
                }
            }
        });
    }

    fn lend(self: &Arc<Self>, row: TokenRow) -> Loan {
        let loan = Loan { tokens: Arc::clone(self), id: row.id };
        let mut by_hash = self.by_hash.write().unwrap_or_else(PoisonError::into_inner);
        by_hash.insert(row.secret_hash.clone(), Known { row, is_lent: true });
        loan
    }

    fn end_loans(&self, which: impl Fn(&TokenRow) -> bool) {
        self.change(|by_hash| by_hash.retain(|_, known| !(known.is_lent && which(&known.row))));
    }

    /// Whether any stored credential has this secret; a browser's opens nothing without its proof.
    pub fn knows(&self, secret: &TokenSecret) -> bool {
        self.known().get(&hash(secret)).is_some_and(|known| !known.is_lent)
    }

    /// The credential that this secret is, with the proof that a browser's needs.
    pub fn find(&self, secret: &TokenSecret, proof: Option<&TokenSecret>) -> Option<TokenRow> {
        let by_hash = self.known();
        let row = &by_hash.get(&hash(secret))?.row;
        let proved = match (&row.proof_hash, proof) {
            (None, None) => true,
            (Some(expected), Some(proof)) => expected.as_bytes().ct_eq(hash(proof).as_bytes()).into(),
            (Some(_), None) | (None, Some(_)) => false,
        };
        proved.then(|| row.clone())
    }

    /// Whether the credential still opens anything.
    pub fn is_in_force(&self, id: TokenId) -> bool {
        self.known().values().any(|known| known.row.id == id)
    }

    /// What a stored credential is called.
    pub fn name(&self, id: TokenId) -> Option<String> {
        let by_hash = self.known();
        let known = by_hash.values().find(|known| !known.is_lent && known.row.id == id);
        known.map(|known| known.row.name.clone())
    }

    /// Every stored credential.
    pub fn all(&self) -> Vec<TokenRow> {
        let mut rows: Vec<TokenRow> =
            self.known().values().filter(|known| !known.is_lent).map(|known| known.row.clone()).collect();
        rows.sort_by_key(|row| (row.issued_at, row.id));
        rows
    }

    /// Wakes when credentials change.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn revocations(&self, which: impl Fn(&TokenRow) -> bool) -> Vec<ServerEvent> {
        let revoked = self.all().into_iter().filter(which);
        revoked.map(|row| ServerEvent::TokenRevoked { token_id: row.id }).collect()
    }

    fn offer_code(&self, code: &TokenSecret, device: Option<&str>) {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        codes.retain(|code| code.expires_at > now);
        if codes.len() == MAX_CODES {
            codes.remove(0);
        }
        let name = device.unwrap_or(UNNAMED_BROWSER).to_owned();
        codes.push(Code { hash: hash(code), name, expires_at: now + CODE_GOOD_FOR });
    }

    /// Takes a code away and, if it was good, gives what to call the credential that comes of it: the two are one
    /// step, so that no two callers can use it.
    pub fn consume_code(&self, code: &TokenSecret) -> Option<String> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let presented = hash(code);
        let index = codes.iter().position(|code| code.hash.as_bytes().ct_eq(presented.as_bytes()).into())?;
        let code = codes.remove(index);
        (code.expires_at > Instant::now()).then_some(code.name)
    }

    fn forget_codes(&self) {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// What a new credential is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenWish {
    /// Whom it stands for.
    pub kind: TokenKind,
    /// What to call it.
    pub name: String,
    /// The one session it reaches, for agents and applets.
    pub session: Option<SessionId>,
}

/// A code that signs one browser in, once.
#[derive(Debug, Clone)]
pub struct OfferedCode {
    /// What the browser presents.
    pub code: TokenSecret,
    /// From when on it is good for nothing.
    pub expires_at: Timestamp,
}

/// A credential that was just made; the only moment in which its secrets are known.
#[derive(Debug, Clone)]
pub struct IssuedToken {
    /// The credential.
    pub row: TokenRow,
    /// What its holder presents.
    pub secret: TokenSecret,
    /// A browser's second half.
    pub proof: Option<TokenSecret>,
}

impl Shared {
    /// Lends a session's agent a credential; it ends with what is given back here.
    pub(crate) fn lend_token(&self, session: SessionId) -> (TokenSecret, Loan) {
        let secret = TokenSecret::generate(&*self.ids);
        let row = TokenRow {
            id: TokenId::from_uuid(self.ids.uuid()),
            kind: TokenKind::Agent,
            name: "lent to the session's agent".to_owned(),
            session: Some(session),
            secret_hash: hash(&secret),
            proof_hash: None,
            issued_at: self.clock.now(),
        };
        (secret, self.journal.tokens.lend(row))
    }

    /// Makes a credential and, in the same append, ends those that it takes the place of.
    async fn issue_token(
        &self,
        wish: TokenWish,
        replaces: impl Fn(&TokenRow) -> bool,
    ) -> Result<IssuedToken, SubmitError> {
        let secret = TokenSecret::generate(&*self.ids);
        let proof = match wish.kind {
            TokenKind::Browser => Some(TokenSecret::generate(&*self.ids)),
            TokenKind::Person | TokenKind::Agent | TokenKind::Applet => None,
        };
        let issued = ServerEvent::TokenIssued {
            token_id: TokenId::from_uuid(self.ids.uuid()),
            kind: wish.kind,
            name: wish.name,
            session_id: wish.session,
            secret_hash: hash(&secret),
            proof_hash: proof.as_ref().map(hash),
        };
        let events = || {
            let mut events = self.journal.tokens.revocations(&replaces);
            events.push(issued.clone());
            events
        };
        let rows = self.append_to_server(events, None).await?;
        let row = rows.into_iter().find_map(|change| match change {
            RowChange::PutToken(row) => Some(row),
            _ => None,
        });
        Ok(IssuedToken { row: row.expect("issuing puts a row"), secret, proof })
    }

    async fn revoke_tokens(&self, which: impl Fn(&TokenRow) -> bool) -> Result<(), SubmitError> {
        self.append_to_server(|| self.journal.tokens.revocations(&which), None).await.map(drop)
    }

    /// Ends the credentials that were made for one session.
    pub(crate) async fn revoke_tokens_of(&self, session: SessionId) -> Result<(), SubmitError> {
        self.journal.tokens.end_loans(|row| row.session == Some(session));
        self.revoke_tokens(|row| row.session == Some(session)).await
    }
}

pub(crate) fn hash(secret: &TokenSecret) -> String {
    hex(&Sha256::digest(secret.expose().as_bytes()))
}

impl Engine {
    /// The credentials in force.
    pub fn tokens(&self) -> &Tokens {
        &self.shared.journal.tokens
    }

    /// Makes a credential.
    pub async fn issue_token(&self, wish: TokenWish) -> Result<IssuedToken, SubmitError> {
        if let Some(session) = wish.session
            && self.shared.store.session(session).await?.is_none()
        {
            return Err(SubmitError::NotFound(session));
        }
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move { shared.issue_token(wish, |_| false).await }).await
    }

    /// Ends a credential.
    pub async fn revoke_token(&self, id: TokenId) -> Result<(), SubmitError> {
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move { shared.revoke_tokens(|row| row.id == id).await }).await
    }

    /// Ends every credential and every sign-in code there is and makes one new credential for the person, in one step.
    pub async fn rotate_tokens(&self, wish: TokenWish) -> Result<IssuedToken, SubmitError> {
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move {
            let issued = shared.issue_token(wish, |_| true).await?;
            shared.journal.tokens.forget_codes();
            shared.journal.tokens.end_loans(|_| true);
            Ok(issued)
        })
        .await
    }

    /// A code that signs one browser in, once, for a short while.
    pub fn offer_code(&self) -> TokenSecret {
        self.offer_code_for(None).code
    }

    /// The same for a device, if one is named: its credential is then called so.
    pub fn offer_code_for(&self, device: Option<&str>) -> OfferedCode {
        let code = TokenSecret::generate_code(&*self.shared.ids);
        self.shared.journal.tokens.offer_code(&code, device);
        OfferedCode { code, expires_at: self.shared.clock.now().plus(CODE_GOOD_FOR) }
    }
}
