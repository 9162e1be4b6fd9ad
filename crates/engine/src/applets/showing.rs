//! Agents show an applet, a new one or one that was saved, and save the active one.
//!
//! Invariant: what is shown is kept with the session as it was then, as an output, before anybody sees it; what it becomes later changes
//! nothing of that.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use model::{
    AboutOutput, AppletName, AppletSlug, AppletToShow, Command, OutputKind, OutputRow, Seq, SessionEvent, SessionId,
    Turn, is_applet_line,
};

use super::{ActiveApplet, Applet, AppletAbout, AppletContent, NewApplet, OpenApplet};
use crate::outputs::{NewOutput, OutputShown};
use crate::requests::InputKind;
use crate::{AppletError, Asker, Engine, OutputError, QueryError, Shared};

/// How many outputs are looked through at a time.
const OUTPUTS_AT_ONCE: usize = 500;
/// The MIME type of an applet that is kept as an output.
const JSON: &str = "application/json";

/// An applet that was just shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownApplet {
    /// As it is now.
    pub applet: Applet,
    /// As it is kept with the session.
    pub output: OutputRow,
}

impl Engine {
    /// Shows a new applet in a session, in place of the session's own that nobody saved.
    pub async fn show_new_applet(
        &self,
        session: SessionId,
        content: AppletContent,
        title: String,
        asker: Asker,
    ) -> Result<ShownApplet, AppletError> {
        if !is_applet_line(&title) {
            return Err(AppletError::NotALine { what: "title" });
        }
        let turn = self.turn_to_show_in(session).await?;
        let new = NewApplet {
            name: title,
            description: String::new(),
            content,
            per_session: false,
            params: BTreeMap::new(),
            agent_usage: None,
            state_schema: None,
        };
        let name = AppletName::Shown(session);
        let before = match self.shared.applet(&name).await {
            Ok(applet) => Before::Applet(Box::new(applet)),
            Err(AppletError::NothingShown(_)) => Before::Nothing,
            Err(_) => Before::Unreadable,
        };
        let (applet, _) = self.shared.save_applet(name.clone(), new).await?;
        let shown = self.show(session, turn, applet, BTreeMap::new(), asker).await;
        if shown.is_err() {
            self.shared.put_applet_back(name, before).await;
        }
        shown
    }

    /// Shows an applet that was saved.
    pub async fn show_saved_applet(
        &self,
        session: SessionId,
        slug: AppletSlug,
        params: BTreeMap<String, String>,
        asker: Asker,
    ) -> Result<ShownApplet, AppletError> {
        if !model::are_applet_params(&params) {
            return Err(AppletError::BadParams);
        }
        let turn = self.turn_to_show_in(session).await?;
        let applet = self.shared.applet(&AppletName::Saved(slug)).await?;
        self.show(session, turn, applet, params, asker).await
    }

    async fn show(
        &self,
        session: SessionId,
        turn: Turn,
        applet: Applet,
        params: BTreeMap<String, String>,
        asker: Asker,
    ) -> Result<ShownApplet, AppletError> {
        let (title, slug) = (applet.about.name.clone(), applet.name.slug().cloned());
        let about = AboutOutput { title: Some(title.clone()), slug: slug.clone(), ..AboutOutput::default() };
        let from = Box::new(io::Cursor::new(applet.content.as_json()));
        let shown = OutputShown::Applet { slug, title, params: params.clone() };
        let new = NewOutput { kind: OutputKind::Applet, mime_type: JSON, about, from, scanned: None, shown };
        let output = self.store_output(session, turn, new, asker).await?;
        self.shared.applets.opened.shown(session, OpenApplet { name: applet.name.clone(), params });
        Ok(ShownApplet { applet, output })
    }

