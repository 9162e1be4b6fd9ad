//! What the person granted to applets.
//!
//! Invariant: a grant is in the log before it holds, and holds for one content alone: whoever changes an applet takes its grants away.

use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

use model::{Answerer, AppletGrant, AppletGrantsRow, AppletName, Author, RowChange, ServerEvent};

use super::AskingApplet;
use crate::{AppletError, Engine, Shared};

#[derive(Debug)]
pub(crate) struct Grants(RwLock<BTreeMap<AppletName, AppletGrantsRow>>);

/// What an applet may do with the content that it has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantedNow {
    /// The hash of its content.
    pub hash: String,
    /// What it may do.
    pub grants: Vec<AppletGrant>,
}

impl Grants {
    pub(crate) fn new(rows: Vec<AppletGrantsRow>) -> Self {
        Self(RwLock::new(by_applet(rows)))
    }

    pub(crate) fn replace(&self, rows: Vec<AppletGrantsRow>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = by_applet(rows);
    }

    pub(crate) fn apply(&self, changes: &[RowChange]) {
        let mut rows = self.0.write().unwrap_or_else(PoisonError::into_inner);
        for change in changes {
            match change {
                RowChange::PutGrants(row) => drop(rows.insert(row.applet.clone(), row.clone())),
                RowChange::RemoveGrants { applet } => drop(rows.remove(applet)),
                // Other rows are other tables'.
                _ => (),
            }
        }
    }

    /// The content of an applet that anything is granted to.
    fn known(&self, applet: &AppletName) -> Option<String> {
        let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        rows.get(applet).map(|row| row.hash.clone())
    }

    /// What is granted to an applet with this content.
    fn of(&self, applet: &AppletName, hash: &str) -> Vec<AppletGrant> {
        let rows = self.0.read().unwrap_or_else(PoisonError::into_inner);
        rows.get(applet).filter(|row| row.hash == hash).map(|row| row.grants.clone()).unwrap_or_default()
    }
}

fn by_applet(rows: Vec<AppletGrantsRow>) -> BTreeMap<AppletName, AppletGrantsRow> {
    rows.into_iter().map(|row| (row.applet.clone(), row)).collect()
}

impl Shared {
    /// Takes all that was granted to an applet away: it is gone, and another may get its name.
    pub(super) async fn withdraw_grants(&self, applet: &AppletName) {
        let withdrawn = || {
            let known = self.journal.grants.known(applet);
            let withdrawn = known.map(|hash| {
                let applet = applet.clone();
                ServerEvent::AppletGranted { applet, hash, grants: Vec::new(), by: Answerer::Nobody }
            });
            withdrawn.into_iter().collect()
        };
        if let Err(err) = self.append_to_server(withdrawn, None).await {
            tracing::warn!(%applet, error = &err as &dyn std::error::Error, "grants of an applet that is gone are kept");
        }
    }
}

impl Engine {
    /// What an applet may do as it is now.
    pub async fn applet_grants(&self, name: &AppletName) -> Result<GrantedNow, AppletError> {
        let hash = self.shared.applet(name).await?.content.hash();
        let grants = self.shared.journal.grants.of(name, &hash);
        Ok(GrantedNow { hash, grants })
    }

    /// Grants something to an applet with this content, or takes it away again.
    pub async fn grant_applet(
        &self,
        name: &AppletName,
        hash: &str,
        grant: AppletGrant,
        granted: bool,
        by: Answerer,
    ) -> Result<GrantedNow, AppletError> {
        let now = self.shared.applet(name).await?.content.hash();
        if now != hash {
            return Err(AppletError::Changed { hash: now });
        }
        let shared = std::sync::Arc::clone(&self.shared);
        let (applet, of) = (name.clone(), now.clone());
        let granting = async move {
            let grants = || {
                let known = shared.journal.grants.of(&applet, &of);
                let mut grants: Vec<_> = known.iter().copied().filter(|known| *known != grant).collect();
                grants.extend(granted.then_some(grant));
                grants.sort_unstable();
                let is_new = grants != known;
                let (applet, hash, by) = (applet.clone(), of.clone(), by.clone());
                is_new.then_some(ServerEvent::AppletGranted { applet, hash, grants, by }).into_iter().collect()
            };
            shared.append_to_server(grants, None).await
        };
        self.run_detached(granting).await?;
        let grants = self.shared.journal.grants.of(name, &now);
        Ok(GrantedNow { hash: now, grants })
    }

    /// Who wrote a prompt that an applet sends; refused unless the person granted it to send any.
    pub async fn applet_author(&self, applet: &AskingApplet) -> Result<Author, AppletError> {
        self.check_granted(&applet.name, &applet.hash, AppletGrant::Message).await?;
        Ok(Author::Applet { name: applet.name.word().to_owned() })
    }

    /// Refuses unless the applet as it is now has this content and may do this.
    pub(super) async fn check_granted(
        &self,
        name: &AppletName,
        hash: &str,
        grant: AppletGrant,
    ) -> Result<(), AppletError> {
        let now = self.applet_grants(name).await?;
        match now.hash == hash {
            false => Err(AppletError::Changed { hash: now.hash }),
            true if now.grants.contains(&grant) => Ok(()),
            true => Err(AppletError::NotGranted { grant }),
        }
    }
}
