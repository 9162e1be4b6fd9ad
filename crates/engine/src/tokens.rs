//! Credentials: who is let in. Scopes follow from the stored kind and from nothing the caller says.
//!
//! Invariant: secrets are kept only as hashes; a revoked one opens nothing from the moment its entry is durable, and
//! `changes` wakes whoever holds a door open on the strength of it. What is lent (`tokens/lent.rs`) is in no log.

mod lent;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use model::{RowChange, ServerEvent, SessionId, Timestamp, TokenId, TokenKind, TokenRow};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::id_source::hex;
use crate::{Engine, Shared, SubmitError, TokenSecret};
use lent::Lent;
pub(crate) use lent::Loan;

/// How long a sign-in link is good for.
pub const CODE_GOOD_FOR: Duration = Duration::from_secs(15 * 60);
/// How many sign-in links may be open at once; the oldest gives way.
const MAX_CODES: usize = 16;
/// What the credential of a browser is called that nobody named.
const UNNAMED_BROWSER: &str = "browser";

#[derive(Debug)]
pub(crate) struct Tokens {
    by_hash: RwLock<HashMap<String, TokenRow>>,
    lent: Lent,
    codes: Mutex<Vec<Code>>,
    changes: watch::Sender<u64>,
}

#[derive(Debug)]
struct Code {
    hash: String,
    /// What the credential is called that comes of it.
    name: String,
    expires_at: Instant,
}

impl Tokens {
    pub(crate) fn new(rows: Vec<TokenRow>) -> Self {
        let changes = watch::Sender::new(0);
        let lent = Lent::new(changes.clone());
        let tokens = Self { by_hash: RwLock::default(), lent, codes: Mutex::default(), changes };
        tokens.replace(rows);
        tokens
    }

    pub(crate) fn replace(&self, rows: Vec<TokenRow>) {
        let by_hash = rows.into_iter().map(|row| (row.secret_hash.clone(), row)).collect();
        *self.by_hash.write().unwrap_or_else(PoisonError::into_inner) = by_hash;
        self.changes.send_modify(|generation| *generation += 1);
    }

    /// Whether any credential has this secret, whatever else it needs.
    pub(crate) fn knows(&self, secret: &TokenSecret) -> bool {
        self.by_hash.read().unwrap_or_else(PoisonError::into_inner).contains_key(&hash(secret))
    }

