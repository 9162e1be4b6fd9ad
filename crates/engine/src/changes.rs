//! What changed in a session's files: since it began, since a turn began, in one turn, or since the newest commit.
//!
//! Invariant: facts say what the session changed, the disk and git say how it stands; what nobody shows is reported as not
//! known. Protected files are named and nothing more. Every answer is bounded, in size and in time, and says what it
//! leaves out; few are made at once.

mod budget;
mod disk;
mod edits;
mod left_out;
mod rebuild;
mod with_git;

use std::path::Path;

use model::{
    ChangedBy, ChangedFile, Compared, DiffHunk, FileDiff, FileEdit, FileStatus, LineCounts, LineDiff, Seq, Session,
    SessionId, SessionRow, Turn, file_histories,
};

use crate::git::Repository;
use crate::{Engine, GitBase, GitError, QueryError, ReadError, paging};
use budget::Budget;
use disk::Disk;
use edits::{Edits, Wanted};
pub use left_out::LeftOut;
use rebuild::{Content, Rebuilt};

/// How many questions are answered at a time.
pub(crate) const MAX_AT_ONCE: usize = 2;
/// How many files a list has.
const MAX_FILES: usize = 500;
/// How many turns are named at a file.
const MAX_TURNS: usize = 100;
/// How many lines of a diff come at once.
const PAGE_LINES: usize = 2_000;

/// What files are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// How they were when the session began.
    Session,
    /// How they were when this turn began.
    Turn(Turn),
    /// What this turn alone changed.
    OnlyTurn(Turn),
    /// How git has them.
    Git(GitBase),
}

