//! What successful results proved: the values of each fact, and for each value the call that proved it last.
//!
//! Invariant: a value is there once, in the order of its first evidence. A list keeps the newest [`MAX_FACT_VALUES`] and
//! counts them all; a single value is the one that was proved last.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limits::MAX_FACT_VALUES;
use crate::{Seq, Timestamp, Turn};

/// The facts that the built-in rules can prove; each is shown even before it is.
pub const DECLARED_FACTS: [(&str, FactShape); 8] = [
    ("branch", FactShape::Single),
    ("commands", FactShape::List),
    ("filesCreated", FactShape::List),
    ("filesDeleted", FactShape::List),
    ("filesEdited", FactShape::List),
    ("filesRead", FactShape::List),
    ("ports", FactShape::List),
    ("urls", FactShape::List),
];

/// How many values a fact has at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactShape {
    /// Many, each once.
    #[default]
    List,
    /// The one that was proved last.
    Single,
}

/// One thing that a result proves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// What it is a fact of, such as `filesEdited`.
    pub name: String,
    /// How many values such a fact has.
    #[serde(default)]
    pub shape: FactShape,
    /// What was proved.
    pub value: String,
    /// The rule that proved it, by the hash of what it says.
    pub rule: String,
    /// With what a command ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// What the file was like then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FileStamp>,
}

/// What a file was like at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FileStamp {
    /// When it was last changed.
    pub modified_at: Timestamp,
    /// How long it was.
    pub bytes: u64,
    /// SHA-256 of it in hex, unless it was too long to be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// Where a fact was proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Evidence {
    /// In which turn.
    pub turn: Turn,
    /// By which of its calls.
    pub tool: u32,
    /// The entry that ended the call.
    pub entry: Seq,
}

/// A value with its newest evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedFact {
    /// Which of the fact's values it is, counted from 1 by first evidence.
    pub nth: u32,
    /// What was proved.
    pub value: String,
    /// Where it was proved last.
    pub evidence: Evidence,
    /// With what the command ended.
    pub exit_code: Option<i32>,
    /// What the file was like.
    pub file: Option<FileStamp>,
}

/// The values of one fact.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactList {
    /// Whether it is a single value.
    pub shape: FactShape,
    /// How many values there have been. One that was proved again after it was pushed out counts twice.
    pub count: u32,
    /// The newest ones, in the order of their first evidence.
    pub newest: Vec<ProvedFact>,
}

/// All facts, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts(BTreeMap<String, FactList>);

impl Facts {
    /// Takes in what a result proved.
    pub(crate) fn put(&mut self, fact: &Fact, evidence: Evidence) {
        let Fact { name, shape, value, rule: _, exit_code, file } = fact;
        let list = self.0.entry(name.clone()).or_default();
        list.shape = *shape;
        let room = match shape {
            FactShape::List => MAX_FACT_VALUES,
            FactShape::Single => 1,
        };
        let known = list.newest.iter().position(|known| known.value == *value);
        let nth = known.map_or(list.count + 1, |at| list.newest[at].nth);
        let put = ProvedFact { nth, value: value.clone(), evidence, exit_code: *exit_code, file: file.clone() };
        match known {
            Some(at) => list.newest[at] = put,
            None => {
                list.count += 1;
                list.newest.push(put);
            }
        }
        let oldest = list.newest.iter().enumerate().min_by_key(|(_, known)| known.evidence.entry).map(|(at, _)| at);
        if let Some(at) = oldest.filter(|_| list.newest.len() > room) {
            list.newest.remove(at);
        }
    }

    /// Takes up a value as it was kept.
    pub fn restore(&mut self, name: String, shape: FactShape, fact: ProvedFact) {
        let list = self.0.entry(name).or_default();
        list.shape = shape;
        list.count = list.count.max(fact.nth);
        list.newest.push(fact);
        list.newest.sort_by_key(|fact| fact.nth);
    }

    /// One fact's values; `None` if nothing was proved yet.
    pub fn find(&self, name: &str) -> Option<&FactList> {
        self.0.get(name)
    }

    /// All that was proved, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &FactList)> {
        self.0.iter().map(|(name, list)| (name.as_str(), list))
    }

    /// Nothing was proved yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FactList {
    /// The values, most recently proved first.
    pub fn most_recent(&self) -> impl Iterator<Item = &ProvedFact> {
        let mut recent: Vec<_> = self.newest.iter().collect();
        recent.sort_by_key(|fact| (std::cmp::Reverse(fact.evidence.entry), std::cmp::Reverse(fact.nth)));
        recent.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(facts: &mut Facts, shape: FactShape, value: &str, entry: u64) {
        let fact = Fact {
            name: "f".to_owned(),
            shape,
            value: value.to_owned(),
            rule: "r".to_owned(),
            exit_code: None,
            file: None,
        };
        facts.put(&fact, Evidence { turn: Turn(1), tool: 1, entry: Seq(entry) });
    }

    fn values(facts: &Facts) -> Vec<&str> {
        facts.find("f").unwrap().newest.iter().map(|fact| fact.value.as_str()).collect()
    }

    #[test]
    fn a_list_is_a_union_in_the_order_of_first_proofs() {
        let mut facts = Facts::default();
        for (n, value) in ["a", "b", "a", "c"].into_iter().enumerate() {
            put(&mut facts, FactShape::List, value, n as u64 + 1);
        }
        assert_eq!(values(&facts), ["a", "b", "c"]);
        let recent: Vec<_> = facts.find("f").unwrap().most_recent().map(|fact| fact.value.as_str()).collect();
        assert_eq!(recent, ["c", "a", "b"]);
    }

    #[test]
    fn of_a_single_value_the_last_success_wins() {
        let mut facts = Facts::default();
        put(&mut facts, FactShape::Single, "a", 1);
        put(&mut facts, FactShape::Single, "b", 2);
        assert_eq!(values(&facts), ["b"]);
    }

    #[test]
    fn the_newest_hundred_are_kept_and_all_are_counted_also_after_a_reload() {
        let mut facts = Facts::default();
        for n in 1..=250 {
            put(&mut facts, FactShape::List, &n.to_string(), n);
            if n == 150 {
                put(&mut facts, FactShape::List, "60", 150);
            }
        }
        let list = facts.find("f").unwrap();
        assert_eq!((list.count, list.newest.len()), (250, MAX_FACT_VALUES));
        assert!(values(&facts).contains(&"60") == (150 > 250 - MAX_FACT_VALUES as u64));
        let mut again = Facts::default();
        for fact in list.newest.iter().rev() {
            again.restore("f".to_owned(), FactShape::List, fact.clone());
        }
        assert_eq!(again, facts);
    }
}