    fn forget_codes(&self) {
        self.codes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The credential that this secret is, with the proof that a browser's needs.
    pub(crate) fn find(&self, secret: &TokenSecret, proof: Option<&TokenSecret>) -> Option<TokenRow> {
        if let Some(lent) = self.lent.find(&hash(secret)) {
            return proof.is_none().then_some(lent);
        }
        let by_hash = self.by_hash.read().unwrap_or_else(PoisonError::into_inner);
        let row = by_hash.get(&hash(secret))?;
        let proved = match (&row.proof_hash, proof) {
            (None, None) => true,
            (Some(expected), Some(proof)) => expected.as_bytes().ct_eq(hash(proof).as_bytes()).into(),
            (Some(_), None) | (None, Some(_)) => false,
        };
        proved.then(|| row.clone())
    }

    pub(crate) fn is_in_force(&self, id: TokenId) -> bool {
        self.lent.is_in_force(id)
            || self.by_hash.read().unwrap_or_else(PoisonError::into_inner).values().any(|row| row.id == id)
    }

    pub(crate) fn name(&self, id: TokenId) -> Option<String> {
        let by_hash = self.by_hash.read().unwrap_or_else(PoisonError::into_inner);
        by_hash.values().find(|row| row.id == id).map(|row| row.name.clone())
    }

    /// Every stored one.
    pub(crate) fn all(&self) -> Vec<TokenRow> {
        let mut rows: Vec<TokenRow> =
            self.by_hash.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
        rows.sort_by_key(|row| (row.issued_at, row.id));
        rows
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub(crate) fn offer_code(&self, code: &TokenSecret, device: Option<&str>) {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        codes.retain(|code| code.expires_at > now);
        if codes.len() == MAX_CODES {
            codes.remove(0);
        }
        let name = device.unwrap_or(UNNAMED_BROWSER).to_owned();
        codes.push(Code { hash: hash(code), name, expires_at: now + CODE_GOOD_FOR });
    }

    /// Takes the code away and, if it was good, gives what to call the credential that comes of it: the two are one
    /// step, so that no two callers can use it.
    pub(crate) fn consume_code(&self, code: &TokenSecret) -> Option<String> {
        let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
        let presented = hash(code);
        let index = codes.iter().position(|code| code.hash.as_bytes().ct_eq(presented.as_bytes()).into())?;
        let code = codes.remove(index);
        (code.expires_at > Instant::now()).then_some(code.name)
    }

    pub(crate) fn apply(&self, changes: &[RowChange]) {
        {
            let mut by_hash = self.by_hash.write().unwrap_or_else(PoisonError::into_inner);
            for change in changes {
                match change {
                    RowChange::PutToken(row) => {
                        by_hash.insert(row.secret_hash.clone(), row.clone());
                    }
                    RowChange::RemoveToken { id } => by_hash.retain(|_, row| row.id != *id),
                    // The rest is of others.
                    _ => (),
                }
            }
        }
        self.changes.send_modify(|generation| *generation += 1);
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
    pub(crate) async fn issue_token(&self, wish: TokenWish) -> Result<IssuedToken, SubmitError> {
        let (event, secret, proof) = self.new_token(wish);
        let rows = self.append_to_server(|_| vec![event.clone()], None).await?;
        Ok(issued(rows, secret, proof))
    }

    pub(crate) async fn revoke_token(&self, id: TokenId) -> Result<(), SubmitError> {
        self.append_to_server(|shared| revocations(&shared.journal.tokens, |row| row.id == id), None).await?;
        Ok(())
    }

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
        (secret, self.journal.tokens.lent.lend(row))
    }

    /// Ends the credentials that were made for one session.
    pub(crate) async fn revoke_tokens_of(&self, session: SessionId) -> Result<(), SubmitError> {
        self.journal.tokens.lent.end(|row| row.session == Some(session));
        self.append_to_server(|shared| revocations(&shared.journal.tokens, |row| row.session == Some(session)), None)
            .await?;
        Ok(())
    }

    /// Ends every credential and every sign-in code there is and makes one new credential for the person, in one step.
    pub(crate) async fn rotate_tokens(&self, wish: TokenWish) -> Result<IssuedToken, SubmitError> {
        let (event, secret, proof) = self.new_token(wish);
        let rows = self
            .append_to_server(
                |shared| {
                    let mut events = revocations(&shared.journal.tokens, |_| true);
                    events.push(event.clone());
                    events
                },
                None,
            )
            .await?;
        self.journal.tokens.forget_codes();
        self.journal.tokens.lent.end(|_| true);
        Ok(issued(rows, secret, proof))
    }

    fn new_token(&self, wish: TokenWish) -> (ServerEvent, TokenSecret, Option<TokenSecret>) {
        let secret = TokenSecret::generate(&*self.ids);
        let proof = match wish.kind {
            TokenKind::Browser => Some(TokenSecret::generate(&*self.ids)),
            TokenKind::Person | TokenKind::Agent | TokenKind::Applet => None,
        };
        let event = ServerEvent::TokenIssued {
            token_id: TokenId::from_uuid(self.ids.uuid()),
            kind: wish.kind,
            name: wish.name,
            session_id: wish.session,
            secret_hash: hash(&secret),
            proof_hash: proof.as_ref().map(hash),
        };
        (event, secret, proof)
    }
}

fn revocations(tokens: &Tokens, which: impl Fn(&TokenRow) -> bool) -> Vec<ServerEvent> {
    tokens.all().iter().filter(|row| which(row)).map(|row| ServerEvent::TokenRevoked { token_id: row.id }).collect()
}

fn issued(rows: Vec<RowChange>, secret: TokenSecret, proof: Option<TokenSecret>) -> IssuedToken {
    let row = rows
        .into_iter()
        .find_map(|change| match change {
            RowChange::PutToken(row) => Some(row),
            _ => None,
        })
        .expect("issuing puts a row");
    IssuedToken { row, secret, proof }
}

fn hash(secret: &TokenSecret) -> String {
    hex(&Sha256::digest(secret.expose().as_bytes()))
}

impl Engine {
    /// The credential that this secret is, with the proof that a browser's needs.
    pub fn find_token(&self, secret: &TokenSecret, proof: Option<&TokenSecret>) -> Option<TokenRow> {
        self.shared.journal.tokens.find(secret, proof)
    }

    /// Whether the credential still opens anything.
    pub fn is_token_in_force(&self, id: TokenId) -> bool {
        self.shared.journal.tokens.is_in_force(id)
    }

    /// What a stored credential is called.
    pub fn token_name(&self, id: TokenId) -> Option<String> {
        self.shared.journal.tokens.name(id)
    }

    /// Every credential in force.
    pub fn tokens(&self) -> Vec<TokenRow> {
        self.shared.journal.tokens.all()
    }

    /// Wakes when credentials change.
    pub fn token_changes(&self) -> watch::Receiver<u64> {
        self.shared.journal.tokens.changes()
    }

    /// Whether any credential has this secret; a browser's opens nothing without its proof.
    pub fn knows_secret(&self, secret: &TokenSecret) -> bool {
        self.shared.journal.tokens.knows(secret)
    }

    /// Makes a credential.
    pub async fn issue_token(&self, wish: TokenWish) -> Result<IssuedToken, SubmitError> {
        if let Some(session) = wish.session
            && !self.shared.exists(session).await?
        {
            return Err(SubmitError::NotFound(session));
        }
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move { shared.issue_token(wish).await }).await
    }

    /// Ends a credential.
    pub async fn revoke_token(&self, id: TokenId) -> Result<(), SubmitError> {
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move { shared.revoke_token(id).await }).await
    }

    /// Ends every credential and makes the person a new one.
    pub async fn rotate_tokens(&self, wish: TokenWish) -> Result<IssuedToken, SubmitError> {
        let shared = Arc::clone(&self.shared);
        self.run_detached(async move { shared.rotate_tokens(wish).await }).await
    }

    /// A code that signs one browser in, once, for a short while.
    pub fn offer_code(&self) -> TokenSecret {
        self.offer_code_for(None).code
    }

    /// The same for a device, if one is named: its credential is then called so.
    pub fn offer_code_for(&self, device: Option<&str>) -> OfferedCode {
        let code = TokenSecret::generate_code(&*self.shared.ids);
        self.shared.journal.tokens.offer_code(&code, device);
        let lasts = i64::try_from(CODE_GOOD_FOR.as_millis()).unwrap_or(i64::MAX);
        let expires_at = model::Timestamp::from_millis(self.shared.clock.now().as_millis().saturating_add(lasts));
        OfferedCode { code, expires_at }
    }

    /// Uses a code up; what to call the credential that comes of it, if the code was good.
    pub fn consume_code(&self, code: &TokenSecret) -> Option<String> {
        self.shared.journal.tokens.consume_code(code)
    }
}
