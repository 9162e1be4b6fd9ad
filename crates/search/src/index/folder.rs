//! The folder of an index: finds what is there, and throws away what can not be used.
//!
//! Invariant: only folders that are named like ours are touched. One index answers; at most one more is filled beside it,
//! and says so in every commit until it takes over, so that a half one is never taken for the whole.

mod place;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::{Incarnation, Position};
use tantivy::directory::MmapDirectory;
use tantivy::schema::Schema;
use tantivy::{IndexReader, IndexSettings, ReloadPolicy, TantivyError};

use super::analyzer::{CodeTokenizer, TOKENIZER};
use super::error::guarded;
use super::schema::{Fields, schema};
use super::{SearchError, State, Trust};

pub(super) use place::Place;
use place::{make_private, places, remove};

/// Lies in the folder while somebody wants the index made anew.
const WANTED: &str = "rebuild";
/// Lies beside an index's files while they hold words of sessions that were removed.
const REMOVED: &str = "removed";

/// What an index is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is searched.
    Answering,
    /// It is filled, and another one is searched meanwhile.
    Beside,
}

/// An index that can be used.
pub(super) struct Ready {
    pub(super) inner: tantivy::Index,
    pub(super) fields: Fields,
    pub(super) reader: IndexReader,
    pub(super) place: Place,
    pub(super) standing: Standing,
    /// Up to where it is true; none if nothing was ever committed to it.
    pub(super) position: Option<Position>,
}

/// What was found or made.
pub(super) struct Shelf {
    pub(super) answering: Ready,
    pub(super) state: State,
    pub(super) beside: Option<Ready>,
}

pub(super) fn open(dir: &Path, incarnation: Incarnation, trust: Trust) -> Result<Shelf, SearchError> {
    make_private(dir).map_err(failed(dir))?;
    let (mut answering, mut beside, mut state) = (None, None, State::Fresh);
    let mut others = Vec::new();
    for place in places(dir).map_err(failed(dir))? {
        let is_of_today = place.is_of_today();
        match look(&place, incarnation, trust)? {
            Seen::Usable(ready) if ready.standing == Standing::Answering && answering.is_none() => {
                answering = Some(*ready);
                continue;
            }
            Seen::Usable(ready) if ready.standing == Standing::Beside && is_of_today && beside.is_none() => {
                beside = Some(*ready);
                continue;
            }
            Seen::Unreadable(reason) if is_of_today => state = State::Damaged(reason),
            Seen::Foreign if is_of_today => state = State::Foreign,
            Seen::Usable(_) | Seen::Unreadable(_) | Seen::Foreign | Seen::Nothing => (),
        }
        others.push(place);
    }
    for place in others {
        remove(&place.path).map_err(failed(&place.path))?;
    }
    // What is half filled is better than nothing, and tells how far it reaches.
    let Some(answering) = answering.or_else(|| beside.take()) else {
        return Ok(Shelf { answering: make(Place::first(dir), Standing::Answering)?, state, beside: None });
    };
    let is_wanted = !answering.place.is_of_today() || is_rebuild_wanted(dir);
    let beside = match beside {
        None if is_wanted => Some(make(answering.place.next(), Standing::Beside)?),
        found => found,
    };
    let state = State::Resumed(answering.position.unwrap_or_default());
    Ok(Shelf { answering: Ready { standing: Standing::Answering, ..answering }, state, beside })
}

/// A folder that is not there is made when an index is opened.
pub(super) fn check(dir: &Path) -> Result<(), SearchError> {
    let enter = |path: &Path| match fs::read_dir(path) {
        Ok(_) => Ok(()),
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(err) => Err(failed(path)(err)),
    };
    enter(dir)?;
    // Not there, or it could be entered.
    let inside = places(dir).unwrap_or_default();
    inside.iter().try_for_each(|place| enter(&place.path))
}

/// An empty index.
pub(super) fn make(place: Place, standing: Standing) -> Result<Ready, SearchError> {
    remove(&place.path).and_then(|()| make_private(&place.path)).map_err(failed(&place.path))?;
    let (inner, reader) = guarded(|| {
        let settings = IndexSettings { docstore_compress_dedicated_thread: false, ..IndexSettings::default() };
        let inner = tantivy::Index::create(MmapDirectory::open(&place.path)?, schema(), settings)?;
        let reader = prepare(&inner)?;
        Ok((inner, reader))
    })?;
    close_to_others(&place.path);
    let fields = Fields::of(&inner.schema())?;
    Ok(Ready { inner, fields, reader, place, standing, position: None })
}

/// Takes from others what rights they have on the index's files. Their folder is closed to them, and tantivy makes files as
/// the process's mask allows, which may be anything.
pub(super) fn close_to_others(folder: &Path) {
    #[cfg(unix)]
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        use std::os::unix::fs::PermissionsExt as _;
        let is_open = |found: &fs::Metadata| found.is_file() && found.permissions().mode() & 0o077 != 0;
        if entry.metadata().is_ok_and(|found| is_open(&found)) {
            // One that was merged away meanwhile needs no rights.
            drop(fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o600)));
        }
    }
}

