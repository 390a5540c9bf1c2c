//! Programs other than filters that a repository's configuration names. That plain git runs each of them, in the command
//! that the repository waits for, shows that the attack is real.

use super::attacks::{marker, payload};
use super::support::*;
use crate::git::inspect_with;

/// A repository in which plain git runs a program, and the command of git that does.
struct Trap {
    name: &'static str,
    repo: Repo,
    command: &'static [&'static str],
}

/// Git runs a pager for a terminal only.
const ON_A_TERMINAL: &[&str] = &[
    "-c",
    "alias.terminal=!script -qec 'git log' /dev/null </dev/null",
    "terminal",
];

fn trap(name: &'static str, command: &'static [&'static str], settings: &[(&str, &str)]) -> Trap {
    let repo = Repo::new();
    repo.write(".git/info/attributes", "* diff=x\n")
        .write("kept", "new\n");
    let payload = payload(&repo);
    for (key, value) in settings {
        let value = if *value == "PAYLOAD" {
            &payload
        } else {
            *value
        };
        repo.git(&["config", key, value]);
    }
    Trap {
        name,
        repo,
        command,
    }
}

/// A signed commit, whose signature `git log` has checked by the program that the repository names.
fn signed() -> Trap {
    let trap = trap(
        "gpg.program",
        &["log", "-1"],
        &[("log.showSignature", "true")],
    );
    let repo = &trap.repo;
    let gpg = repo.beside("gpg");
    let signature = "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n";
    script(
        &gpg,
        &format!(
            "#!/bin/sh\ncat > /dev/null\ntouch '{}'\nprintf '\\n[GNUPG:] SIG_CREATED \\n' >&2\nprintf -- '{signature}'\n",
            marker(repo).display()
        ),
    );
    repo.git(&["config", "gpg.program", gpg.to_str().unwrap()])
        .git_at(AFTER, &["commit", "-q", "-S", "-am", "signed"]);
    std::fs::remove_file(marker(repo)).unwrap();
    repo.write("kept", "newer\n");
    trap
}

/// A partial clone that lacks what `git status` needs: it is fetched by a program that the repository names.
fn promisor() -> Trap {
    let settings = [
        ("remote.origin.url", "."),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", "PAYLOAD"),
    ];
    let trap = trap("promisor", &["status"], &settings);
    let objects = trap.repo.top.join(".git/objects");
    std::fs::remove_dir_all(&objects).unwrap();
    std::fs::create_dir(&objects).unwrap();
    trap
}

/// git-lfs, the user's own filter, runs what `lfs.extension` names; a line of shell does that here in its place.
fn lfs_extension() -> Trap {
    let trap = trap(
        "lfs.extension",
        &["status"],
        &[("lfs.extension.x.clean", "PAYLOAD")],
    );
    let lfs = "eval \"$(git config lfs.extension.x.clean)\"";
    trap.repo
        .git(&["config", "--global", "filter.lfs.clean", lfs])
        .write(".git/info/attributes", "* filter=lfs\n")
        // As long as what was committed, so that git has to read it.
        .write("kept", "tpek\n");
    trap
}

#[test]
fn no_program_that_plain_git_runs_is_run() {
    let traps = [
        trap("core.pager", ON_A_TERMINAL, &[("core.pager", "PAYLOAD")]),
        trap("pager.log", ON_A_TERMINAL, &[("pager.log", "PAYLOAD")]),
        trap("diff.external", &["diff"], &[("diff.external", "PAYLOAD")]),
        trap("diff.command", &["diff"], &[("diff.x.command", "PAYLOAD")]),
        trap("textconv", &["diff"], &[("diff.x.textconv", "PAYLOAD")]),
        trap(
            "core.sshCommand",
            &["ls-remote", "ssh://nowhere.invalid/x"],
            &[("core.sshCommand", "PAYLOAD")],
        ),
        signed(),
        promisor(),
        lfs_extension(),
    ];
    for Trap {
        name,
        repo,
        command,
    } in traps
    {
        inspect_with(&bare_git(&repo.home()), &repo.top, &wanted(turn()), BOUNDS);
        assert!(!marker(&repo).exists(), "{name}: the program was run");
        setup(&repo.home(), &repo.top, BEFORE, command);
        assert!(marker(&repo).exists(), "{name}: no attack");
    }
}
