//! How git's words are read, and which repositories are not.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use super::parse::{index_entries, tree_entries};
use super::*;

#[test]
fn an_index_is_read_with_what_its_files_were_like() {
    let printed = b"100644 aaaa 0\ta b.txt\0  ctime: 1:2\n  mtime: 12:345678901\n  dev: 1\tino: 2\n  uid: 0\tgid: 0\n  size: 7\tflags: 0\n\
        120000 bbbb 0\tlink\x00100644 cccc 2\tboth\0  mtime: 1:0\n  size: 1\tflags: 0\n160000 dddd 0\tsub\0\
        100644 eeee 0\tsparse\0  mtime: 0:0\n  size: 0\tflags: 40004000\n\
        100644 ffff 0\tassumed\0  mtime: 0:0\n  size: 0\tflags: 8000\n";
    let index = index_entries(printed).files;
    let clean = Some(Clean { modified_at_ms: 12_345, bytes: 7 });
    assert_eq!(
        index["a b.txt"],
        Tracked { kind: TrackedKind::File, object: "aaaa".to_owned(), clean, work_file: WorkFile::Compared }
    );
    assert_eq!((index["link"].kind, index["sub"].kind), (TrackedKind::Link, TrackedKind::Submodule));
    assert_eq!(index["both"].clean, None);
    assert_eq!(
        (index["sparse"].work_file, index["assumed"].work_file),
        (WorkFile::LeftOut, WorkFile::AssumedUnchanged)
    );
    assert_eq!(index.len(), 6);
}

#[test]
fn trees_are_read_whatever_is_in_them() {
    let tree = tree_entries(b"100644 blob aaaa\tx\ty\x00100755 blob bbbb\tz\0\xff\x00100644 blob cccc\to\xffd\0");
    assert_eq!(tree.files.keys().collect::<Vec<_>>(), ["x\ty", "z"]);
    assert_eq!(tree.not_text, [b"o\xffd".to_vec()].into());
    let index = index_entries(
        b"100644 aaaa 0\to\xffd\0  mtime: 0:0\n  size: 0\tflags: 0\n\
        100644 bbbb 0\tleft\xffout\0  mtime: 0:0\n  size: 0\tflags: 40004000\n",
    );
    assert_eq!((index.files.len(), index.not_text), (0, [b"o\xffd".to_vec()].into()));
}

/// The bare bones of a repository.
fn bones(at: &Path) {
    for folder in ["objects/info", "refs"] {
        fs::create_dir_all(at.join(folder)).unwrap();
    }
    fs::write(at.join("config"), "").unwrap();
}

#[test]
fn a_repository_that_leads_elsewhere_is_not_read() {
    let disk = tempfile::tempdir().unwrap();
    let root = disk.path().canonicalize().unwrap();
    let (secret, project) = (root.join("secret"), root.join("project"));
    fs::create_dir_all(&project).unwrap();
    bones(&secret.join(".git"));
    let dot_git = project.join(".git");
    let found = || Repository::find(&project);
    assert_eq!(found(), Err(GitError::NoRepository));
    assert!(Repository::find(&secret).is_ok());

    fs::write(&dot_git, format!("gitdir: {}\n", secret.join(".git").display())).unwrap();
    assert_eq!(found(), Err(GitError::Elsewhere), "a pointer");
    fs::remove_file(&dot_git).unwrap();
    std::os::unix::fs::symlink(secret.join(".git"), &dot_git).unwrap();
    assert_eq!(found(), Err(GitError::Elsewhere), "a link");
    fs::remove_file(&dot_git).unwrap();

    bones(&dot_git);
    assert!(found().is_ok());
    fs::write(dot_git.join("commondir"), "../../secret/.git").unwrap();
    assert_eq!(found(), Err(GitError::Elsewhere), "shared data");
    fs::remove_file(dot_git.join("commondir")).unwrap();
    fs::write(dot_git.join("objects/info/alternates"), "/elsewhere").unwrap();
    assert_eq!(found(), Err(GitError::Elsewhere), "borrowed objects");
    fs::remove_dir_all(dot_git.join("objects")).unwrap();
    std::os::unix::fs::symlink(secret.join(".git/objects"), dot_git.join("objects")).unwrap();
    assert_eq!(found(), Err(GitError::Elsewhere), "linked objects");
}

#[test]
fn nothing_that_git_reads_may_be_a_link() {
    let disk = tempfile::tempdir().unwrap();
    let root = disk.path().canonicalize().unwrap();
    let (secret, project) = (root.join("secret/.git"), root.join("project"));
    let links = [
        "HEAD",
        "index",
        "packed-refs",
        "refs/heads",
        "objects/pack",
        "objects/info",
        "objects/ab",
        "objects/ab/cdef",
        "objects/pack/pack-1.pack",
    ];
    for link in links {
        let dot_git = project.join(".git");
        bones(&dot_git);
        assert!(Repository::find(&project).is_ok());
        let at = dot_git.join(link);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        // An empty folder of this name may be there.
        fs::remove_dir(&at).ok();
        std::os::unix::fs::symlink(secret.join(link), &at).unwrap();
        assert_eq!(Repository::find(&project), Err(GitError::Elsewhere), "{link}");
        fs::remove_dir_all(&dot_git).unwrap();
    }
}

