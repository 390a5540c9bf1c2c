//! Programs that run another command: `sudo`, `timeout`, `uv run`, `python -m`, `bash -c`, `docker exec`.

use super::options::{Args, Kind, canonical, spec};
use super::state::State;
use super::wrapper_table::{RUNNERS, WRAPPERS, Wrapper};

/// The content of a command after its wrappers are removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inner {
    /// A command; its program is a file name without directory.
    Command(Vec<String>),
    /// A script, given as an argument.
    Script(String),
    /// A shell that reads its script from standard input.
    Stdin,
}

/// A command without its wrappers.
#[derive(Debug)]
pub(super) struct Unwrapped {
    pub(super) inner: Inner,
    /// Whether a wrapper may not have run it at all (`xargs` without input).
    pub(super) uncertain: bool,
    /// Directories that wrappers changed to, outermost first.
    pub(super) dirs: Vec<String>,
    /// The options of the shell that runs an inner script.
    pub(super) state: State,
}

/// The role of the first program.
enum Step {
    /// The command is not a wrapper.
    Keep,
    /// A wrapper; the command begins this many words later.
    Skip(usize),
    /// The same, with a replacement for the command's first word.
    Rename(usize, String),
    Script(String),
    Stdin,
}

pub(super) fn unwrap(words: &[String]) -> Unwrapped {
    let mut found = Unwrapped {
        inner: Inner::Stdin,
        uncertain: false,
        dirs: Vec::new(),
        state: State::default(),
    };
    let mut at = 0;
    let mut head: Option<String> = None;
    loop {
        let rest = &words[at..];
        let first = head
            .take()
            .unwrap_or_else(|| rest.first().cloned().unwrap_or_default());
        let name = file_name(&first);
        match step(name, rest, &mut found) {
            Step::Skip(by) if by < rest.len() => at += by,
            Step::Rename(by, first) if by < rest.len() => {
                at += by;
                head = Some(first);
            }
            Step::Script(script) => {
                found.inner = Inner::Script(script);
                return found;
            }
            Step::Stdin => return found,
            Step::Keep | Step::Skip(_) | Step::Rename(..) => {
                let command = rest.iter().skip(1).cloned();
                found.inner = Inner::Command(
                    rest.iter()
                        .take(1)
                        .map(|_| name.to_owned())
                        .chain(command)
                        .collect(),
                );
                return found;
            }
        }
    }
}

/// Returns a path's last part, without the ending of Windows programs.
pub(super) fn file_name(path: &str) -> &str {
    let name = path
        .rsplit(['/', '\\'])
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(path);
    name.strip_suffix(".exe")
        .or_else(|| launched(path, name))
        .filter(|name| !name.is_empty())
        .unwrap_or(name)
}

/// Returns the program that a launcher of Windows starts: `pnpm.cmd`, `node_modules\.bin\eslint.CMD`, `.\gradlew.bat`.
/// Other such files in a folder are scripts of the project.
fn launched<'a>(path: &str, name: &'a str) -> Option<&'a str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let is_launcher = ending.eq_ignore_ascii_case("cmd") || ending.eq_ignore_ascii_case("bat");
    let is_installed = path == name || path.replace('\\', "/").contains(".bin/");
    (is_launcher && (is_installed || matches!(stem, "gradlew" | "mvnw"))).then_some(stem)
}

fn step(name: &str, words: &[String], found: &mut Unwrapped) -> Step {
    match name {
        "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "fish" => {
            return shell(words, &mut found.state);
        }
        "cmd"
            if words
                .get(1)
                .is_some_and(|word| word.eq_ignore_ascii_case("/c")) =>
        {
            return Step::Script(words[2..].join(" "));
        }
        "eval" if words.len() > 1 => return Step::Script(words[1..].join(" ")),
        "su" | "runuser" if words.len() > 1 => return user_switch(words),
        "flock" => return lock(words),
        "nix" | "nix-shell" => return nix(words),
        "mise" | "rtx" | "dotenvx" | "op" | "doppler" | "kubectl" | "aws-vault" => {
            return behind_dashes(words);
        }
        _ if is_python(name) => return python(words),
        _ => {}
    }
    if let Some(wrapper) = WRAPPERS
        .iter()
        .find(|wrapper| wrapper.names.contains(&name))
    {
        return plain_step(name, wrapper, words, found);
    }
    runner_step(name, words, found)
}

