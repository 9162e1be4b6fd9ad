//! The list of protected names.

use std::path::{Path, PathBuf};

use super::pattern::Pattern;

/// Neither read nor written, with everything below.
const NEVER: &[&str] = &[
    // Settings of programs that hold passwords.
    ".env",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".htpasswd",
    ".vault-token",
    ".git-credentials",
    // A remote's address may contain a token.
    ".git/config",
    ".git/config.worktree",
    ".git/modules/*/config",
    ".config/git/credentials",
    ".config/gh",
    ".config/hub",
    ".config/gcloud",
    ".config/op",
    ".aws",
    ".azure",
    ".docker/config.json",
    ".kube/config",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".terraform.d/credentials.tfrc.json",
    // Agents' own sign-ins.
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".local/share/opencode/auth.json",
    // Keys.
    ".ssh",
    ".gnupg",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ed25519_sk",
    "*_key",
    "*.key",
    "*.pem",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    // Keychains.
    "*.keychain",
    "*.keychain-db",
    "library/keychains",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    // Browser profiles.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome*",
    ".config/chromium",
    ".config/bravesoftware",
    ".config/microsoft-edge*",
    ".config/vivaldi*",
    ".config/opera*",
    "snap/firefox",
    "snap/chromium",
    ".var/app/org.mozilla.firefox",
    "library/application support/google",
    "library/application support/firefox",
    "library/application support/bravesoftware",
    "library/application support/microsoft edge*",
    "library/safari",
];

const ENV_VARIANTS: &str = ".env.*";
/// Made to be shown.
const ENV_EXAMPLES: &[&str] = &[".env.example", ".env.sample", ".env.template"];

/// Read, but not written: the next git command runs hooks and settings in there.
const NEVER_WRITTEN: &[&str] = &[".git"];

/// The kernel's: a process's memory and environment, switches.
pub(super) const FOLDERS: &[&str] = &["/proc", "/sys"];

/// Devices; but `/dev/shm` is a place for files.
pub(super) const NOT_ENTERED: &[&str] = &["/dev"];

/// The folders of a home that are protected with everything below and are there.
pub(super) fn folders_of(home: &Path) -> impl Iterator<Item = PathBuf> {
    let named = NEVER.iter().filter(|text| !text.contains('*')).map(|text| home.join(text));
    named.filter(|path| path.is_dir())
}

pub(super) fn never() -> Vec<Pattern> {
    let variants = Pattern::known(ENV_VARIANTS).except(ENV_EXAMPLES);
    NEVER.iter().map(|text| Pattern::known(text)).chain([variants]).collect()
}

pub(super) fn never_written() -> Vec<Pattern> {
    NEVER_WRITTEN.iter().map(|text| Pattern::known(text)).collect()
}
