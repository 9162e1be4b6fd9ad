//! Compares a work tree with what git has.
//!
//! Invariant: git gives names and contents; what is compared is read and compared here, so that no filter of the
//! repository runs. A file whose time and length are those that git noted is taken to be the same, as git takes it; any
//! other one is in the list only if it was looked at and differs, or if its length alone shows that it does.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use files::Stat;
use model::{ChangedBy, ChangedFile, Compared, FileEdit, FileStatus, LineDiff, SessionRow, diff_lines, same_lines};

use super::budget::Budget;
use super::disk::{Disk, MAX_COMPARED_BYTES, as_text};
use super::left_out::LeftOut;
use super::rebuild::{Content, hash_of};
use super::{ChangesError, Comparison, name_of, turns_of};
use crate::Engine;
use crate::git::{Blobs, GitBase, Listed, MAX_GROUP_BYTES, Names, Repository, Tracked, TrackedKind, WorkFile, groups};

/// How a large file that git keeps elsewhere begins.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A file that may differ.
struct Candidate {
    path: String,
    base: Option<Tracked>,
    /// How much git has of it, where that is known.
    base_bytes: Option<u64>,
    /// In the work tree; `None` if it is not there.
    now: Result<Option<Stat>, Compared>,
}

/// What git has of a file.
#[derive(Debug, Clone, Copy)]
enum Base<'a> {
    /// There was no file.
    Absent,
    Bytes(&'a [u8]),
    NotCompared(Compared),
}

/// What became of a candidate.
enum Looked {
    Same,
    Differs(ChangedFile, LineDiff),
    /// The time was over.
    TimeOver,
}

/// The files that differ, and why there may be more.
pub(super) async fn list(
    engine: &Engine,
    row: &SessionRow,
    base: GitBase,
    edits: Vec<FileEdit>,
) -> Result<(Vec<ChangedFile>, Vec<LeftOut>), ChangesError> {
    let repository = find(engine, row).await?;
    let listed = repository.list(base, Names::All).await?;
    let mut left_out = LeftOut::of_names(&listed);
    let found = compare_listed(engine, row, &repository, listed, by_path(edits), Budget::of_list()).await?;
    let (mut files, mut not_looked_at) = (Vec::new(), 0);
    for looked in found {
        match looked {
            Looked::Same => (),
            Looked::Differs(file, _) => files.push(file),
            Looked::TimeOver => not_looked_at += 1,
        }
    }
    left_out.extend((not_looked_at > 0).then_some(LeftOut::TimeOver { files: not_looked_at }));
    Ok((files, left_out))
}

/// The diff of one file.
pub(super) async fn diff(
    engine: &Engine,
    row: &SessionRow,
    base: GitBase,
    path: &str,
    edits: Vec<FileEdit>,
) -> Result<Comparison, ChangesError> {
    let name = name_in(&row.project, path).ok_or(ChangesError::NotChanged)?;
    let repository = find(engine, row).await?;
    let mut listed = repository.list(base, Names::Of(name)).await?;
    // Where it is a directory, so is all that lies in it.
    listed.base.retain(|of, _| of == name);
    listed.index.retain(|of, _| of == name);
    listed.untracked.retain(|of| of == name);
    let found = compare_listed(engine, row, &repository, listed, by_path(edits), Budget::of_one_file()).await?;
    match found.into_iter().next() {
        Some(Looked::Differs(file, diff)) => Ok((file, diff, LineDiff::default())),
        Some(Looked::Same | Looked::TimeOver) | None => Err(ChangesError::NotChanged),
    }
}

/// How git calls a path, if it lies in the project and is spelled as git would.
fn name_in<'a>(project: &str, path: &'a str) -> Option<&'a str> {
    let name = path.strip_prefix(project)?.strip_prefix('/')?;
    name.split('/').all(|part| !matches!(part, "" | "." | "..")).then_some(name)
}

async fn find(engine: &Engine, row: &SessionRow) -> Result<Repository, ChangesError> {
    let project = row.project.clone();
    Ok(engine.in_background(move || Repository::find(Path::new(&project))).await??)
}

fn by_path(edits: Vec<FileEdit>) -> HashMap<String, Vec<FileEdit>> {
    let mut by_path: HashMap<String, Vec<FileEdit>> = HashMap::new();
    for edit in edits {
        by_path.entry(edit.path.clone()).or_default().push(edit);
    }
    by_path
}

