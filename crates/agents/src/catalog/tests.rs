//! Tests the table, the person's changes to it, and the lookup of programs, with real files and real processes.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use rustix::process::Pid;
use tempfile::TempDir;

use super::*;
use crate::name::is_name;

const OWN: &str = "/opt/throughline/throughline";

fn catalog(changes: &[(&str, Change)]) -> Result<Catalog, CatalogError> {
    let changes = changes.iter().map(|(name, change)| ((*name).to_owned(), change.clone()));
    Catalog::new(
        OWN,
        &["mark", "look_back"].map(|name| crate::OwnTool {
            server: crate::OWN_MCP_SERVER,
            name: name.to_owned(),
            asks_itself: false,
        }),
        changes.collect(),
    )
}

fn changed(name: &str, change: Change) -> Result<CatalogEntry, CatalogError> {
    catalog(&[(name, change)]).map(|catalog| CatalogEntry::clone(catalog.find_entry(name).unwrap()))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// A folder of programs, and a home for them.
struct World {
    folder: TempDir,
}

impl World {
    fn new(programs: &[(&str, &str)]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(world.path()).unwrap();
        fs::create_dir(world.home()).unwrap();
        for (name, program) in programs {
            world.put(name, program);
        }
        world
    }

    /// Makes links, because a file that is still being written can not be run.
    fn put(&self, name: &str, program: &str) {
        let place = Path::new(&self.path()).join(name);
        drop(fs::remove_file(&place));
        symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program), place).unwrap();
    }

    fn path(&self) -> String {
        self.folder.path().join("bin").to_str().unwrap().to_owned()
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn runs(&self) -> String {
        fs::read_to_string(self.home().join("runs")).unwrap_or_default()
    }

    /// Real programs need the system's own folders.
    async fn find(&self, catalog: &Catalog) -> Vec<FoundAgent> {
        let path = format!("{}:/usr/bin:/bin", self.path());
        catalog.find(&path, Some(&self.home())).await
    }

    async fn version(&self, catalog: &Catalog, name: &str) -> Option<String> {
        let found = self.find(catalog).await;
        found.into_iter().find(|found| found.entry.name == name).and_then(|found| found.version)
    }
}

#[test]
fn the_known_agents_are_sound() {
    let catalog = catalog(&[]).unwrap();
    let mut names = HashSet::new();
    for entry in catalog.entries() {
        assert!(is_name(&entry.name), "{entry:?}");
        assert!(names.insert(&entry.name), "{} is there twice", entry.name);
        assert_eq!(change::check(entry), Ok(()), "{entry:?}");
        let sentences = [&entry.install, &entry.sign_in].into_iter().flatten().chain([&entry.description]);
        for sentence in sentences.chain(&entry.notes) {
            assert!(sentence.ends_with('.') && !sentence.contains('\n'), "{}: {sentence}", entry.name);
        }
        assert_eq!(entry.install.is_none(), entry.builtin, "{entry:?}");
        let patterns: HashSet<_> = entry.pass_env.iter().collect();
        assert_eq!(patterns.len(), entry.pass_env.len(), "{} is passed something twice", entry.name);
    }
    let commands: HashSet<_> = catalog.entries().iter().map(|entry| (&entry.command, &entry.args)).collect();
    assert_eq!(commands.len(), names.len(), "two agents are the same program");
}

/// A new row needs a line in the manual too.
#[test]
fn the_known_agents_are_all_in_the_manual() {
    let manual = include_str!("../../../../docs/agents.md");
    for entry in catalog(&[]).unwrap().entries() {
        let row = manual.lines().find(|line| line.starts_with(&format!("| `{}` |", entry.name)));
        let row = row.unwrap_or_else(|| panic!("{} is not in docs/agents.md", entry.name)).replace("\\|", "|");
        let commands = entry.install.iter().flat_map(|install| install.split('`').skip(1).step_by(2));
        commands.for_each(|command| assert!(row.contains(command), "{}: {command} is not in {row}", entry.name));
    }
    let rows = manual.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows, ROWS.len(), "docs/agents.md tells of an agent that is not known");
}