/// Removes an index that nobody writes any more; whoever still reads it reads on.
pub(super) fn discard(place: &Place) -> Result<(), SearchError> {
    remove(&place.path).map_err(failed(&place.path))
}

pub(super) fn want_rebuild(dir: &Path) -> Result<(), SearchError> {
    make_private(dir).and_then(|()| fs::write(dir.join(WANTED), "")).map(|()| close_to_others(dir)).map_err(failed(dir))
}

pub(super) fn is_rebuild_wanted(dir: &Path) -> bool {
    dir.join(WANTED).exists()
}

pub(super) fn forget_rebuild(dir: &Path) -> Result<(), SearchError> {
    forget(dir, WANTED)
}

fn forget(dir: &Path, note: &str) -> Result<(), SearchError> {
    match fs::remove_file(dir.join(note)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(dir)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn note_removal(folder: &Path) -> Result<(), SearchError> {
    fs::write(folder.join(REMOVED), "").map(|()| close_to_others(folder)).map_err(failed(folder))
}

pub(super) fn is_removal_noted(folder: &Path) -> bool {
    folder.join(REMOVED).exists()
}

pub(super) fn forget_removal(folder: &Path) -> Result<(), SearchError> {
    forget(folder, REMOVED)
}

/// What a commit says about itself.
pub(super) fn payload(incarnation: Incarnation, position: Option<Position>, standing: Standing) -> String {
    let position = position.unwrap_or_default().0;
    match standing {
        Standing::Answering => format!("{incarnation} {position}"),
        Standing::Beside => format!("{incarnation} {position} beside"),
    }
}

fn read_payload(payload: Option<&str>) -> Option<(Incarnation, Position, Standing)> {
    let mut words = payload?.split(' ');
    let incarnation = Incarnation::from_bits(u64::from_str_radix(words.next()?, 16).ok()?);
    let position = Position(words.next()?.parse().ok()?);
    match words.next() {
        None => Some((incarnation, position, Standing::Answering)),
        Some("beside") => Some((incarnation, position, Standing::Beside)),
        Some(_) => None,
    }
}

enum Seen {
    /// No index, or one that was made and never committed to.
    Nothing,
    Unreadable(String),
    Foreign,
    Usable(Box<Ready>),
}

fn look(place: &Place, incarnation: Incarnation, trust: Trust) -> Result<Seen, SearchError> {
    let (inner, reader, payload) = match guarded(|| existing(&place.path, trust)) {
        Ok(None) => return Ok(Seen::Nothing),
        Ok(Some(existing)) => existing,
        Err(SearchError::Damaged { reason }) => return Ok(Seen::Unreadable(reason)),
        Err(error) => return Err(error),
    };
    match read_payload(payload.as_deref()) {
        Some((of, position, standing)) if of == incarnation => {
            let fields = Fields::of(&inner.schema())?;
            let position = Some(position);
            Ok(Seen::Usable(Box::new(Ready { inner, fields, reader, place: place.clone(), standing, position })))
        }
        Some(_) => Ok(Seen::Foreign),
        None if reader.searcher().num_docs() == 0 => Ok(Seen::Nothing),
        None => Ok(Seen::Unreadable("it does not say how far it reaches".to_owned())),
    }
}

type Existing = (tantivy::Index, IndexReader, Option<String>);

fn existing(folder: &Path, trust: Trust) -> tantivy::Result<Option<Existing>> {
    if !folder.join("meta.json").exists() {
        return Ok(None);
    }
    let inner = tantivy::Index::open(MmapDirectory::open(folder)?)?;
    if !has_our_fields(&inner.schema()) {
        return Err(TantivyError::SchemaError("it has other fields".to_owned()));
    }
    if trust == Trust::EveryByteRead
        && let Some(file) = inner.validate_checksum()?.into_iter().next()
    {
        return Err(TantivyError::InternalError(format!("{} is not as it was written", file.display())));
    }
    let payload = inner.load_metas()?.payload;
    let reader = prepare(&inner)?;
    Ok(Some((inner, reader, payload)))
}

/// It may have more: another version's index is searched while ours is made.
fn has_our_fields(theirs: &Schema) -> bool {
    let ours = schema();
    ours.fields().all(|(_, entry)| {
        theirs
            .get_field(entry.name())
            .is_ok_and(|field| theirs.get_field_entry(field).field_type() == entry.field_type())
    })
}

fn prepare(inner: &tantivy::Index) -> tantivy::Result<IndexReader> {
    inner.tokenizers().register(TOKENIZER, CodeTokenizer);
    // Nothing is stored that a cache could hold.
    inner.reader_builder().reload_policy(ReloadPolicy::Manual).doc_store_cache_num_blocks(1).try_into()
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> SearchError {
    let path: PathBuf = path.to_owned();
    move |source| SearchError::Folder { path, source }
}
