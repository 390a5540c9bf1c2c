//! The state that a shell carries from one command to the next: its directory, and the options that
//! decide about failures.

use std::rc::Rc;

/// The longest directory that is joined from several `cd`, in bytes.
const DIR_MAX: usize = 4_096;
/// Directories that `pushd` remembers.
const PUSHED_MAX: usize = 16;
/// Exported variables that are remembered.
const EXPORTED_MAX: usize = 64;

/// Folders in which programs are not installed.
const TEMPORARY: [&str; 4] = ["/tmp/", "/var/tmp/", "$TMPDIR", "$PWD"];

/// What a subshell inherits and cannot change for its parent.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) dir: Option<Rc<str>>,
    before: Option<Rc<str>>,
    pushed: Vec<Option<Rc<str>>>,
    pub(super) errexit: bool,
    pub(super) pipefail: bool,
    /// Whether the shell has left: nothing behind a plain `exit` runs.
    pub(super) is_over: bool,
    /// Functions and aliases that the line defines; a call of one is no call of the program of that name.
    pub(super) defined: Vec<String>,
    /// What later commands find in their environment: `NAME=value`.
    pub(super) exported: Vec<String>,
}

impl State {
    /// Follows a builtin that changes the shell.
    pub(super) fn run(&mut self, words: &[String]) {
        let Some((program, arguments)) = words.split_first() else {
            return;
        };
        let operand = arguments
            .iter()
            .find(|word| *word == "-" || !word.starts_with(['-', '+']))
            .map(String::as_str);
        match (program.as_str(), operand) {
            ("cd" | "chdir", Some("-")) => std::mem::swap(&mut self.before, &mut self.dir),
            ("cd" | "chdir", target) => {
                let target = join_dir(self.dir.as_deref(), target.unwrap_or("~"));
                self.before = std::mem::replace(&mut self.dir, target);
            }
            ("pushd", Some(target)) => {
                let target = join_dir(self.dir.as_deref(), target);
                self.pushed.push(std::mem::replace(&mut self.dir, target));
                let excess = self.pushed.len().saturating_sub(PUSHED_MAX);
                self.pushed.drain(..excess);
            }
            ("popd", _) => self.dir = self.pushed.pop().flatten(),
            ("set", _) => self.set(arguments),
            ("export", _) => {
                let given = arguments.iter().filter(|word| word.contains('='));
                self.exported.extend(given.take(EXPORTED_MAX).cloned());
                let excess = self.exported.len().saturating_sub(EXPORTED_MAX);
                self.exported.drain(..excess);
            }
            ("unset", _) => {
                let is_unset = |given: &String| {
                    arguments
                        .iter()
                        .any(|name| given.split('=').next() == Some(name))
                };
                self.exported.retain(|given| !is_unset(given));
            }
            ("alias", _) => {
                let names = arguments.iter().filter_map(|word| word.split_once('='));
                self.defined.extend(names.map(|(name, _)| name.to_owned()));
            }
            _ => {}
        }
    }

    /// Notes that programs are looked for in another folder first, in which anybody may have put them.
    pub(super) fn note_path<'t>(&mut self, words: impl Iterator<Item = &'t String>) {
        let mut paths = words.filter_map(|word| word.strip_prefix("PATH="));
        let is_own = |path: &str| {
            let is_elsewhere = path.starts_with(['/', '~', '$']);
            !is_elsewhere || TEMPORARY.iter().any(|folder| path.starts_with(folder))
        };
        if paths.any(is_own) {
            self.defined.push("PATH".to_owned());
        }
    }

    /// Takes over the options of `set` or of a shell's own command line.
    pub(super) fn set(&mut self, words: &[String]) {
        let mut named = None;
        for word in words.iter().take_while(|word| *word != "--") {
            if let Some(on) = named.take() {
                match word.as_str() {
                    "pipefail" => self.pipefail = on,
                    "errexit" => self.errexit = on,
                    "noexec" => self.is_over |= on,
                    _ => {}
                }
            }
            let Some(letters) = word
                .strip_prefix(['-', '+'])
                .filter(|rest| !rest.starts_with('-'))
            else {
                continue;
            };
            let on = word.starts_with('-');
            if letters.contains('e') {
                self.errexit = on;
            }
            self.is_over |= on && letters.contains('n');
            if letters.ends_with('o') {
                named = Some(on);
            }
        }
    }
}

/// Returns the directory after `cd target` in `dir`.
pub(super) fn join_dir(dir: Option<&str>, target: &str) -> Option<Rc<str>> {
    match dir {
        Some(dir) if !target.starts_with(['/', '~', '$']) && dir.len() + target.len() < DIR_MAX => {
            Some(format!("{}/{target}", dir.trim_end_matches('/')).into())
        }
        _ => Some(target.into()),
    }
}
