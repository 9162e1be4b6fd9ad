//! The folder of an index: finds what is there, and throws away what can not be used.
//!
//! Invariant: only folders that are named like ours are touched.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::{Incarnation, Position};
use tantivy::directory::MmapDirectory;
use tantivy::{IndexReader, IndexSettings, ReloadPolicy};

use super::analyzer::{CodeTokenizer, TOKENIZER};
use super::error::guarded;
use super::schema::{Fields, schema};
use super::{SearchError, State};

/// Raised with every change of the schema, the tokenizer or the pieces: an index of another version is rebuilt.
const VERSION: u32 = 1;

pub(super) struct Found {
    pub(super) inner: tantivy::Index,
    pub(super) fields: Fields,
    pub(super) reader: IndexReader,
    pub(super) folder: PathBuf,
    pub(super) state: State,
}

pub(super) fn open(dir: &Path, incarnation: Incarnation) -> Result<Found, SearchError> {
    let folder = dir.join(format!("v{VERSION}"));
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| SearchError::Folder { path, source }
    };
    make_private(dir).map_err(failed(dir))?;
    remove_other_versions(dir, &folder).map_err(failed(dir))?;
    let state = match guarded(|| existing(&folder)) {
        Ok(None) => State::Fresh,
        Ok(Some((inner, reader, payload))) => match read_payload(payload.as_deref()) {
            Some((of, position)) if of == incarnation => {
                let fields = Fields::of(&inner.schema())?;
                return Ok(Found { inner, fields, reader, folder, state: State::Resumed(position) });
            }
            Some(_) => State::Foreign,
            // Made, and never committed to.
            None if reader.searcher().num_docs() == 0 => State::Fresh,
            None => State::Damaged("it does not say how far it reaches".to_owned()),
        },
        Err(SearchError::Damaged { reason }) => State::Damaged(reason),
        Err(error) => return Err(error),
    };
    match fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&folder)(error)),
        Ok(()) | Err(_) => make_private(&folder).map_err(failed(&folder))?,
    }
    let (inner, reader) = guarded(|| {
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let inner = tantivy::Index::create(MmapDirectory::open(&folder)?, schema(), settings)?;
        let reader = prepare(&inner)?;
        Ok((inner, reader))
    })?;
    let fields = Fields::of(&inner.schema())?;
    Ok(Found { inner, fields, reader, folder, state })
}

/// What a commit says about itself.
pub(super) fn payload(incarnation: Incarnation, position: Option<Position>) -> String {
    format!("{incarnation} {}", position.unwrap_or_default().0)
}

fn read_payload(payload: Option<&str>) -> Option<(Incarnation, Position)> {
    let (incarnation, position) = payload?.split_once(' ')?;
    let incarnation = Incarnation::from_bits(u64::from_str_radix(incarnation, 16).ok()?);
    Some((incarnation, Position(position.parse().ok()?)))
}

type Existing = (tantivy::Index, IndexReader, Option<String>);

fn existing(folder: &Path) -> tantivy::Result<Option<Existing>> {
    if !folder.join("meta.json").exists() {
        return Ok(None);
    }
    let inner = tantivy::Index::open(MmapDirectory::open(folder)?)?;
    if inner.schema() != schema() {
        return Err(tantivy::TantivyError::SchemaError("it has other fields".to_owned()));
    }
    let payload = inner.load_metas()?.payload;
    let reader = prepare(&inner)?;
    Ok(Some((inner, reader, payload)))
}

fn prepare(inner: &tantivy::Index) -> tantivy::Result<IndexReader> {
    inner.tokenizers().register(TOKENIZER, CodeTokenizer);
    // Nothing is stored that a cache could hold.
    inner.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(1).try_into()
}

fn remove_other_versions(dir: &Path, ours: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let version = name.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
        if version && path != ours && path.is_dir() {
            fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}

fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
