//! The meaning of one command: whether it matches a rule's evidence, whether it is a dry run, and
//! its directory.

use super::options::{Arg, Args, Kind, canonical, spec_of};
use super::simple::Simple;
use super::wrappers::{self, Inner, file_name};

/// A command that a rule asks for.
///
/// The program has to be the same. The other wanted words have to be among the arguments: words in their order, options
/// anywhere, an option with its value if the wanted one has a value. A wanted word that begins with `*` is looked for
/// inside the arguments. Options that are not wanted do not matter, nor do wrappers around what is wanted.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Reads a command from a rule; `None` for a text that no command can match, such as the empty
    /// one.
    pub fn read(text: &str) -> Option<Self> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        match wrappers::unwrap(&words).inner {
            Inner::Command(words) => Some(Self(words)),
            _ => None,
        }
    }

    pub(crate) fn program(&self) -> &str {
        self.0
            .first()
            .map_or("", |program| canonical(file_name(program)))
    }

    /// Returns whether a command is the wanted one.
    pub fn fits(&self, simple: &Simple) -> bool {
        if is_wanted(&simple.words, &self.0) {
            return true;
        }
        // `bash scripts/restart.sh` runs `restart.sh`.
        let interprets = simple.words.first().is_some_and(|program| {
            wrappers::is_python(program)
                || matches!(
                    program.as_str(),
                    "bash" | "sh" | "zsh" | "node" | "ruby" | "perl" | "php" | "." | "source"
                )
        });
        let Some(script) =
            interprets.then(|| Args::new(&simple.words, 1, spec_of("")).first_operand())
        else {
            return false;
        };
        simple
            .words
            .get(script..)
            .is_some_and(|words| is_wanted(words, &self.0))
    }
}

fn is_wanted<S: AsRef<str>>(words: &[S], wanted: &[String]) -> bool {
    let (Some(program), Some(wanted_program)) = (words.first(), wanted.first()) else {
        return false;
    };
    let program = canonical(file_name(program.as_ref()));
    if program != canonical(file_name(wanted_program)) {
        return false;
    }
    let have = arguments(program, words);
    let mut operands = have
        .iter()
        .filter(|arg| arg.option.is_none())
        .map(|arg| arg.text);
    arguments(program, wanted)
        .iter()
        .all(|want| match (want.option, want.text.strip_prefix('*')) {
            (None, Some(part)) => words
                .iter()
                .skip(1)
                .any(|word| word.as_ref().contains(part)),
            (None, None) => operands.any(|operand| operand == want.text),
            (Some(_), _) => have.iter().any(|arg| arg.covers(want)),
        })
}

/// An argument with the spellings of one thing made equal.
struct Argument<'a> {
    /// The operand; the value of an option.
    text: &'a str,
    option: Option<&'a str>,
    letters: &'a str,
}

impl Argument<'_> {
    fn covers(&self, want: &Self) -> bool {
        let Some(option) = self.option else {
            return false;
        };
        let letter = want
            .letters
            .chars()
            .next()
            .filter(|_| want.letters.len() == 1);
        let named = Some(option) == want.option
            || letter.is_some_and(|letter| self.letters.contains(letter));
        named && (want.text.is_empty() || want.text == self.text)
    }
}

fn arguments<'a, S: AsRef<str>>(program: &str, words: &'a [S]) -> Vec<Argument<'a>> {
    let signals = matches!(program, "kill" | "pkill" | "killall");
    let passes_on = matches!(program, "cargo" | "npm" | "pnpm" | "yarn" | "bun");
    let mut found: Vec<Argument<'a>> = Vec::new();
    for arg in Args::new(words, 1, spec_of(program)) {
        let word = words[arg.at].as_ref();
        if signals && let Some(signal) = signal(word, &arg) {
            found.push(Argument {
                text: "",
                option: Some(signal),
                letters: "",
            });
            continue;
        }
        if arg.kind == Kind::Option {
            let long = arg.text.starts_with("--");
            let option = if long || arg.value.is_none() {
                arg.text
            } else {
                short_name(arg.text, arg.letters)
            };
            found.push(Argument {
                text: arg.value.unwrap_or_default(),
                option: Some(option),
                letters: arg.letters,
            });
            continue;
        }
        // Words after `--` are for another program; `+nightly` selects a toolchain.
        let foreign = (arg.kind == Kind::Passed && passes_on)
            || (program == "cargo" && word.starts_with('+'));
        if !foreign {
            found.push(Argument {
                text: word,
                option: None,
                letters: "",
            });
        }
    }
    same_verbs(program, &mut found);
    found
}

/// Returns `-e` of `-e.`.
fn short_name<'a>(text: &'a str, letters: &str) -> &'a str {
    text.get(..=letters.len()).unwrap_or(text)
}

/// Returns the bare name of the signal that an option of `kill` names: `-USR2`, `-SIGUSR2`, `-s USR2`, `--signal=USR2`.
fn signal<'a>(word: &'a str, arg: &Arg<'a>) -> Option<&'a str> {
    if arg.kind != Kind::Option {
        return None;
    }
    let name = match arg.text {
        "-s" | "--signal" => arg.value?,
        _ => word.strip_prefix('-')?,
    };
    let name = name.strip_prefix("SIG").unwrap_or(name);
    let is_name = name.len() > 1
        && name
            .chars()
            .all(|next| next.is_ascii_uppercase() || next.is_ascii_digit());
    is_name.then_some(name)
}

