//! Commands that answer by their exit status, or that only look (spec HYG-10).

use crate::shell::{self, Simple, is_dry};

/// Programs that ask or look, whatever their arguments are.
const PROGRAMS: &str = "grep egrep fgrep zgrep rg ag ack find fd fdfind locate diff colordiff cmp comm test [ [[ which \
    whereis where type hash pgrep pidof ps lsof fuser netstat ss ls dir tree stat file du df cat bat \
    head tail less more nl wc sort uniq cut tac strings xxd od hexdump jq yq column md5sum sha1sum \
    sha256sum shasum cksum realpath readlink dirname basename id whoami groups getent printenv uname \
    hostname date man ping nc ncat nmap dig host nslookup traceroute journalctl kill pkill killall \
    taskkill tasklist apt-cache sysctl free uptime mdfind";
/// Searches through files, which find nothing or fail by their path.
const SEARCHES: [&str; 7] = ["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"];
/// How programs report a missing path.
const NO_PATH: [&str; 3] = [
    "no such file or directory",
    "cannot find the path",
    "os error 2",
];

/// What git says if there is nothing to be done.
const NOTHING_TO_DO: [&str; 5] = [
    "nothing to commit",
    "nothing added to commit",
    "no changes added to commit",
    "no valid patches in input",
    "no stash entries found",
];

/// Programs that do not decide how a line ended, or only set up for the others.
const HARMLESS: [&str; 19] = [
    "cd", "pushd", "popd", "echo", "printf", "export", "set", "unset", "shopt", "source", ".",
    "true", "false", ":", "sleep", "wait", "exit", "pwd", "tee",
];

/// Subcommands that ask or look, by program. A second word is the second operand.
const VERBS: [(&str, &str); 14] = [
    (
        "git",
        "show, diff, log, status, rev-parse, rev-list, merge-base, ls-files, ls-remote, ls-tree, cat-file, \
         describe, symbolic-ref, check-ignore, check-attr, check-ref-format, grep, blame, reflog, \
         show-ref, show-branch, for-each-ref, name-rev, shortlog, diff-index, diff-tree, diff-files, \
         config, help, version, var, count-objects, whatchanged, range-diff, cherry, branch, remote show, \
         remote get-url, remote -v, stash list, stash show, worktree list, submodule status, tag",
    ),
    (
        "gh glab",
        "pr checks, pr view, pr list, pr diff, pr status, run view, run list, run watch, issue view, \
         issue list, issue status, repo view, repo list, release view, release list, workflow view, \
         workflow list, auth status, label list, gist list, gist view, ruleset list, api, search, status, \
         mr view, mr list, ci status, ci view",
    ),
    (
        "systemctl service rc-service supervisorctl pm2 launchctl brew",
        "status, is-active, is-enabled, is-failed, is-system-running, show, cat, list, list-units, \
         list-unit-files, list-timers, print, info, search, logs, services list, ls, outdated",
    ),
    (
        "docker podman docker-compose nerdctl",
        "ps, images, inspect, logs, port, top, stats, info, version, history, search, events, diff, \
         compose ps, compose logs, compose ls, compose port, compose top, compose images, compose version, \
         container ls, container inspect, image ls, image inspect, volume ls, volume inspect, network ls, \
         network inspect, context ls, manifest inspect",
    ),
    (
        "kubectl oc helm",
        "get, describe, logs, version, explain, top, auth can-i, cluster-info, api-resources, config view, \
         config current-context, list, status, history, show, search",
    ),
    (
        "npm pnpm yarn bun",
        "ls, list, la, ll, view, info, show, outdated, audit, search, why, explain, whoami, ping, root, \
         prefix, bin, fund, doctor, config get, config list, pkg get, pm ls, licenses, help",
    ),
    (
        "pip uv poetry pdm conda mamba pipenv pipx",
        "show, list, index, check, freeze, search, config, info, env list, pip show, pip list, pip freeze, \
         pip check, pip tree, tree, outdated, graph, python list, python find",
    ),
    (
        "cargo rustup rustc",
        "search, tree, metadata, outdated, audit, info, locate-project, pkgid, show, which, \
         toolchain list, target list, component list, version, help",
    ),
    (
        "go",
        "list, version, env, doc, help, mod why, mod graph, mod verify",
    ),
    (
        "gem bundle composer mix swift dotnet flutter dart mvn gradle",
        "list, search, info, show, outdated, audit, why, depends, contents, hex.info, hex.outdated, \
         hex.audit, doctor, devices, dependency:tree, dependencies, properties",
    ),
    (
        "apt apt-get dpkg rpm dnf yum apk pacman snap flatpak nix",
        "list, search, show, policy, info, query, depends, -l, -s, -L, -S, -q, -qa, -qi, -Q",
    ),
    (
        "terraform tofu pulumi",
        "show, output, state list, state show, version, providers, stack ls",
    ),
    (
        "aws gcloud az doctl flyctl fly heroku vercel netlify wrangler supabase",
        "whoami, status, logs, ls, list, info, inspect, sts get-caller-identity, s3 ls, auth list, \
         config list, account show, projects list, version, help",
    ),
    (
        "openssl defaults security sc reg winget choco scoop",
        "s_client, x509, version, read, find-certificate, query, list, search, show",
    ),
];

