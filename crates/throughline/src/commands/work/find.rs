//! Finds the work that a person named.

use std::path::Path;

use anyhow::{Result, bail};
use model::{WorkId, work_name};
use server::wire::{MetaContext, MetaContextPage};

use crate::client::Client;
use crate::link::encoded;
use crate::paging::PageCursor;

/// The shortest accepted part of an id.
const PART_CHARS: usize = 4;
/// Enough of an id's random end to tell works apart.
const TAIL_CHARS: usize = 8;
/// How similar a name has to be to be suggested.
const ALIKE: f64 = 0.6;

/// The end of its id, by which people may name it.
pub(super) fn tail(work: WorkId) -> String {
    let id = work.to_string();
    id[id.len() - TAIL_CHARS..].to_owned()
}

/// Finds a work by its name, by its id, or by the beginning or end of its id.
pub(super) async fn find(client: &Client, named: &str) -> Result<MetaContext> {
    match find_by_name(client, named).await? {
        Some(work) => Ok(work),
        None => find_by_id(client, named).await,
    }
}

/// The same for what can not be undone: an earlier name is not enough.
pub(super) async fn find_as_called(client: &Client, named: &str) -> Result<MetaContext> {
    match find_by_name(client, named).await? {
        Some(work) if work_name(named).as_ref() != Some(&work.name) => {
            bail!("{named} is called {} now; say that if it is meant", work.name)
        }
        Some(work) => Ok(work),
        None => find_by_id(client, named).await,
    }
}

async fn find_by_name(client: &Client, named: &str) -> Result<Option<MetaContext>> {
    let here = std::env::current_dir().ok().and_then(|cwd| project_of(&cwd));
    let led_to = all(client, &format!("&name={}", encoded(named))).await?;
    by_name(led_to, named, here.as_deref())
}

async fn find_by_id(client: &Client, named: &str) -> Result<MetaContext> {
    match named.parse::<WorkId>() {
        Ok(id) => client.get(&format!("/meta-contexts/{id}")).await,
        Err(_) => by_id(all(client, "").await?, named),
    }
}

async fn all(client: &Client, which: &str) -> Result<Vec<MetaContext>> {
    let mut works = Vec::new();
    let mut cursor = PageCursor::default();
    loop {
        let after = cursor.parameter("&after");
        let page: MetaContextPage = client.get(&format!("/meta-contexts?limit=200{which}{after}")).await?;
        works.extend(page.meta_contexts);
        if !cursor.advance(page.next_cursor)? {
            return Ok(works);
        }
    }
}

/// Chooses among the works that a name leads to: a current name comes before an earlier one.
fn by_name(led_to: Vec<MetaContext>, named: &str, here: Option<&str>) -> Result<Option<MetaContext>> {
    let name = work_name(named);
    let (called, were): (Vec<_>, Vec<_>) = led_to.into_iter().partition(|work| Some(&work.name) == name.as_ref());
    let (mut meant, how) = if called.is_empty() { (were, "that was called") } else { (called, "called") };
    // A work without sessions is meant only if there is no other.
    if meant.iter().any(|work| !work.session_ids.is_empty()) {
        meant.retain(|work| !work.session_ids.is_empty());
    }
    if meant.len() < 2 {
        return Ok(meant.pop());
    }
    if let Some(place) = meant.iter().position(|work| Some(work.project.as_str()) == here) {
        return Ok(Some(meant.swap_remove(place)));
    }
    let places: Vec<String> = meant.iter().map(|work| format!("\n  {}  {}", tail(work.id), work.project)).collect();
    bail!(
        "{} projects have a piece of work {how} {named}; go to one of them, or say its id:{}",
        meant.len(),
        places.concat()
    )
}

fn by_id(mut works: Vec<MetaContext>, named: &str) -> Result<MetaContext> {
    let part = named.to_ascii_lowercase();
    let is_id = part.len() >= PART_CHARS && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let meant: Vec<usize> = (0..works.len())
        .filter(|place| {
            let id = works[*place].id.to_string();
            is_id && (id.starts_with(&part) || id.ends_with(&part))
        })
        .collect();
    match meant.as_slice() {
        [place] => Ok(works.swap_remove(*place)),
        [] => {
            let alike = |work: &MetaContext| strsim::jaro_winkler(&work.name.to_lowercase(), &named.to_lowercase());
            let nearest = works.iter().map(|work| (alike(work), &work.name)).max_by(|a, b| a.0.total_cmp(&b.0));
            let hint = nearest.filter(|(alike, _)| *alike >= ALIKE).map(|(_, name)| format!("; did you mean {name}?"));
            bail!(
                "no piece of work is called {named}{}",
                hint.unwrap_or_else(|| "; `throughline work` lists them".to_owned())
            )
        }
        several => bail!("the ids of {} pieces of work begin or end with {named}; give more of it", several.len()),
    }
}

