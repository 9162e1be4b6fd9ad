//! Sets of marks: the one validator that every door goes through.
//!
//! Invariant: whatever comes in, at most [`MAX_SET_ITEMS`] items are in a set and [`MAX_CONTEXT_ITEMS`] in all of them,
//! each item is one line, no set is empty, and a wish that is refused changes nothing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limits::{MAX_CONTEXT_ITEMS, MAX_ITEM_BYTES, MAX_SET_ITEMS, MAX_SET_NAME_CHARS};

/// The names that mean something to us; others are kept as they are.
const KNOWN: [&str; 4] = ["files", "applet", "endpoints", "ports"];

/// All sets, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sets(BTreeMap<String, Vec<Mark>>);

/// One item of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// What is marked, as it was written.
    pub item: String,
    /// Who marked it first; the person, once they confirmed it.
    pub by: Marker,
}

/// Who marks. A path outside the session's directory is looked at only if the person named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Marker {
    Person,
    Agent,
    Applet,
}

/// How items meet those that are there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SetMode {
    /// They take the set's place; none removes the set.
    #[default]
    Replace,
    /// They follow those that are there.
    Merge,
    /// They are taken out of those that are there.
    Remove,
}

/// What is wanted of the sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextWish {
    /// A change of one set.
    One {
        /// Its name.
        set: String,
        /// The items.
        items: Vec<String>,
        /// How they meet those that are there.
        mode: SetMode,
    },
    /// These sets in place of all others.
    All(BTreeMap<String, Vec<String>>),
}

/// What becomes of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SetChange {
    /// Its name.
    pub set: String,
    /// All of its items now.
    pub items: Vec<String>,
    /// In one word.
    pub outcome: SetOutcome,
    /// Items that found no room.
    pub left_out: Vec<String>,
    /// What whoever asked should know, a sentence each.
    pub warnings: Vec<String>,
}

/// What became of a set, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the words say it")]
pub enum SetOutcome {
    Set,
    Merged,
    Cleared,
    Unchanged,
}

/// Why the sets stay as they are. Each says what would make it pass.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ContextError {
    #[error("the set {set:?} would have {items} items, at most {max} are kept; leave some out", max = MAX_SET_ITEMS)]
    SetFull { set: String, items: usize },
    #[error(
        "the sets would have {items} items together, at most {max} are kept; remove some first",
        max = MAX_CONTEXT_ITEMS
    )]
    ContextFull { items: usize },
    #[error(
        "a set's name is one line of 1 to {max} characters without control characters or spaces at its ends",
        max = MAX_SET_NAME_CHARS
    )]
    NameInvalid,
    #[error(
        "an item of {set:?} is not one line of 1 to {max} bytes without control characters: {start:?}",
        max = MAX_ITEM_BYTES
    )]
    ItemInvalid { set: String, start: String },
    #[error("an applet is named by small letters, digits and hyphens, at most 64, and {0:?} is not")]
    SlugInvalid(String),
}

impl ContextWish {
    /// What it would change, or why it may not.
    pub fn decide(&self, sets: &Sets) -> Result<Vec<SetChange>, ContextError> {
        match self {
            Self::One { set, items, mode } => Ok(vec![merge_context_set(sets, set, items, *mode)?]),
            Self::All(wanted) => replace_context(sets, wanted),
        }
    }

    /// The items that it names to be in a set, by set.
    pub(crate) fn named(&self) -> Vec<(&str, &[String])> {
        match self {
            Self::One { mode: SetMode::Remove, .. } => Vec::new(),
            Self::One { set, items, mode: SetMode::Replace | SetMode::Merge } => vec![(set, items)],
            Self::All(wanted) => wanted.iter().map(|(set, items)| (set.as_str(), items.as_slice())).collect(),
        }
    }
}

impl Sets {
    /// Takes up a set as it now is. Whoever marked an item first stays its marker.
    pub fn put(&mut self, set: &str, items: &[String], by: Marker) {
        let before = self.0.remove(set).unwrap_or_default();
        let marker = |item: &String| before.iter().find(|mark| mark.item == *item).map_or(by, |mark| mark.by);
        let marks: Vec<_> = items.iter().map(|item| Mark { item: item.clone(), by: marker(item) }).collect();
        self.restore(set.to_owned(), marks);
    }

    /// Takes up a set as it was kept, with its markers.
    pub fn restore(&mut self, set: String, marks: Vec<Mark>) {
        if !marks.is_empty() {
            self.0.insert(set, marks);
        }
    }

    /// A set's marks; none, if there is no such set.
    pub fn marks(&self, set: &str) -> &[Mark] {
        self.0.get(set).map_or(&[], Vec::as_slice)
    }

    /// A set's items; none, if there is no such set.
    pub fn items(&self, set: &str) -> Vec<String> {
        self.marks(set).iter().map(|mark| mark.item.clone()).collect()
    }

    /// All sets, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[Mark])> {
        self.0.iter().map(|(set, marks)| (set.as_str(), marks.as_slice()))
    }

    /// All sets' items, by name.
    pub fn to_map(&self) -> BTreeMap<String, Vec<String>> {
        self.0.keys().map(|set| (set.clone(), self.items(set))).collect()
    }

    /// Nothing is marked.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn count_besides(&self, set: &str) -> usize {
        self.0.iter().filter(|(name, _)| *name != set).map(|(_, marks)| marks.len()).sum()
    }
}