    /// Saves a session's active applet with its state, and makes the saved one active. Also says whether there was none of that slug.
    pub async fn save_shown_applet(
        &self,
        session: SessionId,
        slug: AppletSlug,
        name: String,
        description: String,
        asker: Asker,
    ) -> Result<(Applet, bool), AppletError> {
        let turn = self.turn_to_show_in(session).await?;
        let shown = self.applet_meant(session).await?.ok_or(AppletError::NothingShown(session))?.applet;
        let applet = self.shared.applet(&shown.name).await?;
        let state = self.shared.state_of(&shown.name, Some(session)).await?;
        let target = AppletName::Saved(slug.clone());
        let description = match self.shared.applet(&target).await {
            Ok(before) if description.is_empty() && !before.bundled => before.about.description,
            _ => description,
        };
        let new = NewApplet { name: name.clone(), description, ..applet.into() };
        let (applet, is_new) = self.shared.save_applet(target.clone(), new).await?;
        if target != shown.name && state.version > 0 {
            let change = super::StateChange::Replace((*state.state).clone());
            let write = super::StateWrite { change, version: None, writer: None };
            self.set_applet_state(&target, Some(session), write).await?;
        }
        let saved = InputKind::InTurn { turn, command: Command::SaveApplet { slug, name } };
        self.submit_input::<()>(session, saved, asker).await?;
        self.shared.applets.opened.shown(session, OpenApplet { name: target, params: shown.params });
        Ok((applet, is_new))
    }

    /// A session's active applet; where this run of the server knows none, the one that its log says was shown last.
    pub async fn applet_meant(&self, session: SessionId) -> Result<Option<ActiveApplet>, AppletError> {
        if let Some(active) = self.active_applet(session) {
            return Ok(Some(active));
        }
        let (mut after, mut newest) = (Seq::START, None);
        loop {
            let page = self.outputs(session, after, OUTPUTS_AT_ONCE).await?;
            let Some(last) = page.last() else { break };
            after = last.stored_seq;
            newest = page.into_iter().rfind(|row| row.output.kind == OutputKind::Applet).or(newest);
        }
        let Some(row) = newest else { return Ok(None) };
        let name = row.output.about.slug.map_or(AppletName::Shown(session), AppletName::Saved);
        // The entry with its params follows that of its bytes.
        let behind = self.shared.store.read_session(session, row.stored_seq, 1).await.map_err(QueryError::Read)?;
        let params = behind.into_iter().find_map(|entry| match entry.event {
            SessionEvent::AppletShown { params, .. } => Some(params),
            _ => None,
        });
        self.shared.applets.opened.shown(session, OpenApplet { name, params: params.unwrap_or_default() });
        Ok(self.active_applet(session))
    }

    /// An applet as it was when a session showed it.
    pub async fn applet_of_output(&self, row: &OutputRow) -> Result<AppletContent, AppletError> {
        if row.output.kind != OutputKind::Applet {
            return Err(OutputError::NotFound(row.id).into());
        }
        let most = usize::try_from(row.bytes).unwrap_or(usize::MAX).min(8 * super::MAX_APPLET_BYTES);
        let bytes = self.read_output(row, 0, most).await?;
        serde_json::from_slice(&bytes).map_err(|_| OutputError::Gone(row.id).into())
    }
}

/// What was in the place of a session's own applet before another one was written there.
enum Before {
    Applet(Box<Applet>),
    Nothing,
    /// It can not be put back; its state stays.
    Unreadable,
}

impl Shared {
    /// Puts the session's own applet back after the one in its place could not be shown.
    async fn put_applet_back(self: &Arc<Self>, name: AppletName, before: Before) {
        let put_back = match before {
            Before::Applet(before) => self.save_applet(name.clone(), (*before).into()).await.map(drop),
            Before::Nothing => self.remove_applet_files(&name).await.map(drop),
            Before::Unreadable => Ok(()),
        };
        if let Err(err) = put_back {
            tracing::warn!(applet = %name, error = &err as &dyn std::error::Error, "an applet could not be put back");
        }
    }
}

impl From<Applet> for NewApplet {
    fn from(Applet { about, content, .. }: Applet) -> Self {
        let AppletAbout { name, description, per_session, params, agent_usage, state_schema, .. } = about;
        Self { name, description, content, per_session, params, agent_usage, state_schema }
    }
}

impl OutputShown {
    /// The command that stores an output, and shows it if it is an applet.
    pub(crate) fn command(self, output: model::Output) -> Command {
        let id = output.id;
        let output = Box::new(output);
        match self {
            Self::Alone => Command::StoreOutput(output),
            Self::Applet { slug, title, params } => {
                Command::ShowApplet { output, applet: AppletToShow { output: id, slug, title, params } }
            }
        }
    }
}
