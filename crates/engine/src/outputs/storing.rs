//! Stores outputs: the bytes, then the entry that names them; and sweeps bytes that none names.
//!
//! Invariant: bytes whose entry was refused are removed again; those that a crash leaves are swept when the session is settled.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::{
    AboutOutput, AppletSlug, Output, OutputId, OutputKind, OutputRow, OutputsSize, Rejection, Seq, SessionId, Turn,
};
use store::{PayloadError, PayloadKind, PayloadName, PayloadSource};

use crate::outputs::line_range::ScannedLines;
use crate::outputs::{MAX_SCANNED_BYTES, OutputError, OutputSettings, Outputs, OutputsFull, STORED_AT_ONCE};
use crate::requests::InputKind;
use crate::{Asker, Engine, ReadError, Shared, SubmitError};

/// How many of a session's outputs are read at a time.
const ROWS_AT_ONCE: usize = 1_000;

/// What is to be stored.
pub(crate) struct NewOutput {
    pub(crate) kind: OutputKind,
    pub(crate) mime_type: &'static str,
    pub(crate) about: AboutOutput,
    pub(crate) from: PayloadSource,
    /// What was seen of the file's lines, once it has been read.
    pub(crate) scanned: Option<Arc<ScannedLines>>,
    pub(crate) shown: OutputShown,
}

/// What is said of an output beside its bytes.
pub(crate) enum OutputShown {
    /// Nothing more.
    Alone,
    /// It is an applet.
    Applet { slug: Option<AppletSlug>, title: String, params: BTreeMap<String, String> },
}

impl Engine {
    pub(super) fn new_output_id(&self) -> OutputId {
        let random = self.shared.ids.secret_bytes();
        OutputId::from_bytes(*random.first_chunk().expect("a secret has 32 bytes"))
    }

    /// How many bytes another output of the session may have. Others may be stored before it is: what counts is
    /// [`Shared::check_room_for`], asked by the session's task.
    pub(super) async fn room_for_output(&self, id: SessionId) -> Result<u64, OutputError> {
        let settings = &self.shared.outputs.settings;
        let size = self.shared.size_of_payloads(id).await?;
        let left = settings.session_bytes.saturating_sub(size.bytes);
        if size.count >= settings.session_count || left == 0 {
            return Err(OutputError::SessionFull(session_full(size, settings)));
        }
        Ok(settings.max_bytes.min(left))
    }

    /// The turn that runs: what is shown belongs to it and to no later one, however long it takes.
    pub(crate) async fn turn_to_show_in(&self, id: SessionId) -> Result<Turn, OutputError> {
        let running = self.session(id).await?.row.running;
        Ok(running.ok_or(SubmitError::Rejected(Rejection::NoTurnRunning))?.turn)
    }

    pub(crate) async fn store_output(
        &self,
        id: SessionId,
        turn: Turn,
        new: NewOutput,
        asker: Asker,
    ) -> Result<OutputRow, OutputError> {
        // Carried to its end even if the caller hangs up: half of it would leave bytes that nothing names.
        let engine = self.clone();
        let output = self.new_output_id();
        let storing =
            self.shared.tasks.spawn(async move { engine.store_output_now(id, output, new, turn, asker).await });
        storing.await.unwrap_or(Err(SubmitError::Stopping.into()))
    }

