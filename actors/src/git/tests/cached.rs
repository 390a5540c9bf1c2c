//! Looks that use again what git said before. Git is a script here that notes how it was called: an answer was used again
//! if git was not asked where the repository is.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::attacks::{marker, payload};
use super::support::*;
use crate::git::FILE_TICK;
use crate::git::command::Git;
use crate::git::{Request, Tree, inspect_with};

/// A repository, and a git that notes its calls.
struct Watched {
    repo: Repo,
    git: Git,
    calls: PathBuf,
}

impl Watched {
    fn new(repo: Repo) -> Self {
        let bare = bare_git(&repo.home());
        let (program, calls) = (repo.beside("git"), repo.beside("calls"));
        let real = bare.program.as_deref().unwrap();
        let text = format!(
            "#!/bin/sh\necho \"$*\" >> '{}'\nexec '{}' \"$@\"\n",
            calls.display(),
            real.display()
        );
        script(&program, &text);
        let program = Some(program);
        Self {
            git: Git {
                program,
                keeps: true,
                ..bare
            },
            repo,
            calls,
        }
    }

    /// Looks, and returns whether git was asked where the repository is.
    fn look_at(&self, cwd: &Path) -> (Tree, bool) {
        let (tree, calls) = self.look_for(cwd, &wanted(turn()));
        (tree, calls.contains("--show-toplevel"))
    }

    /// Looks, and returns how git was called.
    fn look_for(&self, cwd: &Path, wanted: &Request) -> (Tree, String) {
        // What changed a moment ago is not trusted to stay.
        std::thread::sleep(FILE_TICK * 2);
        let _ = std::fs::remove_file(&self.calls);
        let tree = inspect_with(&self.git, cwd, wanted, BOUNDS);
        let calls = std::fs::read_to_string(&self.calls).unwrap();
        assert!(!marker(&self.repo).exists(), "a program was run");
        (tree, calls)
    }

    /// Looks twice, so that the second answer is one that was kept if it can be.
    fn learn(&self, cwd: &Path) -> bool {
        self.look_at(cwd);
        !self.look_at(cwd).1
    }
}

fn here(watched: &Watched) -> PathBuf {
    watched.repo.top.clone()
}