/// The files that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChanges {
    /// By name.
    pub files: Vec<ChangedFile>,
    /// How many more there are.
    pub more: usize,
    /// Of the files that were compared.
    pub lines: LineCounts,
    /// So much happened that the oldest edits were not looked at.
    pub earlier_left_out: bool,
    /// Why more files may have changed; empty if none can have.
    pub left_out: Vec<LeftOut>,
    /// Whether git can be compared with, or why not.
    pub git: Result<(), GitError>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ChangesError {
    #[error("this file was not changed in what is looked at; ask for the list of changes first")]
    NotChanged,
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Query(#[from] QueryError),
}

impl From<ReadError> for ChangesError {
    fn from(err: ReadError) -> Self {
        Self::Query(err.into())
    }
}

impl Engine {
    /// The files that changed.
    pub async fn changes(&self, id: SessionId, since: Since) -> Result<FileChanges, ChangesError> {
        let _permit = self.shared.comparing.acquire().await;
        let session = self.session(id).await?;
        let (mut files, earlier_left_out, left_out) = match since {
            Since::Git(base) => {
                let edits = self.edits(&session, Since::Session, Wanted::Names).await?;
                let (found, left_out) = with_git::list(self, &session.row, base, edits.edits).await?;
                (found, edits.earlier_left_out, left_out)
            }
            Since::Session | Since::Turn(_) | Since::OnlyTurn(_) => {
                let Edits { edits, earlier_left_out } = self.edits(&session, since, Wanted::Texts).await?;
                let (row, inspector) = (session.row.clone(), self.shared.file_inspector.clone());
                let compared = self.in_background(move || {
                    let disk = Disk::open(&inspector, &row);
                    compare_all(&disk, &row, since, edits, Budget::of_list())
                });
                (compared.await?, earlier_left_out, Vec::new())
            }
        };
        files.sort_by(|one, other| one.name.cmp(&other.name));
        let more = files.len().saturating_sub(MAX_FILES);
        let lines = files.iter().filter_map(|file| file.lines).fold(LineCounts::default(), LineCounts::plus);
        files.truncate(MAX_FILES);
        let project = session.row.project.clone();
        let git = self.in_background(move || Repository::find(Path::new(&project)).map(drop)).await?;
        Ok(FileChanges { files, more, lines, earlier_left_out, left_out, git })
    }

    /// The diff of one file, from some line of it on.
    pub async fn file_diff(
        &self,
        id: SessionId,
        path: String,
        since: Since,
        after: usize,
    ) -> Result<FileDiff, ChangesError> {
        let _permit = self.shared.comparing.acquire().await;
        let session = self.session(id).await?;
        let (file, diff, outside) = match since {
            Since::Git(base) => {
                let edits = self.edits(&session, Since::Session, Wanted::Of(&path)).await?;
                with_git::diff(self, &session.row, base, &path, edits.edits).await?
            }
            Since::Session | Since::Turn(_) | Since::OnlyTurn(_) => {
                let Edits { edits, .. } = self.edits(&session, since, Wanted::Of(&path)).await?;
                let (row, files) = (session.row.clone(), self.shared.file_inspector.clone());
                let compared = self.in_background(move || {
                    let histories = file_histories(edits);
                    let is_it = |edits: &&Vec<FileEdit>| asked(since, edits).last().is_some_and(|it| it.path == path);
                    let edits = histories.values().find(is_it)?;
                    compare(&Disk::open(&files, &row), &row, since, edits, &mut Budget::of_one_file())
                });
                compared.await?.ok_or(ChangesError::NotChanged)?
            }
        };
        let (hunks, next_after) = page(diff.hunks, after);
        let (outside, outside_rest) = if after == 0 { page(outside.hunks, 0) } else { (Vec::new(), None) };
        Ok(FileDiff { file, hunks, outside, outside_cut: outside_rest.is_some(), next_after })
    }

    /// The edits since some moment, also those after what is asked about: they are taken back.
    async fn edits(&self, session: &Session, since: Since, wanted: Wanted<'_>) -> Result<Edits, ChangesError> {
        let id = session.row.id;
        let after = match since {
            Since::Session | Since::Git(_) => Seq::START,
            Since::Turn(turn) | Since::OnlyTurn(turn) => {
                let missing = || QueryError::NoSuchTurn { turn, newest: session.row.turns };
                let row = paging::find_turn(&*self.shared.store, id, turn).await?.ok_or_else(missing)?;
                row.first_seq.previous()
            }
        };
        Ok(edits::read(&self.shared, id, &session.row.cwd, (after, session.head), wanted).await?)
    }

    async fn in_background<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ChangesError> {
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => Ok(done),
            Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
            // The runtime is going.
            Err(_) => Err(QueryError::Read(ReadError::Closed).into()),
        }
    }
}

/// Compares each file that was edited.
fn compare_all(
    disk: &Disk,
    row: &SessionRow,
    since: Since,
    edits: Vec<FileEdit>,
    mut budget: Budget,
) -> Vec<ChangedFile> {
    let histories = file_histories(edits).into_values();
    let compared = histories.filter_map(|edits| compare(disk, row, since, &edits, &mut budget));
    compared.map(|(file, ..)| file).filter(|file| !is_changed_back(file)).collect()
}

/// Whether a file is again as it was.
fn is_changed_back(file: &ChangedFile) -> bool {
    let has_same_lines = file.compared == Compared::Lines && file.lines == Some(LineCounts::default());
    has_same_lines && file.by != ChangedBy::Both && file.status == FileStatus::Changed
}

type Comparison = (ChangedFile, LineDiff, LineDiff);

/// Those of a file's edits that are asked about.
fn asked(since: Since, edits: &[FileEdit]) -> &[FileEdit] {
    let wanted = match since {
        Since::OnlyTurn(turn) => edits.iter().take_while(|edit| edit.turn <= turn).count(),
        Since::Session | Since::Turn(_) | Since::Git(_) => edits.len(),
    };
    &edits[..wanted]
}