    /// Stores an output in its turn, if that still runs.
    pub(super) async fn store_output_now(
        &self,
        id: SessionId,
        output_id: OutputId,
        new: NewOutput,
        turn: Turn,
        asker: Asker,
    ) -> Result<OutputRow, OutputError> {
        let Outputs { settings, storing } = &self.shared.outputs;
        let _turn_to_store = storing.acquire().await.map_err(|_| SubmitError::Stopping)?;
        // Asked again when the entry is written; this spares the bytes of what is refused anyway.
        if self.turn_to_show_in(id).await? != turn {
            return Err(SubmitError::Rejected(Rejection::NoTurnRunning).into());
        }
        let max = self.room_for_output(id).await?;
        let NewOutput { kind, mime_type, mut about, from, scanned, shown } = new;
        let (bytes, sha256) = (0, String::new());
        let mut output = Output {
            id: output_id,
            kind,
            mime_type: mime_type.to_owned(),
            bytes,
            sha256,
            about: AboutOutput::default(),
        };
        let name = PayloadName::of(&output);
        let stored = match settings.payloads.put(id, &name, from, max).await {
            Ok(stored) => stored,
            Err(PayloadError::TooLarge { .. }) if max < settings.max_bytes => {
                let size = self.shared.size_of_payloads(id).await?;
                return Err(OutputError::SessionFull(session_full(size, settings)));
            }
            Err(err) => return Err(err.into()),
        };
        fail::fail_point!("output-stored");
        if kind == OutputKind::Terminal {
            about.lines = Some(stored.lines);
        }
        if let Some(scanned) = scanned {
            let lines = scanned.lines();
            let refused = match about.start_line.filter(|first| *first > 1 && *first > lines) {
                _ if scanned.ended_in_range() => Some(OutputError::LinesTooFar { max_bytes: MAX_SCANNED_BYTES, lines }),
                Some(start_line) => Some(OutputError::NoSuchLine { start_line, lines }),
                None => None,
            };
            if let Some(err) = refused {
                settings.payloads.remove(id, &name).await?;
                return Err(err);
            }
            (about.lines, about.total_lines) = (Some(stored.lines), scanned.total());
        }
        (output.bytes, output.sha256, output.about) = (stored.bytes, stored.sha256, about);
        let in_turn = InputKind::InTurn { turn, command: shown.command(output) };
        if let Err(err) = self.submit_input::<()>(id, in_turn, asker).await {
            // A write that could not be confirmed may be in the log all the same.
            if matches!(err, SubmitError::Rejected(_) | SubmitError::NotFound(_) | SubmitError::OutputsFull(_)) {
                settings.payloads.remove(id, &name).await?;
            }
            return Err(err.into());
        }
        self.output(id, output_id).await
    }
}

impl Shared {
    /// Whether a session may have one more output, of so many bytes. Outputs are stored by the session's task alone, so what it
    /// finds here holds until it has appended.
    pub(crate) async fn check_room_for(&self, id: SessionId, bytes: u64) -> Result<(), SubmitError> {
        let settings = &self.outputs.settings;
        let size = self.size_of_payloads(id).await?;
        if size.count >= settings.session_count || size.bytes.saturating_add(bytes) > settings.session_bytes {
            return Err(SubmitError::OutputsFull(session_full(size, settings)));
        }
        Ok(())
    }

    /// How many outputs a session has, and how many bytes with what is too long for its entries.
    async fn size_of_payloads(&self, id: SessionId) -> Result<OutputsSize, ReadError> {
        let mut size = self.store.outputs_size(id).await?;
        size.bytes += self.store.bodies_size(id).await?;
        Ok(size)
    }

    /// Removes bytes that no entry names: those of an output that was being stored when the server was killed. Outputs are
    /// stored while a turn runs, so the sessions in which one ran are all that have to be looked at.
    pub(crate) async fn sweep_outputs(&self, id: SessionId) {
        // While an output is stored, its bytes are there before the entry that names them.
        let Ok(_nothing_is_stored) = self.outputs.storing.acquire_many(STORED_AT_ONCE as u32).await else { return };
        let mut kept = Vec::new();
        let mut after = Seq::START;
        loop {
            // What is there can not be known otherwise, so nothing is removed.
            let Ok(rows) = self.store.outputs(id, after, ROWS_AT_ONCE).await else { return };
            kept.extend(rows.iter().map(|row| PayloadName::of(&row.output)));
            match rows.last() {
                Some(last) if rows.len() == ROWS_AT_ONCE => after = last.stored_seq,
                Some(_) | None => break,
            }
        }
        match self.outputs.settings.payloads.sweep(id, PayloadKind::Output, kept).await {
            Ok(0) => (),
            Ok(removed) => tracing::info!(session = %id, removed, "bytes that no output names were removed"),
            Err(err) => {
                let error = &err as &dyn std::error::Error;
                tracing::warn!(session = %id, error, "bytes that no output names could not be looked for");
            }
        }
    }
}

fn session_full(size: OutputsSize, settings: &OutputSettings) -> OutputsFull {
    OutputsFull {
        count: size.count,
        bytes: size.bytes,
        max_count: settings.session_count,
        max_bytes: settings.session_bytes,
    }
}
