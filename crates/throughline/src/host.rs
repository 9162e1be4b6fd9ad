//! The wiring of store, copies, engine and server on one data folder, for the server itself and for a command that
//! finds none running.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agents::history::Places;
use agents::process;
use agents::provider::Provider;
use anyhow::{Context as _, Result, bail};
use engine::{Clock as _, Engine, IdSource as _, Seams, Summarising, SystemClock, SystemIds, TokenSecret, TokenWish};
use model::{Incarnation, TokenKind};
use server::{Apps, ServerSettings, wire};
use store::copies::{BesideError, CopiesFound, open_beside};
use store::outside::StoreFile;
use store::{Copies, OpenError, PayloadFolder, RESERVE_BYTES, SqliteStore};
use tokio_util::sync::CancellationToken;
use tracing::Level;

use crate::agency;
use crate::config::Config;
use crate::data_dir::{DATA_DIR_VARIABLE, DataDir, write_private};
use crate::incoming;
use crate::terminal::{self, counted};

/// The folder of the tour, among the files of the person and the agents.
const TOUR: &str = "tour";
/// The time limit for ending what earlier agents have left.
const LEFTOVERS_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Host {
    pub(crate) store: Arc<SqliteStore>,
    pub(crate) engine: Engine,
}

/// What a folder is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// For the server: everything that is configured has to work.
    Serving,
    /// For one command without a server: what it does not need may be missing.
    OneCommand,
}

/// The address of sign-in links.
#[derive(Debug, Clone)]
pub(crate) struct LinkAddress {
    pub(crate) url: String,
    /// Whether only this machine reaches it.
    pub(crate) local_only: bool,
}

impl Host {
    /// Opens the folder. The lock on the store makes this process its only owner.
    pub(crate) async fn open(data: &DataDir, config: &Config, purpose: Purpose) -> Result<Self> {
        data.prepare()?;
        let summarising = match (summarising(config), purpose) {
            (Err(err), Purpose::OneCommand) => {
                terminal::remark(&format!("no model is asked for summaries: {err:#}"));
                None
            }
            (found, _) => found?,
        };
        let copies = Copies::at(data.sessions());
        let opened = open_beside(&data.database(), RESERVE_BYTES, &copies, SystemClock.now(), new_incarnation).await;
        let advice = "`throughline token link` prints a sign-in link for it";
        let (store, found) = opened.map_err(|err| match err {
            BesideError::Open(err) => explain(err, data, advice),
            err => err.into(),
        })?;
        log_found(&found, &copies);
        end_leftovers(data).await?;
        sweep_incoming(data);
        let store = Arc::new(store);
        let seams = Seams {
            clock: Arc::new(SystemClock),
            ids: Arc::new(SystemIds),
            home: home(),
            copies: Some(copies),
            agency: agency::open(config, data)?,
            summarising,
            search: Some(data.search()),
            history: places(),
            usage: config.usage_settings()?,
            outputs: config.output_settings(Arc::new(PayloadFolder::at(data.sessions()))),
        };
        let engine = Engine::start(Arc::clone(&store) as Arc<dyn store::Store>, seams).await?;
        Ok(Self { store, engine })
    }

    /// All routes behind all guards.
    pub(crate) fn apps(
        &self,
        config: &Config,
        data: &DataDir,
        configuration: wire::Settings,
        stopping: CancellationToken,
    ) -> Result<Apps> {
        let token_file = data.token();
        let settings = ServerSettings {
            hosts: config.hosts()?,
            limits: config.limits(),
            secure_cookie: config.server.tls.is_some() || config.server.behind_proxy,
            url: configuration.url.clone(),
            local_only: configuration.local_only,
            directory: std::env::current_dir().ok().and_then(|cwd| cwd.into_os_string().into_string().ok()),
            tour_directory: tour_directory(data),
            incoming: data.incoming(),
            configuration,
            keep_token: Box::new(move |secret| write_private(&token_file, secret.expose().as_bytes())),
            all_sessions: config.all_sessions(),
            specs_label: config.page.specs_label.clone(),
            stopping,
        };
        Ok(server::apps(self.engine.clone(), settings))
    }

    /// Makes sure that the token file holds a valid token.
    pub(crate) async fn keep_token_file(&self, data: &DataDir) -> Result<()> {
        let path = data.token();
        let kept = fs::read_to_string(&path).ok().map(|text| TokenSecret::new(text.trim()));
        if kept.is_some_and(|secret| self.engine.tokens().find(&secret, None).is_some()) {
            return Ok(());
        }
        let wish = TokenWish { kind: TokenKind::Person, name: "token file".to_owned(), session: None };
        let issued = self.engine.issue_token(wish).await?;
        write_private(&path, issued.secret.expose().as_bytes())
            .with_context(|| format!("could not write {}", path.display()))
    }

    pub(crate) async fn close(&self) {
        self.engine.shutdown().await;
        self.store.close().await;
    }
}

/// Where the guide may write while it shows somebody around; without one there is no tour.
fn tour_directory(data: &DataDir) -> Option<String> {
    let folder = data.path().join(agency::FILES).join(TOUR);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    folder.into_os_string().into_string().ok()
}

/// Ends what agents of earlier owners of the folder have left. We own the folder by now, and no agent is started yet.
async fn end_leftovers(data: &DataDir) -> Result<()> {
    let folder = process::Folder::of(data.path()).context("the data folder can not be looked at")?;
    let ended = tokio::task::spawn_blocking(move || process::end_leftovers(&folder, LEFTOVERS_LIMIT)).await?;
    if ended > 0 {
        log_or_print(Level::WARN, &format!("{ended} processes that agents had left running were ended"));
    }
    Ok(())
}

