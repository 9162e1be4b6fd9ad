//! What search is compared with: the bare index library, SQLite's own full-text search, and ripgrep.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use rusqlite::{Connection, params};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::{IndexRecordOption, STORED, Schema, TEXT};
use tantivy::{IndexReader, IndexWriter, TantivyDocument, Term};

use super::corpus::Corpus;
use super::{COMMIT_EVERY, LIMIT};
use crate::cost::{children_cpu, own_cpu, thread_cpu};

/// The library with its defaults: its own tokenizer, one field, the text stored. It is only filled.
pub(super) fn fill_bare(folder: &Path, corpus: &Corpus) -> Result<f64> {
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
    Ok((own_cpu()? - before).as_secs_f64())
}

/// The library on the index that ours made: the same segments and words, the best twenty by their words alone.
pub(super) struct BareTantivy {
    reader: IndexReader,
    text: tantivy::schema::Field,
}

impl BareTantivy {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let index = tantivy::Index::open_in_dir(folder)?;
        let text = index.schema().get_field("text")?;
        Ok(Self { reader: index.reader()?, text })
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
        let found = self.reader.searcher().search(&query, &TopDocs::with_limit(LIMIT).order_by_score())?;
        ensure!(!found.is_empty(), "{typed:?} is not found");
        Ok(found.len())
    }
}

/// SQLite's own, without the texts. Every setting makes filling faster: by default it flushes each megabyte as a
/// segment of its own and merges them again and again, which at a million pieces takes most of an hour.
pub(super) struct Fts5(Connection);

impl Fts5 {
    /// Fills it, for no longer than `limit`; returns how many pieces it holds.
    pub(super) fn fill(path: &Path, corpus: &Corpus, limit: Duration) -> Result<(Self, usize)> {
        let mut connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = OFF;
             PRAGMA synchronous = OFF;
             PRAGMA cache_size = -262144;
             CREATE VIRTUAL TABLE pieces USING fts5(text, content = '');
             INSERT INTO pieces(pieces, rank) VALUES ('hashsize', 67108864);
             INSERT INTO pieces(pieces, rank) VALUES ('automerge', 8);",
        )?;
        let (before, mut held) = (thread_cpu(), 0);
        let transaction = connection.transaction()?;
        {
            let mut insert = transaction.prepare("INSERT INTO pieces(rowid, text) VALUES (?, ?)")?;
            while held < corpus.len() && thread_cpu() - before < limit {
                insert.execute(params![held as i64 + 1, corpus.text(held)])?;
                held += 1;
            }
        }
        transaction.commit()?;
        Ok((Self(connection), held))
    }

    pub(super) fn search(&self, class: &str, typed: &str) -> Result<usize> {
        let typed = typed.trim();
        let expression = if class == "beginning of a word" { format!("{typed}*") } else { typed.to_owned() };
        let mut select =
            self.0.prepare_cached("SELECT rowid FROM pieces WHERE pieces MATCH ? ORDER BY rank LIMIT 20")?;
        let rows = select.query_map([expression], |row| row.get::<_, i64>(0))?;
        Ok(rows.collect::<Result<Vec<i64>, _>>()?.len())
    }
}

pub(super) mod ripgrep {
    //! Files of a thousand texts each, read from memory after the first time.

    use std::io::{BufWriter, Write as _};
    use std::process::Command;

    use anyhow::Context as _;

    use super::{Corpus, Duration, Path, Result, children_cpu, ensure, fs};

    const TEXTS_OF_A_FILE: usize = 1_000;

    /// Writes the files.
    pub(in super::super) fn write(folder: &Path, corpus: &Corpus) -> Result<()> {
        fs::create_dir_all(folder)?;
        for from in (0..corpus.len()).step_by(TEXTS_OF_A_FILE) {
            let mut file = BufWriter::new(fs::File::create(folder.join(format!("{from}.txt")))?);
            for number in from..(from + TEXTS_OF_A_FILE).min(corpus.len()) {
                writeln!(file, "{}", corpus.text(number))?;
            }
        }
        Ok(())
    }

    /// Its CPU time divided by the number of cores: what it would take with all of them to itself.
    pub(in super::super) fn search(program: &Path, folder: &Path, typed: &str) -> Result<Duration> {
        let wanted = typed.trim().trim_matches('"');
        let before = children_cpu()?;
        let found =
            Command::new(program).args(["-i", "-F", "-c", wanted]).arg(folder).output().context("could not run rg")?;
        ensure!(found.status.code().is_some_and(|code| code <= 1), "rg failed");
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Ok((children_cpu()? - before) / u32::try_from(cores)?)
    }
}
