//! Options of the programs that agents run: which of them take the next word as their value.
//!
//! Without this, `make -f restart` would look like `make restart`, and `head -n 5 file` would seem
//! to read a file `5`. A program that is not listed has no such options.

/// Options that take a separate value.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spec {
    /// Letters of short options.
    pub(super) shorts: &'static str,
    /// Names of long options, separated by spaces, without dashes.
    pub(super) longs: &'static str,
}

pub(super) const fn spec(shorts: &'static str, longs: &'static str) -> Spec {
    Spec { shorts, longs }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arg<'a> {
    /// Index among all words.
    pub(super) at: usize,
    /// The word; of `--name=value` only `--name`.
    pub(super) text: &'a str,
    /// The letters of a cluster of short options, up to one that takes a value.
    pub(super) letters: &'a str,
    pub(super) value: Option<&'a str>,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `-x`, `--name`.
    Option,
    /// A word that is not an option.
    Operand,
    /// Anything after `--`.
    Passed,
}

impl Arg<'_> {
    /// Returns whether this is the option of that letter or name (with dashes).
    pub(super) fn is(&self, letter: char, name: &str) -> bool {
        self.kind == Kind::Option
            && (self.letters.contains(letter) || (!name.is_empty() && self.text == name))
    }
}

/// Walks the arguments of a command; `words[0]` is the program.
#[derive(Clone, Debug)]
pub(super) struct Args<'a, S> {
    words: &'a [S],
    spec: Spec,
    next: usize,
    passed: bool,
}

impl<'a, S: AsRef<str>> Args<'a, S> {
    /// Returns the walk from word `next` on.
    pub(super) fn new(words: &'a [S], next: usize, spec: Spec) -> Self {
        Self {
            words,
            spec,
            next,
            passed: false,
        }
    }

    /// Returns the index of the first word that is not an option.
    pub(super) fn first_operand(mut self) -> usize {
        self.find(|arg| arg.kind != Kind::Option)
            .map_or(self.words.len(), |arg| arg.at)
    }

    fn value(&mut self) -> Option<&'a str> {
        let value = self.words.get(self.next)?.as_ref();
        self.next += 1;
        Some(value)
    }
}

impl<'a, S: AsRef<str>> Iterator for Args<'a, S> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        let mut text = self.words.get(self.next)?.as_ref();
        if text == "--" && !self.passed {
            self.passed = true;
            self.next += 1;
            text = self.words.get(self.next)?.as_ref();
        }
        let at = self.next;
        self.next += 1;
        let mut arg = Arg {
            at,
            text,
            letters: "",
            value: None,
            kind: Kind::Option,
        };
        if self.passed {
            arg.kind = Kind::Passed;
        } else if let Some(name) = text.strip_prefix("--") {
            if let Some((before, value)) = text.split_once('=') {
                (arg.text, arg.value) = (before, Some(value));
            } else if self.spec.longs.split(' ').any(|long| long == name) {
                arg.value = self.value();
            }
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let taker = letters
                .char_indices()
                .find(|(_, letter)| self.spec.shorts.contains(*letter));
            let end = taker.map_or(letters.len(), |(index, letter)| index + letter.len_utf8());
            let (before, after) = letters.split_at(end);
            arg.letters = before;
            arg.value = match taker {
                Some(_) if after.is_empty() => self.value(),
                Some(_) => Some(after),
                None => None,
            };
        } else {
            arg.kind = Kind::Operand;
        }
        Some(arg)
    }
}

/// Returns the program's name as rules write it: `pip3.11` is `pip`, `py.test` is `pytest`.
pub(super) fn canonical(program: &str) -> &str {
    match program {
        "py.test" => "pytest",
        "gmake" => "make",
        "nodejs" => "node",
        _ => {
            let base = program
                .trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
            if matches!(base, "pip" | "python" | "pypy" | "pytest" | "clang" | "gcc") {
                base
            } else {
                program
            }
        }
    }
}