/// The project as the server determines it: the git root around a directory, else the directory.
fn project_of(cwd: &Path) -> Option<String> {
    let cwd = cwd.canonicalize().ok()?;
    let root = cwd.ancestors().find(|path| path.join(".git").symlink_metadata().is_ok());
    root.unwrap_or(&cwd).to_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn work(id: &str, name: &str, project: &str) -> MetaContext {
        let at = "2026-01-02T03:04:05.006Z";
        let id = format!("0190a8c0-0000-7000-8000-{id}");
        let work =
            json!({ "id": id, "name": name, "project": project, "sessionIds": [], "createdAt": at, "addedAt": at });
        serde_json::from_value(work).unwrap()
    }

    fn chosen(named: &str, here: Option<&str>) -> Result<String, String> {
        let works = vec![
            work("00000000aaaa", "loom", "/a"),
            work("00000000bbbb", "loom", "/b"),
            work("00000000dddd", "Weave", "/d"),
            work("0000000cabba", "abba", "/b"),
            work("00000000abba", "Weave", "/a"),
            work("00000000cccc", "Café", "/a"),
        ];
        // As the server returns them.
        let had = |work: &MetaContext| match &work.id.to_string()[32..] {
            "dddd" => ["loom", "old"].as_slice(),
            "abba" if work.name == "Weave" => &["old"],
            _ => &[],
        };
        let name = work_name(named).unwrap_or_default();
        let leads = |work: &&MetaContext| work.name == name || had(work).contains(&name.as_str());
        let led_to = works.iter().filter(leads).cloned().collect();
        let found = by_name(led_to, named, here).and_then(|found| found.map_or_else(|| by_id(works, named), Ok));
        found.map(|work| work.id.to_string()[24..].to_owned()).map_err(|err| err.to_string())
    }

    #[test]
    fn a_name_that_repeats_is_meant_here_or_said_to_repeat() {
        assert_eq!(chosen("loom", Some("/b")).unwrap(), "00000000bbbb");
        assert_eq!(chosen(" loom ", Some("/a")).unwrap(), "00000000aaaa");
        let several = "2 projects have a piece of work called loom; go to one of them, or say its id:\n  0000aaaa  /a\n  0000bbbb  /b";
        assert_eq!(chosen("loom", Some("/c")).unwrap_err(), several);
        assert_eq!(chosen("loom", None).unwrap_err(), several);
        assert_eq!(chosen("Cafe\u{301}", None).unwrap(), "00000000cccc");
    }

    #[test]
    fn a_name_that_they_only_had_is_meant_likewise() {
        assert_eq!(chosen("old", Some("/d")).unwrap(), "00000000dddd");
        let several = "2 projects have a piece of work that was called old; go to one of them, or say its id:\n  0000dddd  /d\n  0000abba  /a";
        assert_eq!(chosen("old", Some("/c")).unwrap_err(), several);
        // The current name comes first.
        assert_eq!(chosen("loom", Some("/d")).unwrap_err().lines().count(), 3);
    }

    #[test]
    fn an_id_is_told_by_its_beginning_or_end_after_every_name() {
        assert_eq!(chosen("abba", None).unwrap(), "0000000cabba");
        assert_eq!(chosen("0000ABBA", None).unwrap(), "00000000abba");
        assert_eq!(
            chosen("0190a8c0", None).unwrap_err(),
            "the ids of 6 pieces of work begin or end with 0190a8c0; give more of it"
        );
    }

    #[test]
    fn what_is_not_there_is_answered_with_the_nearest_name_or_the_way_to_the_list() {
        assert_eq!(chosen("weave", None).unwrap_err(), "no piece of work is called weave; did you mean Weave?");
        assert_eq!(chosen("zzz", None).unwrap_err(), "no piece of work is called zzz; `throughline work` lists them");
        assert_eq!(chosen("", None).unwrap_err(), "no piece of work is called ; `throughline work` lists them");
    }
}
