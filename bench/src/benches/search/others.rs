//! The other sides: the index library as it comes, SQLite's own full-text search, and ripgrep.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use rusqlite::Connection;
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::{IndexRecordOption, STORED, Schema, TEXT, Value as _};
use tantivy::snippet::SnippetGenerator;
use tantivy::{IndexReader, IndexWriter, TantivyDocument, Term};

use super::corpus::Corpus;
use super::{COMMIT_EVERY, LIMIT, SNIPPET_CHARS};
use crate::cost::own_cpu;

/// Its own tokenizer, one field, the text stored.
pub(super) struct BareTantivy {
    reader: IndexReader,
    text: tantivy::schema::Field,
}

impl BareTantivy {
    pub(super) fn fill(folder: &Path, corpus: &Corpus) -> Result<(Self, f64)> {
        fs::create_dir_all(folder)?;
        let mut schema = Schema::builder();
        let text = schema.add_text_field("text", TEXT | STORED);
        let index = tantivy::Index::create_in_dir(folder, schema.build())?;
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 60_000_000)?;
        let before = own_cpu()?;
        for number in 0..corpus.len() {
            let mut document = TantivyDocument::new();
            document.add_text(text, corpus.text(number));
            writer.add_document(document)?;
            if number % COMMIT_EVERY == COMMIT_EVERY - 1 {
                writer.commit()?;
            }
        }
        writer.commit()?;
        writer.wait_merging_threads()?;
        let cpu = own_cpu()? - before;
        Ok((Self { reader: index.reader()?, text }, cpu.as_secs_f64()))
    }

    pub(super) fn search(&self, class: &str, typed: &str) -> Result<usize> {
        let term = |word: &str| Term::from_field_text(self.text, word);
        let one = |word: &str| Box::new(TermQuery::new(term(word), IndexRecordOption::WithFreqs)) as Box<dyn Query>;
        let words: Vec<&str> = typed.trim().trim_matches('"').split(' ').collect();
        let query: Box<dyn Query> = match (class, &words[..]) {
            ("beginning of a word", [word]) => Box::new(RegexQuery::from_pattern(&format!("{word}.*"), self.text)?),
            (_, [word]) => one(word),
            ("phrase", words) => Box::new(PhraseQuery::new(words.iter().map(|word| term(word)).collect())),
            (_, words) => Box::new(BooleanQuery::intersection(words.iter().map(|word| one(word)).collect())),
        };
        let searcher = self.reader.searcher();
        let found = searcher.search(&query, &TopDocs::with_limit(LIMIT).order_by_score())?;
        ensure!(!found.is_empty(), "{typed:?} is not found");
        let mut snippets = SnippetGenerator::create(&searcher, query.as_ref(), self.text)?;
        snippets.set_max_num_chars(SNIPPET_CHARS);
        let mut shown = 0;
        for (_, address) in found {
            let document: TantivyDocument = searcher.doc(address)?;
            let text = document.get_first(self.text).and_then(|value| value.as_str()).unwrap_or_default();
            shown += snippets.snippet(text).highlighted().len();
        }
        Ok(shown)
    }
}

pub(super) struct Fts5(Connection);

impl Fts5 {
    pub(super) fn fill(path: &Path, corpus: &Corpus) -> Result<Self> {
        let mut connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = NORMAL;
             CREATE VIRTUAL TABLE pieces USING fts5(text);",
        )?;
        for from in (0..corpus.len()).step_by(COMMIT_EVERY) {
            let transaction = connection.transaction()?;
            {
                let mut insert = transaction.prepare("INSERT INTO pieces(text) VALUES (?)")?;
                for number in from..(from + COMMIT_EVERY).min(corpus.len()) {
                    insert.execute([corpus.text(number)])?;
                }
            }
            transaction.commit()?;
        }
        connection.execute_batch("INSERT INTO pieces(pieces) VALUES ('optimize')")?;
        Ok(Self(connection))
    }

    pub(super) fn search(&self, class: &str, typed: &str) -> Result<usize> {
        let typed = typed.trim();
        let expression = if class == "beginning of a word" { format!("{typed}*") } else { typed.to_owned() };
        let mut select =
            self.0.prepare_cached("SELECT text FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT 20")?;
        let rows = select.query_map([expression], |row| row.get::<_, String>(0))?;
        let texts: Vec<String> = rows.collect::<Result<_, _>>()?;
        ensure!(!texts.is_empty(), "{typed:?} is not found");
        Ok(texts.len())
    }
}

pub(super) mod ripgrep {
    //! Files of a thousand texts each, read from memory after the first time.

    use std::io::{BufWriter, Write as _};
    use std::process::{Command, Stdio};

    use anyhow::Context as _;

    use super::{Corpus, Path, Result, ensure, fs};

    const TEXTS_OF_A_FILE: usize = 1_000;

    /// Writes the files, if it is installed.
    pub(in super::super) fn write(folder: &Path, corpus: &Corpus) -> Result<bool> {
        let version = Command::new("rg").arg("--version").stdout(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            return Ok(false);
        }
        fs::create_dir_all(folder)?;
        for from in (0..corpus.len()).step_by(TEXTS_OF_A_FILE) {
            let mut file = BufWriter::new(fs::File::create(folder.join(format!("{from}.txt")))?);
            for number in from..(from + TEXTS_OF_A_FILE).min(corpus.len()) {
                writeln!(file, "{}", corpus.text(number))?;
            }
        }
        Ok(true)
    }

    pub(in super::super) fn search(folder: &Path, typed: &str) -> Result<usize> {
        let wanted = typed.trim().trim_matches('"');
        let found =
            Command::new("rg").args(["-i", "-F", "-l", wanted]).arg(folder).output().context("could not run rg")?;
        ensure!(found.status.code().is_some_and(|code| code <= 1), "rg failed");
        Ok(found.stdout.len())
    }
}
