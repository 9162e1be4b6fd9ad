//! `throughline diff`: prints what changed in a session's files, like `git diff`.

use anyhow::{Result, bail};
use model::{ChangedBy, ChangedFile, Compared, DiffHunk, DiffLine, FileDiff, FileStatus, LineCounts, LineKind};
use server::wire::ChangesPage;

use crate::cli;
use crate::client::{Client, is_refusal};
use crate::data_dir::DataDir;
use crate::link::encoded;
use crate::pager;
use crate::style::Style;
use crate::terminal::{self, safe, safe_json};

/// The longest row of plus and minus signs behind a file's name.
const BAR_COLUMNS: u32 = 40;

pub(super) async fn run(data: &DataDir, diff: &cli::Diff) -> Result<()> {
    let client = Client::connect(data).await?;
    let read = read(&client, diff).await;
    client.close().await;
    let (page, diffs) = read?;
    if diff.json {
        let json = if diff.stat { serde_json::to_string(&page)? } else { serde_json::to_string(&diffs)? };
        return Ok(terminal::line(&safe_json(&json))?);
    }
    let mut lines = Vec::new();
    if diff.stat {
        lines.extend(stat(&page));
    } else {
        lines.extend(diffs.iter().flat_map(file_lines));
        lines.extend(page.files.iter().filter(|file| !has_lines(file)).map(without_lines));
    }
    lines.extend(notes(&page));
    Ok(pager::print(&lines)?)
}

/// The list of files and, unless only that is wanted, their diffs.
async fn read(client: &Client, diff: &cli::Diff) -> Result<(ChangesPage, Vec<FileDiff>)> {
    let session = client.find_session(&diff.session).await?;
    let which = match (&diff.turn, &diff.since, diff.git) {
        (Some(turn), None, false) => format!("turn={turn}"),
        (None, Some(turn), false) => format!("since={turn}"),
        (None, None, true) => "since=git".to_owned(),
        (None, None, false) => "since=session".to_owned(),
        _ => bail!("give a turn, --since or --git, not several of them"),
    };
    let route = format!("/sessions/{}/changes", session.row.id);
    let page: ChangesPage = client.get(&format!("{route}?{which}")).await?;
    let mut diffs = Vec::new();
    for file in page.files.iter().filter(|file| !diff.stat && has_lines(file)) {
        let read = whole(client, &format!("{route}/file?path={}&{which}", encoded(&file.path))).await;
        diffs.extend(unless_unchanged(read)?);
    }
    Ok((page, diffs))
}

/// A file may be as it was by the time that its diff is asked for, and one that was not counted may never have differed.
fn unless_unchanged(read: Result<FileDiff>) -> Result<Option<FileDiff>> {
    match read {
        Err(err) if is_refusal(&err, "file_not_changed") => Ok(None),
        read => read.map(Some),
    }
}

/// All pages of a file's diff.
async fn whole(client: &Client, route: &str) -> Result<FileDiff> {
    let mut diff: FileDiff = client.get(route).await?;
    while let Some(after) = diff.next_after {
        let next: FileDiff = client.get(&format!("{route}&after={after}")).await?;
        diff.hunks.extend(next.hunks);
        diff.next_after = next.next_after.filter(|next| *next > after);
    }
    Ok(diff)
}

/// A name that prints nothing but itself: one with an end of a line could look like lines of a diff.
fn one_line(name: &str) -> String {
    safe(&name.replace(['\n', '\t'], "·"))
}

fn has_lines(file: &ChangedFile) -> bool {
    match file.compared {
        Compared::Lines | Compared::Edits | Compared::Elsewhere | Compared::NotCounted => true,
        Compared::Binary
        | Compared::TooLarge
        | Compared::Protected
        | Compared::Link
        | Compared::Submodule
        | Compared::NotKnown => false,
    }
}

fn stat(page: &ChangesPage) -> Vec<String> {
    let width = page.files.iter().map(|file| one_line(&file.name).chars().count()).max().unwrap_or_default();
    let most = page.files.iter().filter_map(|file| file.lines).map(|lines| lines.added + lines.removed).max();
    let scale = |count: u32| match most {
        Some(most) if most > BAR_COLUMNS => (count * BAR_COLUMNS).div_ceil(most),
        Some(_) | None => count,
    };
    let mut lines: Vec<String> = page
        .files
        .iter()
        .map(|file| {
            let signs = match file.lines {
                Some(LineCounts { added, removed }) => {
                    let (plus, minus) = ("+".repeat(scale(added) as usize), "-".repeat(scale(removed) as usize));
                    format!("{:>5} {}{}", added + removed, Style::Added.paint(&plus), Style::Removed.paint(&minus))
                }
                None => format!("    {}", why(file)),
            };
            format!(" {:<width$} |{signs}{}", one_line(&file.name), outside(file))
        })
        .collect();
    let LineCounts { added, removed } = page.lines;
    let files = page.files.len() + page.more;
    if files > 0 {
        let files = if files == 1 { "1 file".to_owned() } else { format!("{files} files") };
        lines.push(format!(" {files} changed, {added} added, {removed} removed"));
    }
    lines
}