/// Name of the case, what is arranged before the first look and which folder is looked at, and what happens between two
/// looks.
type Case = (&'static str, fn(&Watched) -> PathBuf, fn(&Watched));

fn rewrite(path: &Path, text: &str) {
    let before = path.metadata().unwrap();
    assert_eq!(before.len(), text.len() as u64);
    std::fs::write(path, text).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
}

/// Puts another repository in the place of the one that was looked at.
fn replace(watched: &Watched, move_in: fn(&Path, &Path)) {
    let other = Repo::new();
    let repo = &watched.repo;
    other.git(&["config", "filter.x.clean", &payload(repo)]);
    other.write(".git/info/attributes", "* filter=x\n");
    std::fs::rename(repo.top.join(".git"), repo.beside("old")).unwrap();
    std::fs::rename(other.top.join(".git"), repo.beside("new")).unwrap();
    move_in(&repo.beside("new"), &repo.top.join(".git"));
    repo.write("kept", "tpek\n");
}

const CHANGES: &[Case] = &[
    ("a setting", here, |it| {
        it.repo.git(&["config", "core.eol", "lf"]);
    }),
    (
        "a setting in a file of the same length and time",
        |it| {
            it.repo.git(&["config", "core.abbrev", "10"]);
            here(it)
        },
        |it| {
            let path = it.repo.top.join(".git/config");
            let text = std::fs::read_to_string(&path).unwrap();
            rewrite(&path, &text.replace("abbrev = 10", "abbrev = 11"));
        },
    ),
    (
        "a filter",
        |it| {
            it.repo
                .write(".git/info/attributes", "* filter=x\n")
                .write("kept", "tpek\n");
            here(it)
        },
        |it| {
            it.repo
                .git(&["config", "filter.x.clean", &payload(&it.repo)]);
        },
    ),
    (
        "a filter of the work tree alone",
        |it| {
            it.repo
                .git(&["config", "extensions.worktreeConfig", "true"])
                .write(".git/info/attributes", "* filter=x\n")
                .write("kept", "tpek\n");
            here(it)
        },
        |it| {
            it.repo
                .git(&["config", "--worktree", "filter.x.clean", &payload(&it.repo)]);
        },
    ),
    (
        "a file that is included",
        |it| {
            it.repo
                .git(&["config", "include.path", "more"])
                .write(".git/info/attributes", "* filter=x\n")
                .write("kept", "tpek\n");
            here(it)
        },
        |it| {
            let text = format!("[filter \"x\"]\n\tclean = \"{}\"\n", payload(&it.repo));
            it.repo.write(".git/more", &text);
        },
    ),
    (
        "a file that is included for this folder",
        |it| {
            let key = format!("includeIf.gitdir:{}/.path", it.repo.top.display());
            it.repo.git(&["config", "--global", &key, "~/more"]);
            here(it)
        },
        |it| std::fs::write(it.repo.home().join("more"), "[core]\n\teol = lf\n").unwrap(),
    ),
    ("the user's settings", here, |it| {
        it.repo.git(&["config", "--global", "core.eol", "lf"]);
    }),
    ("the user's other file", here, |it| {
        let folder = it.repo.home().join("git");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config"), "[core]\n\teol = lf\n").unwrap();
    }),
    ("another git", here, |it| {
        let program = it.git.program.as_deref().unwrap();
        let text = std::fs::read_to_string(program).unwrap();
        script(program, &format!("{text}# another\n"));
    }),
    ("another repository", here, |it| {
        replace(it, |new, place| std::fs::rename(new, place).unwrap());
    }),
    ("a link to another repository", here, |it| {
        replace(it, |new, place| symlink(new, place).unwrap());
    }),
    ("a file that leads to another repository", here, |it| {
        replace(it, |new, place| {
            std::fs::write(place, format!("gitdir: {}\n", new.display())).unwrap();
        });
    }),
    (
        "a link on the way to the repository",
        |it| {
            let repo = &it.repo;
            std::fs::create_dir(repo.beside("one")).unwrap();
            std::fs::create_dir(repo.beside("two")).unwrap();
            symlink(repo.beside("one"), repo.beside("way")).unwrap();
            std::fs::rename(repo.top.join(".git"), repo.beside("one/git")).unwrap();
            repo.write(".git", "gitdir: ../way/git\n");
            here(it)
        },
        |it| {
            let repo = &it.repo;
            let other = Repo::new();
            std::fs::rename(other.top.join(".git"), repo.beside("two/git")).unwrap();
            std::fs::remove_file(repo.beside("way")).unwrap();
            symlink(repo.beside("two"), repo.beside("way")).unwrap();
        },
    ),
    (
        "a link to the work tree",
        |it| {
            symlink(&it.repo.top, it.repo.beside("link")).unwrap();
            it.repo.beside("link")
        },
        |it| {
            let (other, link) = (it.repo.beside("other"), it.repo.beside("link"));
            it.repo.git(&["clone", "-q", ".", other.to_str().unwrap()]);
            std::fs::remove_file(&link).unwrap();
            symlink(other, link).unwrap();
        },
    ),
    (
        "a repository below the top",
        |it| it.repo.top.join("lib"),
        |it| {
            it.repo.git(&["init", "-q", "lib"]);
        },
    ),
    (
        "a bare repository below the top",
        |it| it.repo.top.join("lib"),
        |it| {
            it.repo.git(&["init", "-q", "--bare", "lib"]);
        },
    ),
    ("no repository", here, |it| {
        std::fs::rename(it.repo.top.join(".git"), it.repo.beside("old")).unwrap();
    }),
    ("a HEAD that is none", here, |it| {
        it.repo.write(".git/HEAD", "nothing\n");
    }),
    ("no objects", here, |it| {
        let objects = it.repo.top.join(".git/objects");
        std::fs::rename(objects, it.repo.beside("objects")).unwrap();
    }),
];

#[test]
fn git_is_asked_again_if_it_might_say_something_else() {
    for (name, arrange, change) in CHANGES {
        let watched = Watched::new(Repo::new());
        let cwd = arrange(&watched);
        assert!(watched.learn(&cwd), "{name}");
        change(&watched);
        let (tree, asked) = watched.look_at(&cwd);
        assert!(asked, "{name}");
        // The same as without any answer that was kept.
        let fresh = Watched {
            git: bare_git(&watched.repo.home()),
            ..watched
        };
        std::fs::write(&fresh.calls, "").unwrap();
        let expected = inspect_with(&fresh.git, &cwd, &wanted(turn()), BOUNDS);
        assert_eq!(format!("{tree:?}"), format!("{expected:?}"), "{name}");
    }
}

#[test]
fn what_depends_on_more_than_files_is_not_kept() {
    for (key, value) in [
        ("includeIf.onbranch:main.path", "more"),
        ("includeIf.gitdir:./.path", "more"),
        ("include.path", "~root/more"),
        ("core.worktree", ".."),
    ] {
        let watched = Watched::new(Repo::new());
        watched.repo.git(&["config", key, value]);
        assert!(!watched.learn(&watched.repo.top), "{key}");
    }
    let watched = Watched::new(Repo::new());
    let real = watched.repo.beside("real");
    std::fs::rename(watched.repo.top.join(".git"), &real).unwrap();
    symlink(real, watched.repo.top.join(".git")).unwrap();
    assert!(!watched.learn(&watched.repo.top), "a link");
    let watched = Watched::new(Repo::new());
    watched.repo.write("lib/HEAD", "ref: refs/heads/main\n");
    assert!(!watched.learn(&watched.repo.top.join("lib")), "HEAD");
}

#[test]
fn an_answer_that_was_kept_shows_what_is_there_now() {
    let watched = Watched::new(Repo::new());
    let (repo, top) = (&watched.repo, &watched.repo.top);
    let check = |branch: Option<&str>, changed: &[&str]| {
        let (tree, asked) = watched.look_at(top);
        assert!(!asked);
        assert_eq!(tree.branch.as_deref(), branch);
        assert_eq!(paths(&tree), changed);
    };
    assert!(watched.learn(top));
    repo.write("new", "");
    check(Some("main"), &["new"]);
    repo.git(&["checkout", "-q", "-b", "topic"])
        .commit_at(BEFORE);
    check(Some("topic"), &[]);
    repo.git(&["update-index", "--split-index"])
        .write("staged", "")
        .git(&["add", "staged"]);
    check(Some("topic"), &["staged"]);
    repo.commit_at(AFTER).git(&["checkout", "-q", "--detach"]);
    check(None, &["staged"]);
    repo.git(&["gc", "-q"]);
    check(None, &["staged"]);
    repo.remove(".git/HEAD");
    symlink("refs/heads/main", top.join(".git/HEAD")).unwrap();
    check(Some("main"), &["new", "staged"]);
}

#[test]
fn linked_work_trees_and_submodules_are_kept_too() {
    let watched = Watched::new(Repo::new());
    let linked = watched.repo.beside("linked");
    let arguments = ["worktree", "add", "-q", linked.to_str().unwrap()];
    watched.repo.git(&arguments);
    assert!(watched.learn(&linked));
    let inner = Repo::new();
    let from = inner.top.to_str().unwrap();
    watched
        .repo
        .git(&["submodule", "--quiet", "add", from, "sub"])
        .commit_at(BEFORE);
    assert!(watched.learn(&watched.repo.top));
    watched.repo.write("sub/kept", "new\n");
    let (tree, asked) = watched.look_at(&watched.repo.top);
    assert_eq!((paths(&tree), asked), (vec!["sub".into()], false));
    // What defines a filter now is not run.
    let payload = payload(&watched.repo);
    watched
        .repo
        .git(&["-C", "sub", "config", "filter.x.clean", &payload])
        .write(".git/modules/sub/info/attributes", "* filter=x\n")
        .write("sub/kept", "tpek\n");
    let (tree, asked) = watched.look_at(&watched.repo.top);
    assert_eq!((paths(&tree), asked), (vec!["sub".into()], true));
}

/// The private folders that there are.
fn folders(watched: &Watched) -> Vec<PathBuf> {
    let all = std::fs::read_dir(watched.git.folder.as_deref().unwrap());
    all.into_iter()
        .flatten()
        .map(|it| it.unwrap().path())
        .collect()
}

#[test]
fn a_private_folder_is_used_again_unless_it_would_be_made_otherwise() {
    type Damage = fn(&Watched, &Path);
    let cases: [(&str, Damage); 7] = [
        ("a branch", |it, _| {
            it.repo.git(&["checkout", "-q", "-b", "topic"]);
        }),
        ("a shared index", |it, _| {
            it.repo.git(&["update-index", "--split-index"]);
        }),
        ("removed", |_, folder| {
            std::fs::remove_dir_all(folder).unwrap();
        }),
        ("a link removed", |_, folder| {
            std::fs::remove_file(folder.join("objects")).unwrap();
        }),
        ("a link in a folder replaced", |it, folder| {
            std::fs::remove_file(folder.join("info/attributes")).unwrap();
            symlink(it.repo.top.join("kept"), folder.join("info/attributes")).unwrap();
        }),
        ("HEAD written", |_, folder| {
            std::fs::write(folder.join("HEAD"), "ref: refs/heads/xxxx\n").unwrap();
        }),
        ("a program in its settings", |it, folder| {
            let config = folder.join("config");
            let text = std::fs::read_to_string(&config).unwrap();
            let program = format!("{text}[core]\n\tfsmonitor = \"{}\"\n", payload(&it.repo));
            std::fs::write(&config, program).unwrap();
        }),
    ];
    for (name, change) in cases {
        let watched = Watched::new(Repo::new());
        let top = &watched.repo.top;
        watched.repo.write("new", "");
        watched.learn(top);
        let left = folders(&watched);
        watched.look_at(top);
        assert_eq!(folders(&watched), left, "{name}");
        assert_eq!(left.len(), 1, "{name}");
        for folder in &left {
            change(&watched, folder);
        }
        let (tree, _) = watched.look_at(top);
        assert_eq!(paths(&tree), ["new"], "{name}");
        assert_eq!(folders(&watched).len(), left.len(), "{name}");
        assert!(folders(&watched) != left, "{name}");
    }
}

#[test]
fn looks_at_once_do_not_meet_and_leave_one_folder_or_none() {
    for keeps in [true, false] {
        let mut watched = Watched::new(Repo::new());
        watched.git.keeps = keeps;
        let top = &watched.repo.top;
        watched.repo.write("new", "");
        watched.learn(top);
        std::thread::scope(|scope| {
            let looks: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| inspect_with(&watched.git, top, &wanted(turn()), BOUNDS)))
                .collect();
            for look in looks {
                assert_eq!(paths(&look.join().unwrap()), ["new"]);
            }
        });
        let left = usize::from(keeps);
        assert_eq!(folders(&watched).len(), left);
    }
}

