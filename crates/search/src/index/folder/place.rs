//! How the folders of indexes are named: `v1`, and `v1-1`, `v1-2` for those that took the place of an earlier one.

use std::cmp::Reverse;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Raised with every change of the schema, the tokenizer or the pieces: an index of another version is rebuilt.
const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Place {
    version: u32,
    generation: u32,
    pub(in super::super) path: PathBuf,
}

impl Place {
    pub(super) fn first(dir: &Path) -> Self {
        Self::of(dir, 0)
    }

    /// Where the one lies that is to follow this one.
    pub(in super::super) fn next(&self) -> Self {
        let generation = if self.is_of_today() { self.generation + 1 } else { 0 };
        Self::of(self.dir(), generation)
    }

    /// The folder of all of them.
    pub(in super::super) fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    pub(super) fn is_of_today(&self) -> bool {
        self.version == VERSION
    }

    fn of(dir: &Path, generation: u32) -> Self {
        let name = match generation {
            0 => format!("v{VERSION}"),
            generation => format!("v{VERSION}-{generation}"),
        };
        Self { version: VERSION, generation, path: dir.join(name) }
    }

    fn parse(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_prefix('v')?;
        let (version, generation) = name.split_once('-').unwrap_or((name, "0"));
        let (version, generation) = (version.parse().ok()?, generation.parse().ok()?);
        path.is_dir().then_some(Self { version, generation, path })
    }
}

/// Those of this version first, and the newest of them.
pub(super) fn places(dir: &Path) -> io::Result<Vec<Place>> {
    let mut places = Vec::new();
    for entry in fs::read_dir(dir)? {
        places.extend(Place::parse(entry?.path()));
    }
    places.sort_by_key(|place| Reverse((place.is_of_today(), place.version, place.generation)));
    Ok(places)
}

pub(super) fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