fn plain_step(name: &str, wrapper: &Wrapper, words: &[String], found: &mut Unwrapped) -> Step {
    let mut at = words.len();
    for arg in Args::new(words, 1, wrapper.spec) {
        if arg.kind != Kind::Option {
            at = arg.at;
            break;
        }
        if wrapper.inert.contains(&arg.text) || matches!(arg.text, "--help" | "--version") {
            return Step::Keep;
        }
        note_dir(name, arg, found);
        if name.starts_with("np") && (arg.text == "-c" || arg.text == "--call") {
            return words
                .get(arg.at + 1)
                .map_or(Step::Keep, |script| Step::Script(script.clone()));
        }
    }
    at += wrapper.operands;
    if matches!(
        name,
        "env" | "genv" | "sudo" | "cross-env" | "cross-env-shell" | "dotenv"
    ) {
        at += words
            .iter()
            .skip(at)
            .take_while(|word| is_assignment(word))
            .count();
    }
    found.uncertain |= name.ends_with("xargs");
    match words.get(at) {
        Some(word) if matches!(name, "npx" | "bunx" | "pnpx" | "uvx") => {
            Step::Rename(at, unversioned(word))
        }
        _ => Step::Skip(at),
    }
}

fn note_dir(name: &str, arg: super::options::Arg<'_>, found: &mut Unwrapped) {
    let names = match canonical(name) {
        "sudo" => ["-D", "--chdir"],
        "env" | "genv" => ["-C", "--chdir"],
        "uv" | "uvx" => ["--project", "--directory"],
        "poetry" => ["-C", "--directory"],
        "pnpm" => ["-C", "--dir"],
        "npm" => ["--prefix", "--prefix"],
        _ => return,
    };
    if names.contains(&arg.text) && found.dirs.len() < 8 {
        found.dirs.extend(arg.value.map(str::to_owned));
    }
}

fn runner_step(name: &str, words: &[String], found: &mut Unwrapped) -> Step {
    let globals = super::options::spec_of(name);
    let mut program = name;
    let mut verb_at = Args::new(words, 1, globals).first_operand();
    let docker = matches!(name, "docker" | "podman")
        && words.get(verb_at).is_some_and(|verb| verb == "compose");
    if docker {
        program = if name == "docker" {
            "docker compose"
        } else {
            "podman compose"
        };
        verb_at = Args::new(words, verb_at + 1, globals).first_operand();
    }
    let Some(verb) = words.get(verb_at) else {
        return Step::Keep;
    };
    if name == "uv" && verb == "pip" {
        return Step::Skip(verb_at);
    }
    let Some((runner, verb_words)) = RUNNERS.iter().find_map(|runner| {
        let known = runner.program.contains(&program);
        let is_verb = |verb_words: &&&str| {
            let mut parts = verb_words.split(' ');
            parts.next() == Some(verb)
                && parts
                    .next()
                    .is_none_or(|next| words.get(verb_at + 1).is_some_and(|w| w == next))
        };
        let matched = runner.verbs.iter().find(is_verb).filter(|_| known)?;
        Some((runner, matched.split(' ').count()))
    }) else {
        return Step::Keep;
    };
    for arg in Args::new(&words[..verb_at], 1, globals) {
        note_dir(name, arg, found);
    }
    let mut at = words.len();
    for arg in Args::new(words, verb_at + verb_words, runner.spec) {
        if arg.kind != Kind::Option {
            at = arg.at + runner.operands;
            break;
        }
        if matches!(arg.text, "--help" | "-h") {
            return Step::Keep;
        }
        note_dir(name, arg, found);
        if arg.text == "--module" || (arg.text == "-m" && matches!(name, "uv" | "coverage")) {
            at = arg.at + 1;
            break;
        }
    }
    match words.get(at) {
        Some(word) if name == "hatch" => match word.split_once(':') {
            Some((_, command)) if !command.is_empty() => Step::Rename(at, command.to_owned()),
            _ => Step::Skip(at),
        },
        Some(word) if matches!(name, "pnpm" | "yarn" | "npm" | "bun" | "uv") => {
            Step::Rename(at, unversioned(word))
        }
        _ => Step::Skip(at),
    }
}