#[test]
fn gemini_is_told_of_each_of_our_tools() {
    let catalog = catalog(&[]).unwrap();
    let named = "--allowed-tools=mcp_throughline_mark,mcp_throughline_look_back";
    assert_eq!(catalog.find_entry("gemini").unwrap().args, ["--acp", named]);
}

#[test]
fn the_guide_is_this_program() {
    let catalog = catalog(&[]).unwrap();
    let guide = catalog.find_entry("guide").unwrap();
    assert_eq!((guide.command.as_str(), &*guide.args, guide.builtin), (OWN, &["guide".to_owned()][..], true));
    assert_eq!(catalog.entries().iter().filter(|entry| entry.builtin).count(), 1);
}

#[test]
fn only_what_is_given_changes() {
    let known = CatalogEntry::clone(catalog(&[]).unwrap().find_entry("claude").unwrap());
    let title = Change { title: Some("Mine".to_owned()), ..Change::default() };
    assert_eq!(changed("claude", title).unwrap(), CatalogEntry { title: "Mine".to_owned(), ..known.clone() });

    let env = BTreeMap::from([("ENABLE_TOOL_SEARCH".to_owned(), "true".to_owned()), ("A".to_owned(), "b".to_owned())]);
    let entry = changed("claude", Change { env, ..Change::default() }).unwrap();
    assert_eq!(entry.env["ENABLE_TOOL_SEARCH"], "true");
    assert_eq!(entry.env["A"], "b");
    assert_eq!(entry.env["DISABLE_AUTOUPDATER"], known.env["DISABLE_AUTOUPDATER"]);

    let none = Change { pass_env: Some(Vec::new()), ..Change::default() };
    assert_eq!(changed("claude", none).unwrap(), CatalogEntry { pass_env: Vec::new(), ..known });
}

#[test]
fn another_program_is_not_asked_for_its_version() {
    let at = |command: &str| Change { command: Some(command.to_owned()), ..Change::default() };
    assert_eq!(changed("claude", at("/opt/claude-agent-acp")).unwrap().version_args, ["--version"]);
    assert!(changed("claude", at("docker")).unwrap().version_args.is_empty());
    assert!(changed("mine", at("/opt/claude-agent-acp")).unwrap().version_args.is_empty());
    assert!(!changed("guide", at("/opt/guide")).unwrap().builtin);
}

#[test]
fn an_agent_of_ones_own_needs_a_name_and_a_program() {
    let own = Change { command: Some("my-agent".to_owned()), args: Some(texts(&["acp"])), ..Change::default() };
    let entry = changed("mine", own.clone()).unwrap();
    assert_eq!(
        (entry.title.as_str(), entry.command.as_str(), &*entry.args),
        ("mine", "my-agent", &["acp".to_owned()][..])
    );
    assert!(!entry.shared && !entry.builtin && entry.pass_env.is_empty() && entry.env.is_empty());

    let refused = |name: &str, change: Change| changed(name, change).unwrap_err();
    assert_eq!(refused("My Agent", own.clone()), CatalogError::Name("My Agent".to_owned()));
    assert_eq!(refused("mine", Change::default()), CatalogError::NoCommand("mine".to_owned()));
    for command in ["", "my agent", "./agent", "bin/agent", "~/agent", "agent\n"] {
        let change = Change { command: Some(command.to_owned()), ..Change::default() };
        assert_eq!(refused("mine", change), CatalogError::Command("mine".to_owned()), "{command:?}");
    }
    for variable in ["", "1A", "A B", "A=B", "LD-X"] {
        let env = BTreeMap::from([(variable.to_owned(), String::new())]);
        let expected = CatalogError::Variable { agent: "mine".to_owned(), variable: variable.to_owned() };
        assert_eq!(refused("mine", Change { env, ..own.clone() }), expected);
    }
    for pattern in ["*", "_*", "OPENAI*", "*_KEY", "A_*_B", "", "A B"] {
        let expected = CatalogError::Pattern { agent: "mine".to_owned(), pattern: pattern.to_owned() };
        assert_eq!(refused("mine", Change { pass_env: Some(texts(&[pattern])), ..own.clone() }), expected);
    }
    // T26: no configuration makes a loader run something else, or passes the server's own variables to an agent.
    for variable in ["LD_PRELOAD", "THROUGHLINE_TOKEN"] {
        let expected = CatalogError::Never { agent: "mine".to_owned(), variable: variable.to_owned() };
        let env = BTreeMap::from([(variable.to_owned(), String::new())]);
        assert_eq!(refused("mine", Change { env, ..own.clone() }), expected);
        assert_eq!(refused("mine", Change { pass_env: Some(texts(&[variable])), ..own.clone() }), expected);
    }
    let zero = Change { args: Some(texts(&["a\0b"])), ..own };
    assert_eq!(refused("mine", zero), CatalogError::ZeroByte("mine".to_owned()));
}