/// Verbs of PowerShell that look, and its short names for them.
const POWERSHELL_LOOKS: [&str; 15] = [
    "get",
    "test",
    "select",
    "find",
    "resolve",
    "measure",
    "compare",
    "format",
    "where",
    "sort",
    "foreach",
    "out",
    "show",
    "convertfrom",
    "convertto",
];
const POWERSHELL_SHORT: [&str; 17] = [
    "gc", "gci", "gi", "gm", "gp", "gps", "gcm", "sls", "select", "where", "sort", "ft", "fl",
    "dir", "ls", "cat", "type",
];
/// Verbs of PowerShell by which a line is known to be one.
const POWERSHELL_VERBS: [&str; 16] = [
    "Get", "Set", "Test", "Select", "New", "Remove", "Copy", "Move", "Add", "Invoke", "Start",
    "Stop", "Resolve", "Out", "Write", "Where",
];

/// Returns whether a command asks a question, or only looks. What it printed tells a search without result from one whose
/// path was wrong.
pub(super) fn is_question(simple: &Simple, output: &str) -> bool {
    let Some((program, words)) = simple.words.split_first() else {
        return true;
    };
    let program = program.as_str();
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    if SEARCHES.contains(&program) {
        return !NO_PATH.iter().any(|said| output.contains(said));
    }
    match program {
        "sed" | "awk" | "gawk" => !words
            .iter()
            .any(|word| word.starts_with("-i") || word == "--in-place"),
        "command" => has(&["-v", "-V"]),
        "curl" | "http" | "https" => !sends_or_saves(words),
        "wget" => has(&["--spider", "-qO-", "-O-"]),
        // What they are to bring about holds already.
        "mkdir" => output.contains("file exists"),
        "rm" | "unlink" => output.contains("no such file"),
        "git"
            if has(&["--check", "--dry-run"])
                || NOTHING_TO_DO.iter().any(|said| output.contains(said)) =>
        {
            true
        }
        "git" => is_git_question(simple, words),
        _ if PROGRAMS.split(' ').any(|name| name == program) => true,
        _ if is_dry(simple) || has(&["--version", "--help"]) => true,
        _ => has_verb(simple, words),
    }
}

/// Returns whether a command has no part in whether its line passed.
pub(super) fn is_harmless(simple: &Simple) -> bool {
    simple
        .words
        .first()
        .is_none_or(|program| HARMLESS.contains(&program.as_str()))
}

fn sends_or_saves(words: &[String]) -> bool {
    words.iter().enumerate().any(|(at, word)| {
        let sends = word.starts_with("-d")
            || word.starts_with("--data")
            || word.starts_with("--form")
            || word == "-F";
        let saves = matches!(
            word.as_str(),
            "-o" | "-O" | "--output" | "-T" | "--remote-name"
        ) && words
            .get(at + 1)
            .is_none_or(|next| next != "/dev/null" && next != "-");
        let method = matches!(word.as_str(), "-X" | "--request")
            && words
                .get(at + 1)
                .is_some_and(|next| next != "GET" && next != "HEAD");
        sends || saves || method || matches!(word.as_str(), "POST" | "PUT" | "PATCH" | "DELETE")
    })
}

/// `git config NAME VALUE`, `git branch NAME` and `git tag NAME` change something.
fn is_git_question(simple: &Simple, words: &[String]) -> bool {
    let operands = shell::operands(simple);
    let has = |options: &[&str]| {
        words
            .iter()
            .any(|word| options.iter().any(|option| word.starts_with(option)))
    };
    match operands.first() {
        Some(&"config") => {
            has(&["--get", "--list", "-l"])
                || operands
                    .get(1)
                    .is_some_and(|verb| matches!(*verb, "get" | "list"))
                || operands.len() == 2
        }
        Some(&("branch" | "tag")) => {
            operands.len() == 1
                || has(&[
                    "--list",
                    "-l",
                    "--contains",
                    "--merged",
                    "--no-merged",
                    "--show-current",
                    "-v",
                    "--points-at",
                ])
        }
        Some(&"symbolic-ref") => operands.len() <= 2,
        _ => has_verb(simple, words),
    }
}

fn has_verb(simple: &Simple, words: &[String]) -> bool {
    let program = simple.words.first().map_or("", String::as_str);
    let mut operands = shell::operands(simple).into_iter();
    let first = operands.next().unwrap_or_default();
    let second = operands.next().unwrap_or_default();
    let both = format!("{first} {second}");
    let is_named = |verb: &str| {
        verb == first
            || verb == both
            || (verb.starts_with('-') && words.iter().any(|word| word == verb))
    };
    // `pip3.11` is `pip`.
    let name = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    VERBS
        .iter()
        .filter(|(programs, _)| {
            programs
                .split(' ')
                .any(|known| known == program || known == name)
        })
        .any(|(_, verbs)| {
            verbs.split(", ").any(is_named) || (program == "service" && second == "status")
        })
}

/// Returns whether all commands of a PowerShell line look; none if it is no such line.
pub(super) fn powershell(text: &str) -> Option<bool> {
    let words = || text.split(|c: char| c.is_whitespace() || "|;({$".contains(c));
    let is_cmdlet = |word: &str| {
        word.split_once('-').is_some_and(|(verb, noun)| {
            POWERSHELL_VERBS.contains(&verb) && noun.starts_with(|c: char| c.is_ascii_uppercase())
        })
    };
    if !words().any(is_cmdlet) {
        return None;
    }
    let cmdlets = words().filter(|word| is_cmdlet(word)).all(|word| {
        let verb = word.split('-').next().unwrap_or_default().to_lowercase();
        POWERSHELL_LOOKS.contains(&verb.as_str())
    });
    let first = text
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_start_matches('(');
    let starts = is_cmdlet(first) || POWERSHELL_SHORT.contains(&first.to_lowercase().as_str());
    Some(cmdlets && starts)
}
