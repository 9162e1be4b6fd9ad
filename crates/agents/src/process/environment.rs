//! Chooses the environment of an agent.
//!
//! Invariant: a variable that is named neither here nor by the person does not reach an agent. Our own variables hold
//! secrets, and those of the loader choose code; neither is ever passed on, not even on request.

use std::collections::BTreeMap;

/// Variables that every agent needs to find its user's settings, credentials, tools and network.
const PASSED: [&str; 21] = [
    "ALL_PROXY",
    "HOME",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "LANG",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NO_PROXY",
    "PATH",
    "SHELL",
    "SSH_AUTH_SOCK",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

const PASSED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];
const NEVER_PREFIXES: [&str; 3] = ["LD_", "DYLD_", "THROUGHLINE_"];

/// Takes from `base`, the server's own environment, what every agent gets and what `pass` names; `set` overrides
/// both.
pub fn environment(
    base: &BTreeMap<String, String>,
    pass: &[String],
    set: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let is_passed = |name: &str| {
        PASSED.contains(&name)
            || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || pass.iter().any(|passed| passed == name)
    };
    let inherited = base.iter().filter(|(name, _)| is_passed(name));
    let chosen = inherited.chain(set).filter(|(name, _)| may_ever_pass(name));
    chosen.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether a variable of this name may be passed to an agent at all.
pub(crate) fn may_ever_pass(name: &str) -> bool {
    // A name with an equals sign would set another variable than the one that was checked.
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    is_name && !NEVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(names: &[&str]) -> BTreeMap<String, String> {
        names.iter().map(|name| ((*name).to_owned(), format!("value of {name}"))).collect()
    }

    fn names(variables: &BTreeMap<String, String>) -> Vec<&str> {
        variables.keys().map(String::as_str).collect()
    }

    #[test]
    fn only_what_is_listed_is_passed() {
        let base = variables(&[
            "AWS_SECRET_ACCESS_KEY",
            "HOME",
            "HOMEBREW_TOKEN",
            "LC_ALL",
            "PATH",
            "PATHOLOGY",
            "XDG_CONFIG_HOME",
            "https_proxy",
        ]);
        let passed = environment(&base, &[], &BTreeMap::new());
        assert_eq!(names(&passed), ["HOME", "LC_ALL", "PATH", "XDG_CONFIG_HOME", "https_proxy"]);
    }

    #[test]
    fn an_agent_gets_what_it_is_given_by_name() {
        let base = variables(&["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
        let set = BTreeMap::from([("PATH".to_owned(), "/mine".to_owned())]);
        let passed = environment(&base, &["OPENAI_API_KEY".to_owned(), "NOT_THERE".to_owned()], &set);
        assert_eq!(names(&passed), ["OPENAI_API_KEY", "PATH"]);
        assert_eq!(passed["PATH"], "/mine");
    }

    #[test]
    fn what_is_set_wins() {
        let set = BTreeMap::from([("HOME".to_owned(), "/other".to_owned())]);
        assert_eq!(environment(&variables(&["HOME"]), &["HOME".to_owned()], &set)["HOME"], "/other");
    }

    #[test]
    fn the_loaders_and_our_own_never_pass() {
        let never = ["DYLD_INSERT_LIBRARIES", "LD_PRELOAD", "THROUGHLINE_TOKEN"];
        let pass = never.map(str::to_owned);
        assert!(environment(&variables(&never), &pass, &variables(&never)).is_empty());
    }

    #[test]
    fn a_name_can_not_smuggle_another_one() {
        assert!(environment(&BTreeMap::new(), &[], &variables(&["A=1\0LD_PRELOAD", "LD_PRELOAD=x", ""])).is_empty());
    }
}