#[test]
fn what_is_hidden_can_not_be_named() {
    let hidden = Change { hidden: true, ..Change::default() };
    let mine = Change { command: Some("mine".to_owned()), ..hidden.clone() };
    let catalog = catalog(&[("codex", hidden), ("mine", mine)]).unwrap();
    assert!(catalog.find_entry("mine").is_none());
    assert!(catalog.find_entry("codex").is_none());
    assert!(catalog.find_entry("claude").is_some());
}

#[test]
fn only_the_named_variables_are_passed() {
    let pass_env = Some(texts(&["OPENAI_*", "KEY"]));
    let change = Change { command: Some("x".to_owned()), pass_env, ..Change::default() };
    let entry = changed("mine", change).unwrap();
    let own = ["HOME", "KEY", "KEY_2", "MY_KEY", "OPENAI", "OPENAI_API_KEY", "OPENAI_BASE_URL", "openai_api_key"];
    assert_eq!(entry.passed(own), ["KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"]);
}

/// T25: trust goes to what would be started, not to a name.
#[test]
fn a_fingerprint_tells_what_would_be_started() {
    let full = Change {
        command: Some("agent".to_owned()),
        args: Some(texts(&["a", "b"])),
        env: BTreeMap::from([("A".to_owned(), "b".to_owned())]),
        pass_env: Some(texts(&["C"])),
        ..Change::default()
    };
    let of = |name: &str, change: Change| changed(name, change).unwrap().fingerprint();
    let first = of("mine", full.clone());
    let described = Change { title: Some("T".to_owned()), shared: Some(true), ..full.clone() };
    assert_eq!(of("yours", described), first);

    let others = [
        Change { command: Some("agent2".to_owned()), ..full.clone() },
        Change { args: Some(texts(&["ab"])), ..full.clone() },
        Change { args: Some(texts(&["ab", ""])), ..full.clone() },
        Change { args: Some(texts(&["b", "a"])), ..full.clone() },
        Change { args: Some(texts(&["a", "b", ""])), ..full.clone() },
        Change { args: Some(texts(&["a"])), pass_env: Some(texts(&["b", "C"])), ..full.clone() },
        Change { env: BTreeMap::from([("A".to_owned(), "c".to_owned())]), ..full.clone() },
        Change { env: BTreeMap::from([("AB".to_owned(), String::new())]), ..full.clone() },
        Change { pass_env: Some(texts(&["C_*"])), ..full.clone() },
        Change { env: BTreeMap::new(), args: Some(texts(&["a", "b", "A", "b"])), ..full },
    ];
    let all: HashSet<Fingerprint> = others.into_iter().map(|change| of("mine", change)).chain([first]).collect();
    assert_eq!(all.len(), 11);
}

#[test]
fn values_of_variables_are_not_shown() {
    let env = BTreeMap::from([("TOKEN".to_owned(), "canary-4711".to_owned())]);
    let entry = changed("claude", Change { env, ..Change::default() }).unwrap();
    let shown = format!("{entry:?} {:?}", FoundAgent { entry: Arc::new(entry.clone()), program: None, version: None });
    assert!(!shown.contains("canary"), "{shown}");
    assert!(shown.contains("TOKEN"), "{shown}");
}

