//! Payloads in memory, for tests.

use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use model::{NewBody, SessionId};

use crate::payloads::pass_on;
use crate::{PayloadError, PayloadKind, PayloadName, PayloadSource, Payloads, StoredPayload};

/// Payloads that are gone with the process.
#[derive(Debug, Default)]
pub struct MemoryPayloads {
    payloads: Mutex<HashMap<(SessionId, PayloadName), Vec<u8>>>,
}

impl MemoryPayloads {
    fn payloads(&self) -> MutexGuard<'_, HashMap<(SessionId, PayloadName), Vec<u8>>> {
        self.payloads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Payloads for MemoryPayloads {
    async fn put(
        &self,
        session: SessionId,
        name: &PayloadName,
        from: PayloadSource,
        max: u64,
    ) -> Result<StoredPayload, PayloadError> {
        let mut payload = Vec::new();
        let stored = pass_on::<PayloadError>(from, max, |piece| {
            payload.extend_from_slice(piece);
            Ok(())
        })?;
        self.payloads().insert((session, name.clone()), payload);
        Ok(stored)
    }

    async fn put_bodies(&self, session: SessionId, bodies: Vec<NewBody>) -> Result<(), PayloadError> {
        let named = bodies.into_iter().map(|body| ((session, PayloadName::body(body.hash)), body.bytes.to_vec()));
        self.payloads().extend(named);
        Ok(())
    }

    async fn read(
        &self,
        session: SessionId,
        name: &PayloadName,
        offset: u64,
        max: usize,
    ) -> Result<Option<Vec<u8>>, PayloadError> {
        let payloads = self.payloads();
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        Ok(payloads
            .get(&(session, name.clone()))
            .map(|payload| payload.iter().skip(offset).take(max).copied().collect()))
    }

    async fn look_at(
        &self,
        session: SessionId,
        name: &PayloadName,
        most: u64,
    ) -> Result<Option<StoredPayload>, PayloadError> {
        let payloads = self.payloads();
        let payload = payloads.get(&(session, name.clone()));
        payload.map(|payload| pass_on(payload.take(most), most, |_| Ok(()))).transpose()
    }

    async fn remove(&self, session: SessionId, name: &PayloadName) -> Result<(), PayloadError> {
        self.payloads().remove(&(session, name.clone()));
        Ok(())
    }

    async fn sessions(&self) -> Result<Vec<SessionId>, PayloadError> {
        let sessions: BTreeSet<SessionId> = self.payloads().keys().map(|(session, _)| *session).collect();
        Ok(sessions.into_iter().collect())
    }

    async fn sweep(
        &self,
        session: SessionId,
        kind: PayloadKind,
        kept: Vec<PayloadName>,
    ) -> Result<usize, PayloadError> {
        let mut payloads = self.payloads();
        let before = payloads.len();
        payloads.retain(|(of, name), _| (*of, name.kind) != (session, kind) || kept.contains(name));
        Ok(before - payloads.len())
    }
}
