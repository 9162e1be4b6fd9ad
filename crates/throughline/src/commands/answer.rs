//! `throughline answer`: answers what the agent asked.

use anyhow::{Context as _, Result, bail};
use model::{PermissionKind, PermissionOption};
use serde_json::Value;
use server::wire::{NewAnswer, OpenRequest};

use crate::cli;
use crate::client::Client;
use crate::data_dir::DataDir;
use crate::terminal;

pub(super) async fn run(data: &DataDir, answer: cli::Answer) -> Result<()> {
    let client = Client::connect(data).await?;
    let session = client.find_session(&answer.session).await?;
    let open = find(&session.open_requests, answer.request.as_deref())?;
    let option = option_of(&open.options, &answer.option)?;
    let new = NewAnswer { option, fields: None, remember: answer.remember, key: None };
    let sent = send_answer(&client, &session.row.id.to_string(), &open.request, &new).await;
    client.close().await;
    sent?;
    if answer.json {
        return Ok(terminal::line(r#"{"success":true}"#)?);
    }
    let said = if answer.remember { "Answered, and remembered." } else { "Answered." };
    Ok(terminal::line(said)?)
}

/// Sends an answer; the first one counts.
pub(super) async fn send_answer(client: &Client, session: &str, request: &str, answer: &NewAnswer) -> Result<()> {
    client.post::<Value>(&format!("/sessions/{session}/permissions/{request}"), Some(answer)).await?;
    Ok(())
}

fn find<'a>(open: &'a [OpenRequest], named: Option<&str>) -> Result<&'a OpenRequest> {
    let found = match named {
        Some(name) => open.iter().find(|open| open.request == name),
        None => open.first(),
    };
    found.context("nothing like that waits for an answer; `throughline show` prints what does")
}

/// The option that is meant: by our word for it, or by the agent's own id.
pub(super) fn option_of(options: &[PermissionOption], word: &str) -> Result<String> {
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
        let options = [
            option("deny", PermissionKind::RejectOnce),
            option("here", PermissionKind::AllowAlways),
            option("everywhere", PermissionKind::AllowAlways),
        ];
        let err = option_of(&options, "bogus").unwrap_err().to_string();
        assert!(err.ends_with("it offers: deny, always (here), everywhere"), "{err}");
    }
}
