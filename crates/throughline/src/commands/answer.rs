//! `throughline answer`: answers what the agent asked.
//!
//! Invariant: `always` and `never` mean what the page's buttons mean: exactly the same is answered so from now on, here, and
//! `permissions` lists it. Only where the same can not be known again are they the agent's own.

use anyhow::{Context as _, Result, anyhow, bail};
use model::{PermissionKind, PermissionOption};
use serde_json::Value;
use server::wire::{NewAnswer, OpenRequest};

use crate::cli;
use crate::client::{Client, is_refusal};
use crate::data_dir::DataDir;
use crate::terminal;

pub(super) async fn run(data: &DataDir, answer: cli::Answer) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(&answer.session).await?;
    let open = find(&session.open_requests, answer.request.as_deref())?;
    let choices = choices(&open.options, &answer.option, answer.remember)?;
    let sent = send_answer(&client, &session.row.id.to_string(), &open.request, choices).await;
    client.close().await;
    let remembered = sent?;
    if answer.json {
        return Ok(terminal::line(r#"{"success":true}"#)?);
    }
    let said = if remembered { "Answered, and remembered." } else { "Answered." };
    Ok(terminal::line(said)?)
}

/// One way to answer: an option, and whether it is given again to exactly the same.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Choice {
    option: String,
    remember: bool,
}

/// What a word means, the best first.
pub(super) fn choices(options: &[PermissionOption], word: &str, remember: bool) -> Result<Vec<Choice>> {
    let once = match word {
        "always" | "a" => Some(PermissionKind::AllowOnce),
        "never" => Some(PermissionKind::RejectOnce),
        _ => None,
    };
    let ours = options.iter().find(|option| Some(option.kind) == once);
    let ours = ours.map(|option| Choice { option: option.id.clone(), remember: true });
    match option_of(options, word) {
        Ok(option) => Ok(ours.into_iter().chain([Choice { option, remember }]).collect()),
        Err(err) => ours.map(|ours| vec![ours]).ok_or(err),
    }
}

/// Sends an answer, the first of these that can be given; says whether it is remembered.
pub(super) async fn send_answer(client: &Client, session: &str, request: &str, choices: Vec<Choice>) -> Result<bool> {
    let mut sent = Err(anyhow!("there is no such answer"));
    for Choice { option, remember } in choices {
        let answer = NewAnswer { option, fields: None, remember, key: None };
        let path = format!("/sessions/{session}/permissions/{request}");
        sent = client.post::<Value>(&path, Some(&answer)).await.map(|_| remember);
        if !sent.as_ref().is_err_and(|err| is_refusal(err, "nothing_to_remember")) {
            break;
        }
    }
    sent
}

fn find<'a>(open: &'a [OpenRequest], named: Option<&str>) -> Result<&'a OpenRequest> {
    let found = match named {
        Some(name) => open.iter().find(|open| open.request == name),
        None => open.first(),
    };
    found.context("nothing like that waits for an answer; `throughline show` prints what does")
}

/// The option that is meant: by our word for it, or by the agent's own id.
fn option_of(options: &[PermissionOption], word: &str) -> Result<String> {
    let kind = match word {
        "allow" | "y" | "yes" => Some(PermissionKind::AllowOnce),
        "always" | "a" => Some(PermissionKind::AllowAlways),
        "deny" | "n" | "no" => Some(PermissionKind::RejectOnce),
        "never" => Some(PermissionKind::RejectAlways),
        _ => None,
    };
    let meant = |option: &&PermissionOption| option.id == word || Some(option.kind) == kind;
    match options.iter().find(meant) {
        Some(option) => Ok(option.id.clone()),
        None => {
            let offered: Vec<String> = options.iter().map(|option| named(options, option)).collect();
            bail!("the agent offers no such answer; it offers: {}", offered.join(", "))
        }
    }
}

/// Our word for an option, if it would choose that option, and the agent's own name of it.
fn named(options: &[PermissionOption], option: &PermissionOption) -> String {
    let word = match option.kind {
        PermissionKind::AllowOnce => "allow",
        PermissionKind::AllowAlways => "always",
        PermissionKind::RejectOnce => "deny",
        PermissionKind::RejectAlways => "never",
    };
    match option_of(options, word) {
        Ok(id) if id == option.id && id != word => format!("{word} ({id})"),
        Ok(_) | Err(_) => option.id.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_chosen_by_its_meaning_or_by_its_name() {
        let option = |id: &str, kind| PermissionOption { id: id.to_owned(), name: id.to_owned(), kind };
        let options = [option("proceed", PermissionKind::AllowOnce), option("stop", PermissionKind::RejectOnce)];
        assert_eq!(option_of(&options, "allow").unwrap(), "proceed");
        assert_eq!(option_of(&options, "stop").unwrap(), "stop");
        assert_eq!(option_of(&options, "n").unwrap(), "stop");
        let err = option_of(&options, "always").unwrap_err().to_string();
        assert!(err.ends_with("it offers: allow (proceed), deny (stop)"), "{err}");
        let choice = |option: &str, remember| Choice { option: option.to_owned(), remember };
        assert_eq!(choices(&options, "a", false).unwrap(), [choice("proceed", true)]);
        assert_eq!(choices(&options, "never", false).unwrap(), [choice("stop", true)]);
        assert_eq!(choices(&options, "allow", true).unwrap(), [choice("proceed", true)]);
        let options = [
            option("deny", PermissionKind::RejectOnce),
            option("here", PermissionKind::AllowAlways),
            option("everywhere", PermissionKind::AllowAlways),
        ];
        assert_eq!(choices(&options, "always", false).unwrap(), [choice("here", false)], "nothing is allowed once");
        let err = option_of(&options, "bogus").unwrap_err().to_string();
        assert!(err.ends_with("it offers: deny, always (here), everywhere"), "{err}");
    }
}