/// Compares one file; `None` if nothing that is asked about changed it.
fn compare(disk: &Disk, row: &SessionRow, since: Since, edits: &[FileEdit], budget: &mut Budget) -> Option<Comparison> {
    let asked = asked(since, edits);
    let (first, last, newest) = (asked.first()?, asked.last()?, edits.last()?);
    let was_at = first.from.as_ref().unwrap_or(&first.path);
    let status = match (first.status, last.status) {
        (_, FileStatus::Deleted) => FileStatus::Deleted,
        (FileStatus::Created, _) => FileStatus::Created,
        (FileStatus::Changed | FileStatus::Deleted | FileStatus::Moved, _) if *was_at != last.path => FileStatus::Moved,
        (FileStatus::Changed | FileStatus::Deleted | FileStatus::Moved, _) => FileStatus::Changed,
    };
    let mut file = ChangedFile {
        path: last.path.clone(),
        name: name_of(row, &last.path),
        status,
        from: (status == FileStatus::Moved).then(|| name_of(row, was_at)),
        by: ChangedBy::Session,
        turns: turns_of(asked),
        compared: Compared::NotCounted,
        lines: None,
    };
    let nothing = LineDiff::default;
    let paths = edits.iter().flat_map(|edit| edit.from.iter().chain([&edit.path]));
    if paths.into_iter().any(|path| disk.refusal(path) == Some(Compared::Protected)) {
        // Its texts are secrets wherever it was moved.
        file.compared = Compared::Protected;
        return Some((file, nothing(), nothing()));
    }
    if budget.is_over() {
        return Some((file, nothing(), nothing()));
    }
    let now = match disk.read(&newest.path) {
        Ok(now) => now,
        Err(Compared::Elsewhere) => {
            // It is not read, but what the calls did to it is known.
            file.compared = Compared::Elsewhere;
            let shown = budget.take().map(|deadline| rebuild::diff_of_edits(asked, deadline));
            file.lines = shown.as_ref().map(|shown| shown.counts);
            return Some((file, shown.unwrap_or_default(), nothing()));
        }
        Err(why) => {
            file.compared = why;
            return Some((file, nothing(), nothing()));
        }
    };
    let Rebuilt { before, after, is_changed_since } = rebuild::rebuild(edits, asked.len(), &now);
    if is_changed_since {
        file.by = ChangedBy::Both;
    }
    if (&before, &after, is_changed_since) == (&Content::Absent, &Content::Absent, false) {
        // Made and deleted again.
        return None;
    }
    if rebuild::is_same(&before, &after) {
        // Nothing is to be counted.
        (file.compared, file.lines) = (Compared::Lines, Some(LineCounts::default()));
        let outside = is_changed_since.then(|| rebuild::diff(&after, &now, budget.deadline())).flatten();
        return Some((file, nothing(), outside.unwrap_or_default()));
    }
    let Some(deadline) = budget.take() else { return Some((file, nothing(), nothing())) };
    // Where the edits do not show the whole text, what is there now is the best that is known of it.
    let outside = is_changed_since.then(|| rebuild::diff(&after, &now, deadline)).flatten().unwrap_or_default();
    match rebuild::diff(&before, &after, deadline) {
        Some(diff) => {
            (file.compared, file.lines) = (Compared::Lines, Some(diff.counts));
            Some((file, diff, outside))
        }
        None => {
            let shown = rebuild::diff_of_edits(asked, deadline);
            let has_texts = asked.iter().any(|edit| !edit.texts.is_empty());
            file.compared = if has_texts { Compared::Edits } else { Compared::NotKnown };
            file.lines = has_texts.then_some(shown.counts);
            Some((file, shown, outside))
        }
    }
}

fn turns_of(edits: &[FileEdit]) -> Vec<Turn> {
    let mut turns: Vec<Turn> = edits.iter().map(|edit| edit.turn).collect();
    turns.dedup();
    turns.split_off(turns.len().saturating_sub(MAX_TURNS))
}

/// How a file is called beside the session: from its directory on, else from its project on.
fn name_of(row: &SessionRow, path: &str) -> String {
    let below = |root: &str| Path::new(path).strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned);
    below(&row.cwd).or_else(|| below(&row.project)).unwrap_or_else(|| path.to_owned())
}