/// Makes the names of one subcommand equal: `npm run test` and `npm t`, `cargo t` and `cargo test`.
fn same_verbs(program: &str, found: &mut Vec<Argument<'_>>) {
    let Some(at) = found.iter().position(|arg| arg.option.is_none()) else {
        return;
    };
    if matches!(program, "npm" | "pnpm" | "yarn") {
        let named = found.iter().skip(at + 1).any(|arg| arg.option.is_none());
        if named && matches!(found[at].text, "run" | "run-script" | "rum" | "urn") {
            found.remove(at);
        }
    }
    let Some(verb) = found.iter_mut().find(|arg| arg.option.is_none()) else {
        return;
    };
    verb.text = match (program, verb.text) {
        ("npm" | "pnpm", "t" | "tst") => "test",
        ("npm" | "pnpm", "i" | "in" | "ins") => "install",
        ("cargo", "t") => "test",
        ("cargo", "b") => "build",
        ("cargo", "c") => "check",
        ("cargo", "r") => "run",
        (_, other) => other,
    };
}

/// Returns whether a command only prints what it would do, or what it is: `--help`, `--dry-run`,
/// `make -n`. That is not evidence.
pub fn is_dry(simple: &Simple) -> bool {
    let Some(program) = simple.words.first().map(|program| canonical(program)) else {
        return false;
    };
    let words = &simple.words[1..];
    let pretends = |word: &String| {
        matches!(
            word.as_str(),
            "--help" | "--dry-run" | "--dryrun" | "--just-print"
        ) || word
            .strip_prefix("--dry-run=")
            .is_some_and(|kind| !matches!(kind, "none" | "false"))
    };
    if words.iter().any(pretends)
        || (words.len() == 1
            && matches!(words[0].as_str(), "-h" | "-V" | "-?" | "-version" | "-help"))
    {
        return true;
    }
    let args: Vec<Arg<'_>> = Args::new(&simple.words, 1, spec_of(program)).collect();
    let verb = args
        .iter()
        .find(|arg| arg.kind == Kind::Operand)
        .map(|arg| arg.text);
    let version = args
        .iter()
        .any(|arg| arg.text == "--version" && arg.kind == Kind::Option);
    (version && verb.is_none())
        || (verb == Some("help") && program != "make")
        || is_dry_by_program(program, verb, &args)
}

fn is_dry_by_program(program: &str, verb: Option<&str>, args: &[Arg<'_>]) -> bool {
    let any = |letters: &str, names: &[&str]| {
        args.iter().any(|arg| {
            arg.kind == Kind::Option
                && (letters.chars().any(|l| arg.is(l, "")) || names.contains(&arg.text))
        })
    };
    let text = |names: &[&str]| args.iter().any(|arg| names.contains(&arg.text));
    match program {
        "make" => any("nqthv", &["--recon", "--question", "--touch"]),
        "pytest" => {
            let listing = [
                "--collect-only",
                "--co",
                "--fixtures",
                "--fixtures-per-test",
                "--markers",
                "--setup-plan",
                "--cache-show",
            ];
            any("hV", &listing)
        }
        "cargo" => text(&["--no-run", "--list"]) || any("hV", &[]),
        "go" => verb == Some("test") && text(&["-n", "-c", "-list", "-h"]),
        "rspec" | "minitest" | "cucumber" | "prove" => any("", &["--dry-run", "--dry"]),
        "phpunit" | "pest" => any("", &["--list-tests", "--list-suites", "--list-groups"]),
        "dotnet" => any("t", &["--list-tests"]) && verb == Some("test"),
        "swift" => verb == Some("test") && text(&["list", "--list-tests", "-l"]),
        "gradle" | "gradlew" => any("m", &["--dry-run"]),
        "bats" => any("c", &["--count"]),
        "stack" => text(&["--no-run-tests"]),
        "playwright" => any("", &["--list"]),
        "just" => any("nl", &["--list", "--show", "--summary", "--evaluate"]),
        "ninja" | "rsync" => any("n", &[]),
        "jest" => any("", &["--listTests", "--showConfig"]),
        "vitest" | "ctest" => verb == Some("list") || any("N", &["--show-only"]),
        "tox" | "nox" => any("l", &["--list", "--listenvs", "--notest"]),
        "kill" | "pkill" | "killall" => any("lL", &["-0"]),
        _ => false,
    }
}

/// Returns the operands of a command: its words without options and their values.
pub fn operands(simple: &Simple) -> Vec<&str> {
    let program = simple
        .words
        .first()
        .map_or("", |program| canonical(program));
    Args::new(&simple.words, 1, spec_of(program))
        .filter(|arg| arg.kind != Kind::Option && !arg.text.starts_with('-'))
        .map(|arg| arg.text)
        .collect()
}

/// Returns the directories that a command changes to by its own options.
pub(super) fn dirs(words: &[String]) -> Vec<&str> {
    let Some(program) = words.first() else {
        return Vec::new();
    };
    let names: &[&str] = match canonical(program) {
        "make" => &["-C", "--directory"],
        "git" | "ninja" | "go" | "cargo" => &["-C"],
        "npm" => &["--prefix"],
        "pnpm" => &["-C", "--dir"],
        "yarn" | "bun" => &["--cwd"],
        "just" => &["-d", "--working-directory"],
        "poetry" => &["-C", "--directory"],
        "uv" => &["--directory", "--project"],
        _ => return Vec::new(),
    };
    let args = Args::new(words, 1, spec_of(program));
    let is_dir = |arg: &Arg<'_>| {
        let name = if arg.text.starts_with("--") {
            arg.text
        } else {
            short_name(arg.text, arg.letters)
        };
        names.contains(&name)
    };
    args.filter(|arg| arg.kind == Kind::Option && is_dir(arg))
        .filter_map(|arg| arg.value)
        .take(8)
        .collect()
}
