//! The text of `config.toml`: where each key is written and how, and the line that changes it.

use std::borrow::Cow;
use std::ops::Range;

use server::wire::{ChangePlace, SettingChange};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::hidden;

/// How the file writes a key or a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `[server]`.
    Header,
    /// `[server.tls]`: there is a section below this one, and no header of its own.
    Above,
    /// `server.listen = …`.
    Dotted,
}

/// The file with the lines of its keys.
pub(super) struct SourceText<'a> {
    text: &'a str,
    table: DeTable<'a>,
}

impl<'a> SourceText<'a> {
    /// A text that is no TOML has no keys: the server does not start with one.
    pub(super) fn new(text: &'a str) -> Self {
        let table = DeTable::parse(text).map(Spanned::into_inner).unwrap_or_default();
        Self { text, table }
    }

    /// A key's own name and its value, where they are written.
    fn find(&self, path: &[&str]) -> Option<(&Spanned<Cow<'a, str>>, &Spanned<DeValue<'a>>)> {
        let (name, parents) = path.split_last()?;
        let mut table = &self.table;
        for parent in parents {
            let (_, value) = table.iter().find(|(key, _)| key.get_ref() == parent)?;
            let DeValue::Table(inner) = value.get_ref() else { return None };
            table = inner;
        }
        table.iter().find(|(key, _)| key.get_ref() == name)
    }

    /// Where the line begins in which the byte is.
    fn line_start(&self, byte: usize) -> usize {
        self.text.get(..byte).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
    }

    /// The line of a key or a section, from 1.
    pub(super) fn line_of(&self, path: &[&str]) -> Option<usize> {
        let before = self.text.as_bytes().get(..self.find(path)?.0.span().start)?;
        Some(before.iter().filter(|byte| **byte == b'\n').count() + 1)
    }

    /// The line of a key up to its value, as it is written.
    pub(super) fn before_value(&self, path: &[&str]) -> &str {
        let Some((_, value)) = self.find(path) else { return "" };
        let start = value.span().start;
        self.text.get(self.line_start(start)..start).unwrap_or_default()
    }

    /// The line of a key up to the end of its name, as it is written.
    pub(super) fn up_to_name(&self, path: &[&str]) -> &str {
        let Some((name, _)) = self.find(path) else { return "" };
        let Range { start, end } = name.span();
        self.text.get(self.line_start(start)..end).unwrap_or_default()
    }

    /// How a key or a section is written, if it is.
    pub(super) fn form_of(&self, path: &[&str]) -> Option<Form> {
        let line = self.text.lines().nth(self.line_of(path)? - 1)?;
        if !line.trim_start().starts_with('[') {
            return Some(Form::Dotted);
        }
        let header = DeTable::parse(line).map(Spanned::into_inner).unwrap_or_default();
        Some(if names_of(&header) == path { Form::Header } else { Form::Above })
    }

    /// How a key changes that is in a table of one line, or would be: the table is written whole, with its other keys.
    pub(super) fn change_within(&self, path: &[&str], printed: &toml::Table, example: &str) -> Option<SettingChange> {
        let is_inline = |value: &Spanned<DeValue<'_>>| {
            matches!(value.get_ref(), DeValue::Table(_)) && self.text.as_bytes().get(value.span().start) == Some(&b'{')
        };
        let length =
            (1..path.len()).find(|length| self.find(&path[..*length]).is_some_and(|(_, value)| is_inline(value)))?;
        let (outer, inner) = path.split_at(length);
        let (_, written) = self.find(outer)?;
        let DeValue::Table(written) = written.get_ref() else { return None };
        let mut table = kept(find(printed, outer)?.as_table()?, written);
        if find(&table, inner).is_none() {
            let set = find(printed, path).cloned();
            let value = set.or_else(|| format!("value = {example}").parse::<toml::Table>().ok()?.remove("value"))?;
            put(&mut table, inner, value);
        }
        let text = toml::Value::Table(table).to_string().replace(hidden::SHOWN, "…");
        let line = self.line_of(outer)?;
        Some(SettingChange {
            text: format!("{}{text}", self.before_value(outer)),
            place: ChangePlace::Replace { line },
        })
    }
}

/// The names of a header, from the outermost on.
fn names_of<'a>(header: &'a DeTable<'_>) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut table = header;
    while let Some((name, value)) = table.iter().next() {
        names.push(name.get_ref().as_ref());
        let DeValue::Table(inner) = value.get_ref() else { break };
        table = inner;
    }
    names
}

/// Of what is in force, what the file has written; the rest is as it is by default.
fn kept(printed: &toml::Table, written: &DeTable<'_>) -> toml::Table {
    let keep = |(name, value): (&String, &toml::Value)| {
        let (_, written) = written.iter().find(|(key, _)| key.get_ref() == name)?;
        Some((
            name.clone(),
            match (value, written.get_ref()) {
                (toml::Value::Table(value), DeValue::Table(written)) => toml::Value::Table(kept(value, written)),
                _ => value.clone(),
            },
        ))
    };
    printed.iter().filter_map(keep).collect()
}

fn put(table: &mut toml::Table, path: &[&str], value: toml::Value) {
    match path {
        [name] => drop(table.insert((*name).to_owned(), value)),
        [name, rest @ ..] => {
            let inner = table.entry(*name).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            if let toml::Value::Table(inner) = inner {
                put(inner, rest, value);
            }
        }
        [] => (),
    }
}

/// A value by its names from the outermost table on.
pub(super) fn find<'a>(table: &'a toml::Table, path: &[&str]) -> Option<&'a toml::Value> {
    match path {
        [name] => table.get(*name),
        [name, rest @ ..] => find(table.get(*name)?.as_table()?, rest),
        [] => None,
    }
}

/// A path as TOML writes it.
pub(super) fn dotted(path: &[&str]) -> String {
    path.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(".")
}

/// A name as TOML writes it.
pub(super) fn quoted(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => toml::Value::String(name.to_owned()).to_string(),
    }
}
