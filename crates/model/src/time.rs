//! An instant as the log keeps it: whole milliseconds since 1970, written as RFC 3339 in UTC.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A wall-clock instant. Order never depends on it: sequences give order, this is only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(value_type = String, format = DateTime))]
pub struct Timestamp(i64);

impl Timestamp {
    /// Milliseconds since 1970. Values that no calendar date has are brought to the nearest one that has.
    pub fn from_millis(millis: i64) -> Self {
        // Whole seconds: the calendar's own ends, in milliseconds, round past them.
        Self(millis.clamp(jiff::Timestamp::MIN.as_second() * 1_000, jiff::Timestamp::MAX.as_second() * 1_000))
    }

    /// Milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// So much later, as far as the calendar goes.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self::from_millis(self.0.saturating_add(millis(by)))
    }

    /// So much earlier, as far as the calendar goes.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self::from_millis(self.0.saturating_sub(millis(by)))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0).expect("construction clamps to the calendar");
        write!(f, "{instant:.3}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let instant: jiff::Timestamp = text.parse().map_err(de::Error::custom)?;
        Ok(Self(instant.as_millisecond()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_with_milliseconds_and_read_back() {
        let at = Timestamp::from_millis(1_763_175_600_007);
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(json, r#""2025-11-15T03:00:00.007Z""#);
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
    }

    #[test]
    fn impossible_instants_are_brought_to_the_calendars_ends() {
        assert!(Timestamp::from_millis(i64::MAX).to_string().starts_with("9999-"));
        assert!(Timestamp::from_millis(i64::MIN).to_string().starts_with("-009999-"));
    }
}
