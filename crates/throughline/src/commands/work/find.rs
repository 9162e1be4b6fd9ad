//! Which piece of work a person means.

use std::path::Path;

use anyhow::{Result, bail};
use model::{WorkId, work_name};
use server::wire::{MetaContext, MetaContextPage};

use crate::client::Client;

/// How much of an id is asked for at least.
const PART_CHARS: usize = 4;
/// Enough of an id's random end to tell pieces of work apart.
const TAIL_CHARS: usize = 8;
/// How alike a name has to be to be asked back.
const ALIKE: f64 = 0.6;

/// The end of its id, by which people may name it.
pub(super) fn tail(work: WorkId) -> String {
    let id = work.to_string();
    id[id.len() - TAIL_CHARS..].to_owned()
}

/// By its name, by its id, or by the beginning or end of its id.
pub(super) async fn find(client: &Client, named: &str) -> Result<MetaContext> {
    if let Ok(id) = named.parse::<WorkId>() {
        return client.get(&format!("/meta-contexts/{id}")).await;
    }
    let works = all(client).await?;
    let here = std::env::current_dir().ok().and_then(|cwd| project_of(&cwd));
    choose(works, named, here.as_deref())
}

async fn all(client: &Client) -> Result<Vec<MetaContext>> {
    let mut works = Vec::new();
    let mut after = String::new();
    loop {
        let page: MetaContextPage = client.get(&format!("/meta-contexts?limit=200{after}")).await?;
        works.extend(page.meta_contexts);
        match page.next_cursor {
            Some(cursor) => after = format!("&after={cursor}"),
            None => return Ok(works),
        }
    }
}

fn choose(works: Vec<MetaContext>, named: &str, here: Option<&str>) -> Result<MetaContext> {
    let name = work_name(named);
    let is_called = |work: &MetaContext| Some(&work.name) == name.as_ref();
    let (mut called, mut others): (Vec<_>, Vec<_>) = works.into_iter().partition(is_called);
    if called.len() > 1 {
        match called.iter().position(|work| Some(work.project.as_str()) == here) {
            Some(place) => return Ok(called.swap_remove(place)),
            None => {
                let places: Vec<String> =
                    called.iter().map(|work| format!("\n  {}  {}", tail(work.id), work.project)).collect();
                bail!(
                    "{} projects have a piece of work called {named}; go to one of them, or say its id:{}",
                    called.len(),
                    places.concat()
                )
            }
        }
    }
    if let Some(work) = called.pop() {
        return Ok(work);
    }
    let part = named.to_ascii_lowercase();
    let is_id = part.len() >= PART_CHARS && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let meant: Vec<usize> = (0..others.len())
        .filter(|place| {
            let id = others[*place].id.to_string();
            is_id && (id.starts_with(&part) || id.ends_with(&part))
        })
        .collect();
    match meant.as_slice() {
        [place] => Ok(others.swap_remove(*place)),
        [] => {
            let alike = |work: &MetaContext| strsim::jaro_winkler(&work.name.to_lowercase(), &named.to_lowercase());
            let nearest = others.iter().map(|work| (alike(work), &work.name)).max_by(|a, b| a.0.total_cmp(&b.0));
            let hint = nearest.filter(|(alike, _)| *alike >= ALIKE).map(|(_, name)| format!("; did you mean {name}?"));
            bail!(
                "no piece of work is called {named}{}",
                hint.unwrap_or_else(|| "; `throughline work` lists them".to_owned())
            )
        }
        several => bail!("the ids of {} pieces of work begin or end with {named}; give more of it", several.len()),
    }
}

/// As the server sees it: the git root around a directory, else the directory.
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
            work("0000000cabba", "abba", "/b"),
            work("00000000abba", "Weave", "/a"),
            work("00000000cccc", "Café", "/a"),
        ];
        choose(works, named, here).map(|work| work.id.to_string()[24..].to_owned()).map_err(|err| err.to_string())
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
    fn an_id_is_told_by_its_beginning_or_end_after_every_name() {
        assert_eq!(chosen("abba", None).unwrap(), "0000000cabba");
        assert_eq!(chosen("0000ABBA", None).unwrap(), "00000000abba");
        assert_eq!(
            chosen("0190a8c0", None).unwrap_err(),
            "the ids of 5 pieces of work begin or end with 0190a8c0; give more of it"
        );
    }

    #[test]
    fn what_is_not_there_is_answered_with_the_nearest_name_or_the_way_to_the_list() {
        assert_eq!(chosen("weave", None).unwrap_err(), "no piece of work is called weave; did you mean Weave?");
        assert_eq!(chosen("zzz", None).unwrap_err(), "no piece of work is called zzz; `throughline work` lists them");
        assert_eq!(chosen("", None).unwrap_err(), "no piece of work is called ; `throughline work` lists them");
    }
}