#[tokio::test]
async fn installed_agents_tell_their_versions() {
    let world = World::new(&[
        ("claude-agent-acp", "tells-version"),
        ("gemini", "prints-garbage"),
        ("qwen", "complains"),
        ("kimi", "never-stops-talking"),
    ]);
    fs::create_dir(Path::new(&world.path()).join("codex-acp")).unwrap();
    let closed = Path::new(&world.path()).join("copilot");
    fs::write(&closed, "#!/bin/sh\necho 1.0\n").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o644)).unwrap();
    symlink("/nowhere", Path::new(&world.path()).join("cline")).unwrap();

    let found = world.find(&catalog(&[]).unwrap()).await;
    let of = |name: &str| {
        let found = found.iter().find(|found| found.entry.name == name).unwrap();
        let program = found.program.as_deref().map(|program| program.strip_prefix(world.path()).unwrap_or(program));
        (program.and_then(Path::to_str), found.version.as_deref())
    };
    assert_eq!(of("claude"), (Some("claude-agent-acp"), Some("sample 1.2.3")));
    assert_eq!(of("gemini"), (Some("gemini"), Some("sample 3.1.4")));
    // A program that prints nothing usable is installed all the same.
    assert_eq!(of("qwen"), (Some("qwen"), None));
    assert_eq!(of("kimi"), (Some("kimi"), None));
    // A folder, a file that may not be run, a link to nothing, nothing.
    for name in ["codex", "copilot", "cline", "opencode"] {
        assert_eq!(of(name), (None, None), "{name}");
    }
    assert_eq!(world.runs(), "ran --version\n");
}

#[tokio::test]
async fn a_relative_folder_of_path_is_not_looked_at() {
    let world = World::new(&[("claude-agent-acp", "tells-version")]);
    let catalog = catalog(&[]).unwrap();
    let here = std::env::current_dir().unwrap();
    let up = "../".repeat(here.components().count() - 1);
    let relative = format!("{up}{}", world.path().trim_start_matches('/'));
    assert!(Path::new(&relative).join("claude-agent-acp").exists());
    let found = catalog.find(&relative, Some(&world.home())).await;
    assert!(found.iter().all(|found| found.program.is_none() || found.entry.builtin));
    assert_eq!(world.runs(), "");
}

#[tokio::test]
async fn a_program_is_asked_once_until_its_file_changes() {
    let world = World::new(&[("claude-agent-acp", "tells-version")]);
    let catalog = catalog(&[]).unwrap();
    let (first, second) = tokio::join!(world.version(&catalog, "claude"), world.version(&catalog, "claude"));
    assert_eq!((first.as_deref(), second.as_deref()), (Some("sample 1.2.3"), Some("sample 1.2.3")));
    assert_eq!(world.version(&catalog, "claude").await, first);
    assert_eq!(world.runs(), "ran --version\n");

    world.put("claude-agent-acp", "tells-newer-version");
    assert_eq!(world.version(&catalog, "claude").await.as_deref(), Some("sample 2.0.0"));
    assert_eq!(world.runs(), "ran --version\n".repeat(2));
}

#[tokio::test]
async fn a_program_is_given_no_more_than_it_needs() {
    let world = World::new(&[("claude-agent-acp", "tells-its-surroundings")]);
    let said = world.version(&catalog(&[]).unwrap(), "claude").await.unwrap();
    let names: Vec<&str> = said.split(' ').collect();
    for given in ["DISABLE_AUTOUPDATER", "ENABLE_TOOL_SEARCH", "HOME", "PATH"] {
        assert!(names.contains(&given), "{given}: {said}");
    }
    // This process itself has it.
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{said}");
    assert!(said.ends_with("in / with input none"), "{said}");
}

