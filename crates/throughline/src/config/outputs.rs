//! The part of `config.toml` about outputs: how much of what agents show is kept, and for how long.
//!
//! Invariant: nothing is removed by age unless the person says after how many days.

use std::sync::Arc;
use std::time::Duration;

use ::agents::embed::Embeds;
use anyhow::{Result, bail};
use engine::OutputSettings;
use serde::{Deserialize, Serialize};
use store::Payloads;

use crate::config::Config;

/// A tebibyte: more is no limit.
const MAX_MB: u64 = 1 << 20;
const MAX_COUNT: u64 = 1_000_000;
/// A hundred years.
const MAX_DAYS: u32 = 36_500;
const MAX_COMMAND_SECONDS: u64 = ::agents::MAX_COMMAND_LIMIT.as_secs();

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OutputsSection {
    /// How large one output may be, in MiB.
    max_mb: u64,
    /// How large those of one session may be all together, in MiB.
    session_mb: u64,
    /// How many one session may have.
    session_count: u64,
    /// After how many days they are removed; never, unless said.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_days: Option<u32>,
    /// Whether agents get long results of our tools as head, tail and marker.
    shape_terminal: bool,
    /// How long a command that is displayed may run.
    command_seconds: u64,
}

impl Default for OutputsSection {
    fn default() -> Self {
        Self {
            max_mb: OutputSettings::MAX_BYTES >> 20,
            session_mb: OutputSettings::SESSION_BYTES >> 20,
            session_count: OutputSettings::SESSION_COUNT,
            keep_days: None,
            shape_terminal: true,
            command_seconds: OutputSettings::COMMAND_LIMIT.as_secs(),
        }
    }
}

impl OutputsSection {
    pub(super) fn check(&self) -> Result<()> {
        let Self { max_mb, session_mb, session_count, keep_days, shape_terminal: _, command_seconds } = *self;
        for (key, value, max) in [
            ("max_mb", max_mb, MAX_MB),
            ("session_mb", session_mb, MAX_MB),
            ("session_count", session_count, MAX_COUNT),
            ("command_seconds", command_seconds, MAX_COMMAND_SECONDS),
        ] {
            if !(1..=max).contains(&value) {
                bail!("outputs.{key} is from 1 to {max}");
            }
        }
        if max_mb > session_mb {
            bail!(
                "outputs.max_mb, {max_mb}, is more than all outputs of a session may have, outputs.session_mb, {session_mb}"
            );
        }
        if keep_days.is_some_and(|days| !(1..=MAX_DAYS).contains(&days)) {
            bail!("outputs.keep_days is from 1 to {MAX_DAYS}; leave it away to keep outputs for ever");
        }
        Ok(())
    }
}

impl Config {
    /// The limits of outputs, whose bytes are kept in `payloads`.
    pub(crate) fn output_settings(&self, payloads: Arc<dyn Payloads>) -> OutputSettings {
        let OutputsSection { max_mb, session_mb, session_count, keep_days, shape_terminal, command_seconds } =
            self.outputs;
        OutputSettings {
            max_bytes: max_mb << 20,
            session_bytes: session_mb << 20,
            session_count,
            keep_days,
            shape_terminal,
            command_limit: Duration::from_secs(command_seconds),
            embeds: Embeds::online(),
            ..OutputSettings::new(payloads)
        }
    }
}

#[cfg(test)]
mod tests {
    use store::MemoryPayloads;

    use super::*;

    fn settings(text: &str) -> OutputSettings {
        Config::parse(text).unwrap().output_settings(Arc::new(MemoryPayloads::default()))
    }

    #[test]
    fn outputs_are_kept_for_ever_and_within_limits_unless_said_otherwise() {
        let kept = settings("");
        assert_eq!((kept.max_bytes, kept.session_bytes, kept.session_count), (100 << 20, 2 << 30, 10_000));
        assert_eq!((kept.keep_days, kept.shape_terminal, kept.command_limit.as_secs()), (None, true, 60));
        let said = settings(
            "[outputs]\nmax_mb = 1\nsession_mb = 5\nsession_count = 7\nkeep_days = 30\nshape_terminal = false\n\
             command_seconds = 600",
        );
        assert_eq!((said.max_bytes, said.session_bytes, said.session_count), (1 << 20, 5 << 20, 7));
        assert_eq!((said.keep_days, said.shape_terminal, said.command_limit.as_secs()), (Some(30), false, 600));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_the_key() {
        for (text, expected) in [
            ("max_mb = 0", "outputs.max_mb is from 1 to 1048576"),
            ("max_mb = -1", "outputs.max_mb"),
            ("max_mb = 9223372036854775807", "outputs.max_mb is from 1"),
            ("session_mb = 2000000", "outputs.session_mb is from 1"),
            ("session_count = 0", "outputs.session_count is from 1 to 1000000"),
            ("session_mb = 50", "outputs.max_mb, 100, is more than"),
            ("keep_days = 0", "outputs.keep_days is from 1 to 36500; leave it away to keep outputs for ever"),
            ("command_seconds = 86401", "outputs.command_seconds is from 1 to 86400"),
            ("shape_terminal = \"no\"", "expected true or false"),
            ("keep_day = 3", "no key outputs.keep_day; did you mean outputs.keep_days?"),
            ("max_size = 3", "no key outputs.max_size; did you mean outputs.max_mb?"),
        ] {
            let err = Config::parse(&format!("[outputs]\n{text}")).unwrap_err();
            assert!(format!("{err:#}").contains(expected), "{text}: {err:#}");
        }
    }
}