/// `python -m pytest` is `pytest`; `python script.py` and `python -c ..` stay what they are.
fn python(words: &[String]) -> Step {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            break;
        };
        at += 1;
        if letters.starts_with('-') {
            continue;
        }
        for (index, letter) in letters.char_indices() {
            let attached = &letters[index + letter.len_utf8()..];
            match letter {
                'm' if attached.is_empty() => return Step::Skip(at),
                'm' => return Step::Rename(at - 1, attached.to_owned()),
                'c' => return Step::Keep,
                'W' | 'X' | 'Q' => {
                    at += usize::from(attached.is_empty());
                    break;
                }
                _ => {}
            }
        }
    }
    Step::Keep
}

pub(super) fn is_python(name: &str) -> bool {
    name == "py" || matches!(canonical(name), "python" | "pypy")
}

fn shell(words: &[String], state: &mut State) -> Step {
    let mut at = 1;
    let mut script = false;
    let mut stdin = false;
    let mut inert = false;
    while let Some(word) = words.get(at) {
        let Some(letters) = word.strip_prefix(['-', '+']) else {
            break;
        };
        at += 1;
        if letters.is_empty() || letters == "-" {
            break;
        }
        if letters.starts_with('-') {
            at += usize::from(matches!(letters, "-rcfile" | "-init-file"));
            inert |= matches!(letters, "-help" | "-version");
            continue;
        }
        script |= letters.contains('c');
        stdin |= letters.contains('s');
        inert |= letters.contains('n');
        let named = letters.contains(['o', 'O']);
        state.set(&words[at - 1..(at + usize::from(named)).min(words.len())]);
        at += usize::from(named);
    }
    match words.get(at) {
        _ if inert => Step::Keep,
        Some(text) if script => Step::Script(text.clone()),
        Some(_) if !stdin => Step::Keep,
        _ if script => Step::Keep,
        _ => Step::Stdin,
    }
}

fn user_switch(words: &[String]) -> Step {
    for arg in Args::new(
        words,
        1,
        spec(
            "cugGsw",
            "command user group shell session-command whitelist-environment",
        ),
    ) {
        if matches!(arg.text, "--command" | "--session-command") || arg.letters.ends_with('c') {
            return arg
                .value
                .map_or(Step::Keep, |script| Step::Script(script.to_owned()));
        }
        // `runuser -u user command` runs it directly.
        if arg.kind == Kind::Passed || (arg.kind == Kind::Operand && words[0].ends_with("runuser"))
        {
            return Step::Skip(arg.at);
        }
    }
    Step::Keep
}

fn lock(words: &[String]) -> Step {
    let at = Args::new(words, 1, spec("wE", "timeout wait conflict-exit-code")).first_operand() + 1;
    match (words.get(at).map(String::as_str), words.get(at + 1)) {
        (Some("-c" | "--command"), Some(script)) => Step::Script(script.clone()),
        _ => Step::Skip(at),
    }
}

fn nix(words: &[String]) -> Step {
    let position = |names: &[&str]| {
        words
            .iter()
            .position(|word| names.contains(&word.as_str()))
            .map(|at| at + 1)
    };
    if words
        .get(1)
        .is_some_and(|verb| verb == "develop" || verb == "shell")
    {
        return position(&["-c", "--command"]).map_or(Step::Keep, Step::Skip);
    }
    let script = position(&["--run", "--command"]).and_then(|at| words.get(at));
    script
        .filter(|_| words[0].ends_with("nix-shell"))
        .map_or(Step::Keep, |text| Step::Script(text.clone()))
}

/// Tools whose own arguments vary too much: the command follows `--`.
fn behind_dashes(words: &[String]) -> Step {
    // What follows `mise run TASK --` is for the task.
    let has_tasks = matches!(file_name(&words[0]), "mise" | "rtx");
    let runs = words
        .iter()
        .skip(1)
        .take(4)
        .any(|word| matches!(word.as_str(), "exec" | "x") || (word == "run" && !has_tasks));
    let at = words.iter().position(|word| word == "--").filter(|_| runs);
    at.map_or(Step::Keep, |at| Step::Skip(at + 1))
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=')
        .is_some_and(|(name, _)| super::words::is_name(name))
}

/// Returns a package without its version: `@scope/tool@1.2` is `@scope/tool`.
fn unversioned(package: &str) -> String {
    match package.rfind('@') {
        Some(at) if at > 0 && !package[at..].contains('/') => package[..at].to_owned(),
        _ => package.to_owned(),
    }
}
