//! Tests which paths are protected, and that no other spelling gets around it.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};
use proptest::sample::select;

use super::protected::{never, never_written};
use super::*;

fn verdict(deny: &Deny, path: &str) -> &'static str {
    let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
    match (deny.allows(Access::Read, &names), deny.allows(Access::Write, &names)) {
        (true, true) => "free",
        (true, false) => "read only",
        (false, false) => "protected",
        (false, true) => panic!("{path} could be written but not read"),
    }
}

#[test]
fn each_kind_of_secret_is_protected() {
    let deny = Deny::standard();
    for path in [
        "/p/.env",
        "/p/.env/lib/x.py",
        "/p/.env.local",
        "/p/.env.production.local",
        "/p/.env.example.local",
        "/p/.env.example/.env",
        "/home/ada/.ssh/known_hosts",
        "/home/ada/.ssh",
        "/home/ada/.gnupg/x",
        "/home/ada/.aws/credentials",
        "/home/ada/.netrc",
        "/p/.npmrc",
        "/p/.pypirc",
        "/p/.git-credentials",
        "/home/ada/.docker/config.json",
        "/home/ada/.kube/config",
        "/home/ada/.config/gh/hosts.yml",
        "/home/ada/Library/Keychains/login.keychain-db",
        "/home/ada/.mozilla/firefox/x/logins.json",
        "/home/ada/.config/google-chrome-beta/Default/Cookies",
        "/home/ada/Library/Application Support/Google/Chrome/Default/Cookies",
        "/p/id_rsa",
        "/p/id_ed25519",
        "/p/deploy_key",
        "/p/server.pem",
        "/p/server.key",
        "/p/a.p12",
        "/p/a.pfx",
        "/p/host:8443.pem",
        "/p/.git/config",
        "/p/.git/modules/sub/config",
    ] {
        assert_eq!(verdict(&deny, path), "protected", "{path}");
    }
}

#[test]
fn the_insides_of_git_are_never_written() {
    let deny = Deny::standard();
    for path in ["/p/.git", "/p/.git/HEAD", "/p/.git/hooks/pre-commit", "/p/.GIT/hooks/x", "/p/sub/.git/index"] {
        assert_eq!(verdict(&deny, path), "read only", "{path}");
    }
}

#[test]
fn what_only_looks_alike_is_free() {
    let deny = Deny::standard();
    for path in [
        "/p/.env.example",
        "/p/.env.sample",
        "/p/.env.template",
        "/p/.environment",
        "/p/env",
        "/p/id_rsa.pub",
        "/p/monkey",
        "/p/keys.rs",
        "/p/.github/config",
        "/p/.gitignore",
        "/p/.docker/Dockerfile",
        "/p/docker/config.json",
        "/p/.docker/x/config.json",
        "/p/.config/ghost",
        "/p/ssh/config",
        "/p/...",
        "/",
    ] {
        assert_eq!(verdict(&deny, path), "free", "{path}");
    }
}

#[test]
fn names_of_the_person_are_added_and_win() {
    let deny = Deny::standard().with_names(["*.SECRET", "notes/private", ".env.example", "Geheimnis-ü"]).unwrap();
    for path in ["/p/a.secret", "/p/Notes/Private/x", "/p/.env.example", "/p/geheimnis-u\u{308}"] {
        assert_eq!(verdict(&deny, path), "protected", "{path}");
    }
    assert_eq!(verdict(&deny, "/p/notes/public"), "free");
    let deny = Deny::standard().with_names(["u*"]).unwrap();
    assert_eq!(verdict(&deny, "/p/\u{fc}ber/u\u{308}ber"), "free", "another letter");
    assert!(Deny::standard().with_names(["ok", "a//b"]).is_err());
}

/// Every known pattern parses, and is in its folded form.
#[test]
fn known_patterns_are_sound() {
    assert!(never().len() > 50 && never_written().len() == 1);
}

/// One letter of a name, spelt as some file system would still accept it.
fn letter(c: char) -> impl Strategy<Value = String> {
    let mut ways = vec![c.to_string(), c.to_uppercase().collect()];
    ways.extend(
        match c {
            's' => vec!["\u{17f}"],
            'k' => vec!["\u{212a}"],
            _ => vec![],
        }
        .into_iter()
        .map(str::to_owned),
    );
    let ignored = select(vec!["", "", "", "\u{200b}", "\u{200d}", "\u{feff}", "\u{ad}", "\u{fe0f}", "\u{e0041}"]);
    (select(ways), ignored).prop_map(|(letter, ignored)| letter + ignored)
}

fn spelling(name: &'static str) -> impl Strategy<Value = String> {
    let tail = select(vec!["", ".", "..", " ", ". . ", "\u{a0}", "\t", "::$DATA", ":x", " :x", ".:x.txt"]);
    let letters: Vec<_> = name.chars().map(|c| letter(c).boxed()).collect();
    (letters, tail).prop_map(|(letters, tail)| letters.concat() + tail)
}

fn secret() -> impl Strategy<Value = Vec<String>> {
    let names: Vec<&[&'static str]> = vec![
        &[".env"],
        &[".env.local"],
        &[".ssh"],
        &["id_rsa"],
        &["deploy_key"],
        &["server.pem"],
        &[".git-credentials"],
        &[".netrc"],
        &[".docker", "config.json"],
        &[".kube", "config"],
        &[".git", "config"],
    ];
    select(names).prop_flat_map(|parts| parts.iter().map(|part| spelling(part).boxed()).collect::<Vec<_>>())
}

fn around() -> impl Strategy<Value = Vec<String>> {
    vec(prop_oneof!["[a-z]{1,6}", any::<String>(), Just(".env.example".to_owned())], 0..4)
}

proptest! {
    #[test]
    fn no_spelling_gets_around_it(above in around(), secret in secret(), below in around()) {
        let path = [above, secret, below].concat();
        let deny = Deny::standard();
        assert!(!deny.allows(Access::Read, &path), "{path:?}");
        assert!(!deny.allows(Access::Write, &path), "{path:?}");
    }

    #[test]
    fn no_spelling_of_git_is_written(above in around(), git in spelling(".git"), below in around()) {
        assert!(!Deny::standard().allows(Access::Write, &[above, vec![git], below].concat()));
    }

    #[test]
    fn ordinary_names_are_free(path in vec("[a-z]{1,8}(\\.(rs|md|txt|toml))?", 0..6)) {
        assert!(Deny::standard().allows(Access::Write, &path), "{path:?}");
    }
}