#[test]
fn files_are_listed_again_if_the_index_changed() {
    let watched = Watched::new(Repo::new());
    let (repo, top) = (&watched.repo, &watched.repo.top);
    let look = |listed: &'static [&'static str]| {
        let wanted = Request {
            listed,
            ..wanted(turn())
        };
        let (tree, calls) = watched.look_for(top, &wanted);
        let listing = tree.listing.unwrap();
        assert!(listing.complete);
        (listing.paths.join(" "), calls.contains("ls-files"))
    };
    look(&["*.rs"]);
    assert_eq!(look(&["*.rs"]).0, "lib/code.rs");
    assert_eq!(look(&["*.rs"]), ("lib/code.rs".into(), false));
    assert_eq!(look(&["k*"]), ("kept".into(), true));
    repo.write("new.rs", "").git(&["add", "-N", "new.rs"]);
    assert_eq!(look(&["*.rs"]), ("lib/code.rs new.rs".into(), true));
    repo.git(&["update-index", "--split-index"]);
    assert_eq!(look(&["*.rs"]), ("lib/code.rs new.rs".into(), true));
    repo.git(&["rm", "-q", "--cached", "new.rs"]);
    assert_eq!(look(&["*.rs"]), ("lib/code.rs".into(), true));
    assert_eq!(look(&["*.rs"]), ("lib/code.rs".into(), false));
    repo.remove(".git/index");
    assert_eq!(look(&["*.rs"]), (String::new(), true));
}