#[test]
fn a_work_tree_that_was_added_is_read_if_its_repository_knows_it() {
    let disk = tempfile::tempdir().unwrap();
    let root = disk.path().canonicalize().unwrap();
    let (main, added, other) = (root.join("main/.git"), root.join("added"), root.join("other"));
    bones(&main);
    let data = main.join("worktrees/added");
    for folder in [&added, &other, &data] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::write(data.join("gitdir"), format!("{}\n", added.join(".git").display())).unwrap();
    fs::write(data.join("commondir"), "../..\n").unwrap();
    for project in [&added, &other] {
        fs::write(project.join(".git"), format!("gitdir: {}\n", data.display())).unwrap();
    }
    assert_eq!(Repository::find(&added).map(|found| found.git_dir), Ok(data.clone()));
    assert_eq!(Repository::find(&other), Err(GitError::Elsewhere));
    fs::write(data.join("commondir"), "../../../../secret/.git\n").unwrap();
    assert_eq!(Repository::find(&added), Err(GitError::Elsewhere));
}

/// A real repository with files of these names.
fn real(at: &Path, names: &[&str]) -> Repository {
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(args).current_dir(at);
        let done = command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        assert!(done.status.success(), "git {args:?}");
    };
    git(&["init", "-q"]);
    for name in names {
        fs::create_dir_all(at.join(name).parent().unwrap()).unwrap();
        fs::write(at.join(name), name).unwrap();
    }
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    Repository::find(at).unwrap()
}

#[tokio::test]
async fn only_the_names_that_are_asked_for_are_listed() {
    let disk = tempfile::tempdir().unwrap();
    let at = disk.path().canonicalize().unwrap();
    let repository = real(&at, &["a", "b", "deep/c"]);
    for name in ["new", "newer"] {
        fs::write(at.join(name), name).unwrap();
    }
    let listed = async |names| {
        let Listed { base, index, untracked, .. } = repository.list(GitBase::Head, names).await.unwrap();
        let (base, index): (Vec<_>, Vec<_>) = (base.into_keys().collect(), index.into_keys().collect());
        (base.join(" "), index.join(" "), untracked.join(" "))
    };
    let of = |names: [&str; 3]| names.map(str::to_owned).into();
    assert_eq!(listed(Names::All).await, of(["a b deep/c", "a b deep/c", "new newer"]));
    assert_eq!(listed(Names::Of("a")).await, of(["a", "a", ""]));
    assert_eq!(listed(Names::Of("deep/c")).await, of(["deep/c", "deep/c", ""]));
    assert_eq!(listed(Names::Of("new")).await, of(["", "", "new"]));
}

/// What can not be named or compared is not left out in silence, whether git tracks it or not.
#[tokio::test]
async fn names_that_are_no_text_and_repositories_within_are_counted() {
    let disk = tempfile::tempdir().unwrap();
    let at = disk.path().canonicalize().unwrap();
    let repository = real(&at, &["a"]);
    let counts = async |base| {
        let listed = repository.list(base, Names::All).await.unwrap();
        (listed.not_text, listed.nested, listed.untracked_cut)
    };
    assert_eq!(counts(GitBase::Head).await, (0, 0, false));
    let odd = |name: &[u8]| at.join(std::ffi::OsStr::from_bytes(name));
    fs::write(odd(b"\xffodd"), "x").unwrap();
    assert_eq!(counts(GitBase::Head).await, (1, 0, false), "untracked");
    real(&at, &[]);
    fs::write(odd(b"\xffother"), "x").unwrap();
    assert_eq!(counts(GitBase::Head).await, (2, 0, false), "one is in the commit and in the index, one is untracked");
    assert_eq!(counts(GitBase::Index).await, (2, 0, false));
    fs::remove_file(odd(b"\xffother")).unwrap();
    fs::create_dir(at.join("nested")).unwrap();
    real(&at.join("nested"), &["b"]);
    assert_eq!(counts(GitBase::Head).await, (1, 1, false));
}

/// Whatever a repository holds, git does not take the machine's memory for it.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn git_ends_when_it_needs_too_much_memory() {
    const LONG: usize = 64 << 20;
    let disk = tempfile::tempdir().unwrap();
    let at = disk.path().canonicalize().unwrap();
    let repository = real(&at, &["a"]);
    // A message is read as a whole, unlike the content of a file.
    fs::write(at.join("message"), "x".repeat(LONG)).unwrap();
    let mut commit = std::process::Command::new("git");
    commit.args([
        "-c",
        "user.name=Ada",
        "-c",
        "user.email=ada@example.org",
        "commit",
        "-qaF",
        "message",
        "--allow-empty",
    ]);
    assert!(commit.current_dir(&at).env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success());
    let read = async |max_memory_bytes| {
        let args = ["cat-file", "--batch=%(objectsize)"];
        let printed =
            program::run_within(&repository, &args, b"HEAD\n".to_vec(), 2 * LONG as u64, max_memory_bytes).await;
        printed.map(|printed| printed.bytes.len() > LONG)
    };
    assert_eq!(read(LONG as u64 / 2).await, Err(GitError::Failed));
    assert_eq!(read(16 * LONG as u64).await, Ok(true));
}