/// The paused clock advances as soon as everything waits, so this takes no time.
#[tokio::test(start_paused = true)]
async fn a_program_that_hangs_has_no_version() {
    let world = World::new(&[("claude-agent-acp", "hangs")]);
    let found = world.find(&catalog(&[]).unwrap()).await;
    let claude = found.iter().find(|found| found.entry.name == "claude").unwrap();
    assert_eq!((claude.program.is_some(), claude.version.as_deref()), (true, None));
}

/// The next caller gets the answer.
#[tokio::test(start_paused = true)]
async fn a_slow_program_goes_on_when_whoever_asked_gives_up() {
    let world = World::new(&[("claude-agent-acp", "hangs")]);
    let catalog = catalog(&[]).unwrap();
    assert_eq!(world.version(&catalog, "claude").await, None);
    let pids = world.home().join("pids");
    // A task is always busy here, so the paused clock does not advance.
    while !pids.exists() {
        tokio::task::yield_now().await;
    }
    let pids = fs::read_to_string(pids).unwrap();
    let pid = pids.split_whitespace().next().unwrap().parse().unwrap();
    assert!(is_alive(Pid::from_raw(pid).unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_program_that_was_too_slow_is_asked_again_later() {
    let world = World::new(&[("claude-agent-acp", "hangs-until-told")]);
    let catalog = catalog(&[]).unwrap();
    for _ in 0..2 {
        assert_eq!(world.version(&catalog, "claude").await, None);
    }
    fs::write(world.home().join("answer"), "").unwrap();
    tokio::time::resume();
    assert_eq!(world.version(&catalog, "claude").await, None, "it was asked a moment ago");
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    tokio::time::resume();
    assert_eq!(world.version(&catalog, "claude").await.as_deref(), Some("sample 1.2.3"));
}

#[tokio::test]
async fn nothing_is_left_of_a_program_that_hangs_when_the_catalog_is_gone() {
    let world = World::new(&[("claude-agent-acp", "hangs")]);
    let catalog = catalog(&[]).unwrap();
    let pids = world.home().join("pids");
    let started = async {
        while !pids.exists() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        found = world.find(&catalog) => panic!("it hangs, and yet {found:?}"),
        () = started => (),
    }
    drop(catalog);
    let pids = fs::read_to_string(pids).unwrap();
    let pids: Vec<i32> = pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert_eq!(pids.len(), 2);
    for pid in pids {
        while is_alive(Pid::from_raw(pid).unwrap()) {
            tokio::task::yield_now().await;
        }
    }
}

/// A zombie is not alive.
fn is_alive(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    rustix::process::test_kill_process(pid).is_ok() && state != Some('Z')
}

#[tokio::test]
async fn the_guide_is_the_last_of_those_that_are_here() {
    let mine = Change { command: Some("my-agent".to_owned()), ..Change::default() };
    let changes = BTreeMap::from([("mine".to_owned(), mine)]);
    let catalog = Catalog::new("throughline", &[], changes).unwrap();
    let world = World::new(&[("codex-acp", "tells-version"), ("qwen", "complains"), ("my-agent", "tells-version")]);
    let list = catalog.list(&format!("{}:/usr/bin:/bin", world.path()), Some(&world.home())).await;
    let installed: Vec<&str> =
        list.iter().take_while(|agent| agent.installed).map(|agent| agent.name.as_str()).collect();
    assert_eq!(installed, ["codex", "qwen", "mine", "guide"]);
    assert!(list[4..].iter().all(|agent| !agent.installed && agent.version.is_none() && agent.install.is_some()));
    assert_eq!(list.len(), catalog.entries().len());
    assert_eq!(list[0].version.as_deref(), Some("sample 1.2.3"));
    assert_eq!(list[2].version, None);
    assert_eq!(list[3].version.as_deref(), Some(env!("CARGO_PKG_VERSION")));

    let nothing = World::new(&[]);
    let list = catalog.list(&nothing.path(), None).await;
    assert_eq!(list.iter().position(|agent| agent.installed), Some(0));
    assert_eq!(list[0].name, "guide");
}