fn file_lines(diff: &FileDiff) -> Vec<String> {
    let FileDiff { file, hunks, outside, outside_cut, next_after: _ } = diff;
    let name = one_line(&file.name);
    let from = file.from.as_ref().map_or_else(|| name.clone(), |from| one_line(from));
    let (old, new) = match file.status {
        FileStatus::Created => ("/dev/null".to_owned(), format!("b/{name}")),
        FileStatus::Deleted => (format!("a/{name}"), "/dev/null".to_owned()),
        FileStatus::Changed | FileStatus::Moved => (format!("a/{from}"), format!("b/{name}")),
    };
    let mut lines = vec![Style::Bold.paint(&format!("--- {old}")), Style::Bold.paint(&format!("+++ {new}"))];
    match file.compared {
        Compared::Edits | Compared::Elsewhere => lines.push(Style::Dim.paint(&format!("({})", why(file)))),
        Compared::Lines
        | Compared::NotCounted
        | Compared::Binary
        | Compared::TooLarge
        | Compared::Protected
        | Compared::Link
        | Compared::Submodule
        | Compared::NotKnown => (),
    }
    lines.extend(hunks.iter().flat_map(hunk_lines));
    if !outside.is_empty() {
        lines.push(Style::Attention.paint("changed outside of the session since:"));
        lines.extend(outside.iter().flat_map(hunk_lines));
        lines.extend(outside_cut.then(|| Style::Dim.paint("(the rest of it is left out)")));
    } else if file.by == ChangedBy::Both {
        lines.push(Style::Attention.paint("changed outside of the session since"));
    }
    lines
}

fn hunk_lines(hunk: &DiffHunk) -> Vec<String> {
    let DiffHunk { old_start, new_start, lines } = hunk;
    let count = |not: LineKind| lines.iter().filter(|line| line.kind != not).count();
    let head = format!("@@ -{old_start},{} +{new_start},{} @@", count(LineKind::Added), count(LineKind::Removed));
    let shown = lines.iter().map(|DiffLine { kind, text }| {
        let text = safe(text);
        match kind {
            LineKind::Same => format!(" {text}"),
            LineKind::Removed => Style::Removed.paint(&format!("-{text}")),
            LineKind::Added => Style::Added.paint(&format!("+{text}")),
        }
    });
    [Style::Active.paint(&head)].into_iter().chain(shown).collect()
}

/// A file of which no lines are shown.
fn without_lines(file: &ChangedFile) -> String {
    format!(
        "{} {}{}",
        Style::Bold.paint(&one_line(&file.name)),
        Style::Dim.paint(&format!("({})", why(file))),
        outside(file)
    )
}

fn outside(file: &ChangedFile) -> String {
    match file.by {
        ChangedBy::Session => String::new(),
        ChangedBy::Outside => Style::Dim.paint("  not by an edit of this session"),
        ChangedBy::Both => Style::Attention.paint("  changed outside since"),
    }
}

fn why(file: &ChangedFile) -> &'static str {
    match file.compared {
        Compared::Lines => "compared",
        Compared::Edits => "the whole file before is not known; each edit as the agent made it",
        Compared::Binary => "binary",
        Compared::TooLarge => "too large to compare",
        Compared::Protected => "protected, not shown",
        Compared::Elsewhere => "outside of the session's directories; each edit as the agent made it",
        Compared::Link => "a link",
        Compared::Submodule => "a submodule",
        Compared::NotKnown => "what changed in it is not known",
        Compared::NotCounted => "not counted",
    }
}

fn notes(page: &ChangesPage) -> Vec<String> {
    let nothing = page.files.is_empty().then(|| "No file changed.".to_owned());
    let more = (page.more > 0).then(|| format!("({} more files are left out)", page.more));
    let earlier =
        page.earlier_left_out.then(|| "(the oldest edits of this long session were not looked at)".to_owned());
    let left_out = page.left_out.iter().map(|why| format!("({why})"));
    // A server of an earlier version gives no reasons.
    let incomplete = page.incomplete && page.left_out.is_empty();
    let incomplete = incomplete.then(|| "(there may be more files than could be compared)".to_owned());
    nothing.into_iter().chain(more).chain(earlier).chain(left_out).chain(incomplete).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Refusal;

    #[test]
    fn a_file_that_did_not_differ_is_skipped_and_any_other_refusal_is_not() {
        let refused = |code: &str| {
            let refusal = Refusal { code: code.to_owned(), message: "no".to_owned() };
            unless_unchanged(Err(refusal.into())).map_err(|err| err.to_string())
        };
        assert_eq!(refused("file_not_changed"), Ok(None));
        assert_eq!(refused("git_too_slow"), Err("no (git_too_slow)".to_owned()));
    }

    #[test]
    fn a_name_is_one_line() {
        assert_eq!(one_line("a\n+++ b/evil\u{1b}[2J\u{e0041}"), "a·+++ b/evil␛[2J");
    }
}