/// Removes the bundles that killed imports have left.
fn sweep_incoming(data: &DataDir) {
    match incoming::sweep(&data.incoming()) {
        Ok(0) => (),
        Ok(swept) => {
            let what =
                counted(swept as u64, "bundle that an import had left was", "bundles that imports had left were");
            log_or_print(Level::INFO, &format!("{} removed", what.unwrap_or_default()));
        }
        // What stays only takes room.
        Err(err) => {
            log_or_print(Level::WARN, &format!("what imports have left in incoming/ could not be removed: {err}"));
        }
    }
}

/// The model that writes summaries and titles, if one is configured.
fn summarising(config: &Config) -> Result<Option<Summarising>> {
    let Some(settings) = config.summaries.provider(&agency::own_environment())? else { return Ok(None) };
    let provider = Provider::new(settings).context("the model of [summaries] can not be asked")?;
    Ok(Some(Summarising { provider, daily_calls: config.summaries.daily_calls, titles: config.summaries.titles }))
}

/// The folders in which other tools leave their records: from their own variables, else the usual ones.
fn places() -> Option<Places> {
    let environment = agency::own_environment();
    let folder = |name: &str| environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    Some(Places {
        home: home()?,
        claude: folder("CLAUDE_CONFIG_DIR"),
        codex: folder("CODEX_HOME"),
        data: folder("XDG_DATA_HOME"),
        opencode: folder("OPENCODE_DB"),
        gemini: folder("GEMINI_CLI_HOME"),
        goose: folder("GOOSE_PATH_ROOT"),
        qwen: folder("QWEN_HOME"),
        kimi: folder("KIMI_CODE_HOME"),
        copilot: folder("COPILOT_HOME"),
    })
}

/// The incarnation of a store that is about to be made.
pub(crate) fn new_incarnation() -> Incarnation {
    let secret = SystemIds.secret_bytes();
    let bits = secret.first_chunk().expect("a secret has 32 bytes");
    Incarnation::from_bits(u64::from_le_bytes(*bits))
}

/// Reports what was wrong with the copies: to the server's log or, where there is none, to the person.
fn log_found(found: &CopiesFound, copies: &Copies) {
    match found {
        CopiesFound::Nothing => (),
        CopiesFound::Empty(hydrated) => {
            let (sessions, folder) = (hydrated.sessions, copies.path().display());
            let restored = if sessions == 1 { "1 session was".to_owned() } else { format!("{sessions} sessions were") };
            let text = format!("the database was empty; {restored} restored from the copies in {folder}");
            log_or_print(Level::INFO, &text);
            for skipped in &hydrated.skipped {
                let (session, why) = (skipped.session, &skipped.why);
                let text = format!("session {session} was not restored: {why}; its folder is left as it is");
                log_or_print(Level::WARN, &text);
            }
        }
        CopiesFound::Loss { moved_to } => {
            let text = format!(
                "the database stands at an older state than the copies of its sessions, or at another: entries were \
                 lost, as when throughline.db-wal is removed or an old file is put back. The copies may be all that is left of them \
                 and were moved to {}; new ones are written from what the database has",
                moved_to.display()
            );
            log_or_print(Level::ERROR, &text);
        }
        CopiesFound::Unknown(err) => {
            let cause = std::error::Error::source(err).map_or_else(String::new, |source| format!(": {source}"));
            let text = format!(
                "{err}{cause}; whether the database has lost entries that the copies know of could not be seen, and no \
                 copy is written while that is so"
            );
            log_or_print(Level::ERROR, &text);
        }
    }
}

fn log_or_print(level: Level, text: &str) {
    if !tracing::dispatcher::has_been_set() {
        terminal::remark(text);
    } else if level == Level::ERROR {
        tracing::error!("{text}");
    } else if level == Level::WARN {
        tracing::warn!("{text}");
    } else {
        tracing::info!("{text}");
    }
}

/// Opens the store's file for reading, whether or not a server runs.
pub(crate) fn open_store_file(data: &DataDir) -> Result<StoreFile> {
    let path = data.database();
    match StoreFile::open(&path) {
        Err(OpenError::Io { .. }) if !path.exists() => bail!("there is no store in {} yet", data.path().display()),
        opened => Ok(opened?),
    }
}

/// Says who has the store open, and what to do about it.
pub(crate) fn explain(err: OpenError, data: &DataDir, advice: &str) -> anyhow::Error {
    let in_use = matches!(err, OpenError::InUse { .. });
    let err = anyhow::Error::new(err);
    match data.read_server_file().filter(|_| in_use) {
        Some(running) => err.context(format!(
            "a server already runs on {} at {} (pid {}); {advice}",
            data.path().display(),
            running.url,
            running.pid
        )),
        None if in_use => err.context("another throughline command is at work there; try again when it is done"),
        None => err,
    }
}

/// The data folder that the environment names.
#[expect(clippy::disallowed_methods, reason = "the binary reads the environment")]
pub(crate) fn data_dir_of_environment() -> Option<PathBuf> {
    std::env::var_os(DATA_DIR_VARIABLE).map(PathBuf::from)
}

/// The person's home directory.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary reads the environment, here and in the command line's own `env`"
)]
pub(crate) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute() && home != Path::new("/"))
}
