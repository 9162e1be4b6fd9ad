//! Lock files and package settings: the same packages for everybody, whichever registry each person uses.

use super::Finding;
use super::tree::Tree;

/// Cargo's own name for its public registry, the same wherever packages are really fetched from.
const CRATES_IO: &str = r#"source = "registry+https://github.com/rust-lang/crates.io-index""#;
/// TLS is rustls everywhere: one stack, no C library of the system.
const BANNED: [&str; 3] = ["native-tls", "openssl", "openssl-sys"];

pub(super) fn npm_lock_names_no_host(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.name() == "package-lock.json") {
        // One finding is enough: a lock written with the wrong setting has hundreds.
        if let Some((number, _)) = file.lines().find(|(_, line)| line.trim_start().starts_with("\"resolved\"")) {
            let message = "names the host it was fetched from; write it with `omit-lockfile-registry-resolved`";
            findings.push(file.finding(number, message));
        }
    }
    findings
}

pub(super) fn cargo_lock_has_one_source(tree: &Tree) -> Vec<Finding> {
    let Some(lock) = tree.find("Cargo.lock") else {
        return vec![Finding {
            path: "Cargo.lock".to_owned(),
            line: 1,
            message: "the lock file is missing".to_owned(),
        }];
    };
    lock.lines()
        .filter_map(|(number, line)| {
            if line.starts_with("source = ") && line != CRATES_IO {
                return Some(lock.finding(number, "comes from elsewhere than crates.io"));
            }
            let name = line.strip_prefix("name = \"")?.strip_suffix('"')?;
            BANNED.contains(&name).then(|| lock.finding(number, format!("{name} is banned: TLS is rustls")))
        })
        .collect()
}

pub(super) fn no_setting_names_a_registry(tree: &Tree) -> Vec<Finding> {
    tree.files
        .iter()
        .filter(|file| file.name() == ".npmrc" || file.path.starts_with(".cargo/"))
        .flat_map(|file| {
            file.lines()
                .filter(|(_, line)| line.contains("registry=") || line.contains("registry =") || line.contains("://"))
                .map(|(number, _)| file.finding(number, "names a registry; that is each person's own setting"))
                .collect::<Vec<_>>()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::{made_up, printed};
    use super::*;

    #[test]
    fn a_host_in_the_npm_lock_is_found_once() {
        let lock = "{\n  \"a\": {\n    \"resolved\": \"x\"\n  },\n  \"b\": {\n    \"resolved\": \"y\"\n  }\n}\n";
        let tree = made_up(&[("web/package-lock.json", lock)]);
        let findings = npm_lock_names_no_host(&tree);
        assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn a_foreign_source_and_a_second_tls_are_found() {
        let lock = format!("name = \"serde\"\n{CRATES_IO}\nname = \"x\"\nsource = \"git+x\"\nname = \"native-tls\"\n");
        let tree = made_up(&[("Cargo.lock", &lock)]);
        assert_eq!(
            printed(&cargo_lock_has_one_source(&tree)),
            ["Cargo.lock:4: comes from elsewhere than crates.io", "Cargo.lock:5: native-tls is banned: TLS is rustls",]
        );
        assert_eq!(printed(&cargo_lock_has_one_source(&made_up(&[]))), ["Cargo.lock:1: the lock file is missing"]);
    }

    #[test]
    fn a_registry_in_a_setting_is_found() {
        let tree = made_up(&[("web/.npmrc", "maxsockets=6\nregistry=x\n"), (".cargo/config.toml", "[alias]\n")]);
        assert_eq!(
            printed(&no_setting_names_a_registry(&tree)),
            ["web/.npmrc:2: names a registry; that is each person's own setting"]
        );
    }
}