/// So many lines of the hunks, from one on, and where the next page begins.
fn page(hunks: Vec<DiffHunk>, after: usize) -> (Vec<DiffHunk>, Option<u32>) {
    let (mut skip, mut room) = (after, PAGE_LINES);
    let mut shown = Vec::new();
    let mut is_more = false;
    for DiffHunk { mut old_start, mut new_start, lines } in hunks {
        let skipped = skip.min(lines.len());
        skip -= skipped;
        for line in &lines[..skipped] {
            match line.kind {
                model::LineKind::Same => (old_start, new_start) = (old_start + 1, new_start + 1),
                model::LineKind::Removed => old_start += 1,
                model::LineKind::Added => new_start += 1,
            }
        }
        let rest: Vec<_> = lines.into_iter().skip(skipped).collect();
        is_more |= rest.len() > room;
        let taken: Vec<_> = rest.into_iter().take(room).collect();
        room -= taken.len();
        if !taken.is_empty() {
            shown.push(DiffHunk { old_start, new_start, lines: taken });
        }
    }
    let next = u32::try_from(after + PAGE_LINES).ok().filter(|_| is_more);
    (shown, next)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use files::Deny;
    use model::{Command, NewSession, Part, Replacement, Timestamp, decide};

    use super::*;
    use crate::file_inspector::FileInspector;

    fn row_in(directory: &Path) -> SessionRow {
        let place = directory.canonicalize().unwrap().to_str().unwrap().to_owned();
        let new = NewSession { cwd: place.clone(), project: place, ..NewSession::default() };
        let created = decide(None, Command::Create(new)).unwrap();
        let id = SessionId::from_bytes([1; 16]);
        Part::of_session(id, Seq::START, None, created, Timestamp::from_millis(0)).1.unwrap().row
    }

    /// How each file is compared.
    fn compared(row: &SessionRow, edits: &[FileEdit], budget: Budget) -> Vec<Compared> {
        let disk = Disk::open(&FileInspector::new(Deny::standard(), None), row);
        let all = compare_all(&disk, row, Since::Session, edits.to_vec(), budget);
        all.iter().map(|file| file.compared).collect()
    }

    #[test]
    fn what_the_budget_leaves_no_room_or_time_for_is_not_counted() {
        let directory = tempfile::tempdir().unwrap();
        let row = row_in(directory.path());
        let write = |name: &str, old: &str| {
            let text = Replacement { old: Some(old.to_owned()), new: "new\n".to_owned(), is_whole: true };
            let (path, texts) = (format!("{}/{name}", row.cwd), vec![text]);
            std::fs::write(&path, "new\n").unwrap();
            FileEdit { turn: Turn(1), path, status: FileStatus::Changed, from: None, texts, stamp: None }
        };
        let edits = [write("a", "old\n"), write("b", "old\n"), write("c", "new\n"), write("d", "old\n")];
        let plenty = Duration::from_secs(600);
        let (lines, not_counted) = (Compared::Lines, Compared::NotCounted);
        assert_eq!(compared(&row, &edits, Budget::new(9, plenty)), [lines, lines, lines]);
        // The one that was changed back is not listed, counted or not.
        assert_eq!(compared(&row, &edits, Budget::new(1, plenty)), [lines, not_counted, not_counted]);
        assert_eq!(compared(&row, &edits, Budget::new(9, Duration::ZERO)), [not_counted; 4]);
    }

    #[test]
    fn a_long_diff_comes_in_pages_that_count_on() {
        let text = (1..=5_000).map(|n| format!("{n}\n")).collect::<String>();
        let whole = model::diff_lines("", &text, Budget::of_one_file().deadline());
        let (first, next) = page(whole.hunks.clone(), 0);
        assert_eq!((first[0].lines.len(), first[0].new_start, next), (2_000, 1, Some(2_000)));
        let (last, next) = page(whole.hunks, 4_000);
        assert_eq!((last[0].lines.len(), last[0].new_start, next), (1_000, 4_001, None));
        assert_eq!(last[0].lines[0].text, "4001");
    }
}