/// Compares what git lists, some files at a time.
async fn compare_listed(
    engine: &Engine,
    row: &SessionRow,
    repository: &Repository,
    listed: Listed,
    edits: HashMap<String, Vec<FileEdit>>,
    mut budget: Budget,
) -> Result<Vec<Looked>, ChangesError> {
    let (own, files) = (row.clone(), engine.shared.file_inspector.clone());
    let opened = engine.in_background(move || {
        let disk = Disk::open(&files, &own);
        let candidates = candidates(&disk, &own, listed);
        (disk, candidates)
    });
    let (disk, mut candidates) = opened.await?;
    let tracked = candidates.iter().filter_map(|it| it.base.as_ref().filter(|base| base.kind == TrackedKind::File));
    let objects: Vec<&str> = tracked.map(|base| base.object.as_str()).collect();
    let mut sizes = repository.sizes(&objects).await?.into_iter();
    for candidate in &mut candidates {
        if candidate.base.as_ref().is_some_and(|base| base.kind == TrackedKind::File) {
            candidate.base_bytes = sizes.next().flatten();
        }
    }
    let read: Vec<u64> = candidates.iter().map(|it| bytes_read(it).unwrap_or(0)).collect();
    let shared = Arc::new((disk, row.clone(), candidates, edits));
    let mut all = Vec::new();
    for group in groups(&read) {
        let blobs = match budget.is_over() {
            true => Blobs::default(),
            false => {
                let objects = shared.2[group.clone()].iter().filter(|it| bytes_read(it).is_some());
                let objects: Vec<&str> = objects.filter_map(|it| Some(it.base.as_ref()?.object.as_str())).collect();
                repository.blobs(&objects, read[group.clone()].iter().sum()).await?
            }
        };
        let shared = Arc::clone(&shared);
        let compared = engine.in_background(move || {
            let (disk, row, candidates, edits) = &*shared;
            let looked = compare_group(disk, row, &candidates[group.clone()], &blobs, edits, &mut budget);
            (looked, budget)
        });
        let (looked, rest) = compared.await?;
        budget = rest;
        all.extend(looked);
    }
    Ok(all)
}

fn compare_group(
    disk: &Disk,
    row: &SessionRow,
    candidates: &[Candidate],
    blobs: &Blobs,
    edits: &HashMap<String, Vec<FileEdit>>,
    budget: &mut Budget,
) -> Vec<Looked> {
    let mut place = 0;
    let looked = candidates.iter().map(|candidate| {
        let blob = bytes_read(candidate).and_then(|_| {
            place += 1;
            blobs.get(place - 1)
        });
        let edits = edits.get(&candidate.path).map_or(&[][..], Vec::as_slice);
        let file = changed_file(row, candidate, edits);
        match budget.is_over() {
            true => without_looking(file, candidate),
            false => compare(disk, candidate, file, base_of(candidate, blob), edits, budget),
        }
    });
    looked.collect()
}

/// Those whose time or length is another than git noted, or which git has twice; blocks.
fn candidates(disk: &Disk, row: &SessionRow, listed: Listed) -> Vec<Candidate> {
    let Listed { mut base, index, untracked, index_at_ms, .. } = listed;
    let names: BTreeSet<String> = base.keys().chain(index.keys()).chain(&untracked).cloned().collect();
    let mut found = Vec::new();
    for name in names {
        let staged = index.get(&name);
        if staged.is_some_and(|staged| staged.work_file == WorkFile::LeftOut) {
            continue;
        }
        let path = format!("{}/{name}", row.project);
        let now = disk.stat(&path);
        let base = base.remove(&name);
        let is_same = match (&base, staged) {
            (Some(base), Some(staged)) if base.object == staged.object && base.kind == staged.kind => {
                is_clean(staged, &now, index_at_ms)
            }
            (None, _) => now == Ok(None),
            (Some(_), _) => false,
        };
        if !is_same {
            found.push(Candidate { path, base, base_bytes: None, now });
        }
    }
    found
}

/// As git decides it. One that was changed in the very moment that the index was written has to be read.
fn is_clean(staged: &Tracked, now: &Result<Option<Stat>, Compared>, index_at_ms: i64) -> bool {
    match (staged.kind, staged.work_file, staged.clean, now) {
        // Where a link leads to, and what a submodule has, is not looked at.
        (TrackedKind::Link | TrackedKind::Submodule, ..) | (_, WorkFile::AssumedUnchanged, ..) => true,
        (TrackedKind::File, _, Some(clean), Ok(Some(now))) => {
            (now.modified_at_ms, now.bytes) == (clean.modified_at_ms, clean.bytes) && clean.modified_at_ms < index_at_ms
        }
        (TrackedKind::File, ..) => false,
    }
}

/// How much of what git has is read to compare a file; `None` if its length says enough.
fn bytes_read(candidate: &Candidate) -> Option<u64> {
    let Candidate { base_bytes, now, .. } = candidate;
    let bytes = (*base_bytes)?;
    let is_read = match now {
        Ok(None) => bytes <= MAX_COMPARED_BYTES,
        Ok(Some(now)) if bytes <= MAX_COMPARED_BYTES => now.bytes <= MAX_COMPARED_BYTES,
        // No lines of it are shown; but it may be the same.
        Ok(Some(now)) => now.bytes == bytes && bytes <= MAX_GROUP_BYTES,
        Err(_) => false,
    };
    is_read.then_some(bytes)
}