/// Returns the options of a program that take a separate value.
pub(super) fn spec_of(program: &str) -> Spec {
    match canonical(program) {
        "make" => spec(
            "CfIoWE",
            "directory file makefile include-dir old-file assume-old what-if new-file assume-new eval",
        ),
        "git" => spec(
            "CcmF",
            "git-dir work-tree namespace message author file source pathspec-from-file",
        ),
        "npm" => spec("w", "prefix workspace registry userconfig cache loglevel"),
        "pnpm" => spec("CF", "dir filter registry"),
        "yarn" => spec("", "cwd"),
        "bun" => spec("", "cwd config filter"),
        "cargo" => spec(
            "pjFZC",
            "manifest-path package jobs features target target-dir profile config color message-format bin example \
             test bench exclude",
        ),
        "pip" => spec(
            "rceitf",
            "requirement constraint editable index-url extra-index-url target find-links log proxy cache-dir python \
             trusted-host prefix root src",
        ),
        "pytest" => spec(
            "knmpcoWr",
            "maxfail tb rootdir ignore deselect durations timeout junitxml color import-mode confcutdir basetemp dist \
             numprocesses log-level",
        ),
        "docker" | "docker-compose" | "podman" => spec(
            "fpHc",
            "file project-name profile env-file project-directory context host",
        ),
        "kubectl" | "helm" => spec("nf", "namespace context kubeconfig"),
        "just" => spec("fd", "justfile working-directory"),
        "ninja" => spec("Cfj", ""),
        "poetry" => spec("CP", "directory project"),
        "hatch" => spec("ep", "env project data-dir cache-dir config"),
        "uv" => spec("p", "directory project python config-file cache-dir"),
        "tox" | "nox" => spec("efs", "session sessions noxfile"),
        "kill" => spec("s", "signal"),
        "pkill" | "killall" => spec(
            "sugPtF",
            "signal uid euid group parent terminal pidfile user",
        ),
        "curl" => spec(
            "XHdouFAbcTemwxKEQ",
            "request header data data-raw json output user form max-time url",
        ),
        other => file_tool(other),
    }
}

/// The programs that read and write files.
fn file_tool(program: &str) -> Spec {
    match program {
        "head" | "tail" => spec("ncs", "lines bytes pid sleep-interval"),
        "bat" | "batcat" => spec(
            "rlHm",
            "line-range language highlight-line style theme paging color tabs wrap",
        ),
        "nl" => spec("bdfhilnsvw", ""),
        "od" | "hexdump" => spec("AjNStwns", ""),
        "xxd" => spec("cglso", ""),
        "less" | "more" => spec("pPxbhjkotTyz", ""),
        "jq" | "yq" => spec("fL", "indent from-file"),
        "grep" | "egrep" | "fgrep" => spec(
            "efABCmdD",
            "regexp file include exclude exclude-dir max-count after-context before-context context label",
        ),
        "rg" => spec(
            "efABCgtTmjMrdE",
            "regexp file glob iglob type type-not max-count after-context before-context context max-depth replace \
             sort sortr threads max-columns encoding engine color colors max-filesize ignore-file path-separator",
        ),
        "ag" => spec("ABCGmp", "after before context max-count ignore ignore-dir"),
        "awk" | "gawk" | "mawk" | "nawk" => spec("Fvf", "field-separator assign file"),
        "sed" | "gsed" => spec("efl", "expression file line-length"),
        "cut" => spec("bcdf", "bytes characters delimiter fields output-delimiter"),
        "sort" => spec("ktoST", "key field-separator output"),
        "perl" | "ruby" => spec("eEIF", ""),
        "cp" | "mv" => spec("tS", "target-directory suffix"),
        "install" => spec("tSmog", "target-directory suffix mode owner group"),
        "touch" => spec("drt", "date reference"),
        "truncate" => spec("sr", "size reference"),
        "patch" => spec("piodrBzDFVY", "strip input output directory"),
        "wget" => spec("Oo", "output-document"),
        _ => Spec::default(),
    }
}