/// What a change of one set would make of the sets.
pub fn merge_context_set(sets: &Sets, set: &str, items: &[String], mode: SetMode) -> Result<SetChange, ContextError> {
    check_name(set)?;
    check_items(set, items)?;
    let before = sets.items(set);
    let change = |items: Vec<String>, outcome, left_out| {
        let warnings = warnings(set, &items);
        Ok(SetChange { set: set.to_owned(), items, outcome, left_out, warnings })
    };
    let (after, left_out, outcome) = match mode {
        SetMode::Replace if items.is_empty() && before.is_empty() => {
            return change(before, SetOutcome::Unchanged, Vec::new());
        }
        SetMode::Replace if items.is_empty() => return change(Vec::new(), SetOutcome::Cleared, Vec::new()),
        SetMode::Replace if items.len() > MAX_SET_ITEMS => {
            return Err(ContextError::SetFull { set: set.to_owned(), items: items.len() });
        }
        SetMode::Replace => (union(&[], items), Vec::new(), SetOutcome::Set),
        SetMode::Remove => {
            let after: Vec<String> = before.iter().filter(|item| !items.contains(item)).cloned().collect();
            let outcome = if after.is_empty() { SetOutcome::Cleared } else { SetOutcome::Set };
            (after, Vec::new(), outcome)
        }
        SetMode::Merge => {
            let mut after = union(&before, items);
            let left_out = after.split_off(after.len().min(MAX_SET_ITEMS));
            (after, left_out, SetOutcome::Merged)
        }
    };
    let in_all = sets.count_besides(set) + after.len();
    if in_all > MAX_CONTEXT_ITEMS {
        return Err(ContextError::ContextFull { items: in_all });
    }
    let outcome = if after == before { SetOutcome::Unchanged } else { outcome };
    change(after, outcome, left_out)
}

/// What taking `wanted` in place of all sets would change: those that differ, each as it would be.
pub fn replace_context(sets: &Sets, wanted: &BTreeMap<String, Vec<String>>) -> Result<Vec<SetChange>, ContextError> {
    let mut in_all = 0;
    for (set, items) in wanted {
        check_name(set)?;
        check_items(set, items)?;
        if items.len() > MAX_SET_ITEMS {
            return Err(ContextError::SetFull { set: set.clone(), items: items.len() });
        }
        in_all += union(&[], items).len();
    }
    if in_all > MAX_CONTEXT_ITEMS {
        return Err(ContextError::ContextFull { items: in_all });
    }
    let gone = sets.0.keys().filter(|set| !wanted.contains_key(*set)).map(|set| (set, Vec::new()));
    let changes = wanted.iter().map(|(set, items)| (set, union(&[], items))).chain(gone);
    let changes = changes.filter(|(set, items)| sets.items(set) != *items).map(|(set, items)| SetChange {
        set: set.clone(),
        outcome: if items.is_empty() { SetOutcome::Cleared } else { SetOutcome::Set },
        warnings: warnings(set, &items),
        items,
        left_out: Vec::new(),
    });
    Ok(changes.collect())
}

fn union(before: &[String], items: &[String]) -> Vec<String> {
    let mut all = before.to_vec();
    for item in items {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

fn check_name(set: &str) -> Result<(), ContextError> {
    let fits = (1..=MAX_SET_NAME_CHARS).contains(&set.chars().count()) && set.trim() == set;
    if fits && !set.chars().any(breaks_lines) { Ok(()) } else { Err(ContextError::NameInvalid) }
}

fn breaks_lines(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

fn check_items(set: &str, items: &[String]) -> Result<(), ContextError> {
    let is_line =
        |item: &str| !item.trim().is_empty() && item.len() <= MAX_ITEM_BYTES && !item.chars().any(breaks_lines);
    if let Some(item) = items.iter().find(|item| !is_line(item)) {
        let start = item.chars().take(40).collect();
        return Err(ContextError::ItemInvalid { set: set.to_owned(), start });
    }
    match items.first() {
        Some(slug) if set == "applet" && !is_slug(slug) => {
            Err(ContextError::SlugInvalid(slug.chars().take(40).collect()))
        }
        Some(_) | None => Ok(()),
    }
}

fn is_slug(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let ends = text.bytes().next().is_some_and(is_letter) && text.bytes().next_back().is_some_and(is_letter);
    ends && text.len() <= 64 && text.bytes().all(|byte| is_letter(byte) || byte == b'-')
}

/// What is taken all the same, but will not do all that its marker may expect.
fn warnings(set: &str, items: &[String]) -> Vec<String> {
    let odd = |fits: fn(&str) -> bool| items.iter().filter(move |item| !fits(item));
    match set {
        "files" => odd(|item| item.starts_with('/'))
            .map(|item| format!("{item:?} is no absolute path; it is looked for below the session's directory"))
            .collect(),
        "endpoints" => odd(|item| item.starts_with("http://") || item.starts_with("https://"))
            .map(|item| format!("{item:?} is no full address; endpoints begin with http:// or https://"))
            .collect(),
        "ports" => odd(|item| item.parse::<u16>().is_ok_and(|port| port > 0))
            .map(|item| format!("{item:?} is no port number"))
            .collect(),
        "applet" => Vec::new(),
        _ => vec![format!("{set:?} is none of the known sets ({}); it is kept under that name", KNOWN.join(", "))],
    }
}

#[cfg(test)]
mod tests;