fn base_of<'a>(candidate: &Candidate, blob: Option<&'a [u8]>) -> Base<'a> {
    match (candidate.base.as_ref().map(|base| base.kind), candidate.base_bytes, blob) {
        (None, ..) => Base::Absent,
        (Some(TrackedKind::Link), ..) => Base::NotCompared(Compared::Link),
        (Some(TrackedKind::Submodule), ..) => Base::NotCompared(Compared::Submodule),
        (Some(TrackedKind::File), _, Some(blob)) => Base::Bytes(blob),
        (Some(TrackedKind::File), Some(_), None) => Base::NotCompared(Compared::TooLarge),
        // It is not here: a partial clone leaves it where it came from.
        (Some(TrackedKind::File), None, None) => Base::NotCompared(Compared::NotKnown),
    }
}

fn changed_file(row: &SessionRow, candidate: &Candidate, edits: &[FileEdit]) -> ChangedFile {
    ChangedFile {
        path: candidate.path.clone(),
        name: name_of(row, &candidate.path),
        status: match (&candidate.base, &candidate.now) {
            (None, _) => FileStatus::Created,
            (Some(_), Ok(None)) => FileStatus::Deleted,
            (Some(_), Ok(Some(_)) | Err(_)) => FileStatus::Changed,
        },
        from: None,
        by: if edits.is_empty() { ChangedBy::Outside } else { ChangedBy::Session },
        turns: turns_of(edits),
        compared: Compared::NotCounted,
        lines: None,
    }
}

/// What is known of a file by its length alone.
fn without_looking(mut file: ChangedFile, candidate: &Candidate) -> Looked {
    match (&candidate.now, candidate.base_bytes, base_of(candidate, None)) {
        (&Err(why), ..) | (Ok(_), None, Base::NotCompared(why)) => file.compared = why,
        (Ok(Some(now)), Some(bytes), _) if now.bytes == bytes => return Looked::TimeOver,
        (Ok(_), ..) => (),
    }
    Looked::Differs(file, LineDiff::default())
}

fn compare(
    disk: &Disk,
    candidate: &Candidate,
    mut file: ChangedFile,
    base: Base<'_>,
    edits: &[FileEdit],
    budget: &mut Budget,
) -> Looked {
    let max_bytes = match base {
        Base::Bytes(bytes) => MAX_COMPARED_BYTES.max(bytes.len() as u64),
        Base::Absent | Base::NotCompared(_) => MAX_COMPARED_BYTES,
    };
    let mut not_compared = |why| {
        file.compared = why;
        Looked::Differs(file.clone(), LineDiff::default())
    };
    let now = match (base, &candidate.now) {
        // Neither side of what is protected is shown.
        (_, &Err(why)) | (Base::NotCompared(why), Ok(_)) => return not_compared(why),
        (Base::Absent | Base::Bytes(_), Ok(_)) => match disk.read_bytes(&candidate.path, max_bytes) {
            Ok(now) => now,
            Err(why) => return not_compared(why),
        },
    };
    let before = match base {
        Base::Bytes(bytes) => Some(bytes),
        Base::Absent | Base::NotCompared(_) => None,
    };
    if before == now.as_deref() {
        return Looked::Same;
    }
    let is_edit_kept = |now: &Vec<u8>| match edits.last().and_then(|edit| edit.stamp.as_ref()?.hash.as_ref()) {
        Some(hash) => *hash == hash_of(now),
        None => true,
    };
    if !now.as_ref().is_none_or(is_edit_kept) {
        file.by = ChangedBy::Both;
    }
    if now.is_none() {
        file.status = FileStatus::Deleted;
    }
    let text = |bytes: Option<Vec<u8>>| match bytes {
        Some(bytes) if bytes.starts_with(LFS) || bytes.len() as u64 > MAX_COMPARED_BYTES => Err(Compared::TooLarge),
        Some(bytes) => as_text(bytes),
        None => Ok(Content::Absent),
    };
    let (before, now) = match (text(before.map(<[u8]>::to_vec)), text(now)) {
        (Ok(before), Ok(now)) => (before, now),
        (Err(why), _) | (_, Err(why)) => {
            file.compared = why;
            return Looked::Differs(file, LineDiff::default());
        }
    };
    let (before, now) = (before.as_str(), now.as_str());
    if file.status == FileStatus::Changed && same_lines(before, now) {
        return Looked::Same;
    }
    let Some(deadline) = budget.take() else { return Looked::Differs(file, LineDiff::default()) };
    let diff = diff_lines(before, now, deadline);
    (file.compared, file.lines) = (Compared::Lines, Some(diff.counts));
    Looked::Differs(file, diff)
}
