//! What the commands of a turn did: each that could show a mistake in code, how it ended, and which code it was about.

mod said;

use std::sync::LazyLock;

use journal::{CallOutcome, Summary, SummaryKind, SummaryVerdict, Task, ToolCall, ToolKind};

use regex::Regex;

use crate::catalogue::{
    Arg, Catalogue, Command, Kind, Opening, Operands, Parsed, Purpose, file_name,
};
use crate::judging::paths::PathRef;
use crate::judging::turn::Turn;
use crate::outcome::overall;
use crate::project::covering::within;
use crate::shell::{CommandLine, Simple, read};
use said::{does, executes, runs_code};

/// Tasks that call tasks.
const DEPTH_MAX: usize = 6;

/// One thing that ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::judging) struct Run {
    pub(in crate::judging) call: usize,
    /// Its program, by which its place in the line is found.
    pub(in crate::judging) program: String,
    /// The names by which it was called: the program, and of a task also its name and its own program.
    names: Vec<String>,
    /// What it did; none if that is not known.
    pub(in crate::judging) does: Option<Purpose>,
    /// The language of the code that it is about; empty for any.
    pub(in crate::judging) language: String,
    pub(in crate::judging) ended: Ended,
    /// All below these folders, as written, the top if one is empty; none if it is not known which code it was about.
    scope: Option<Vec<String>>,
    /// Whether it ran a program text that the line holds.
    is_given: bool,
    /// Whether it may end well without having done anything, so that only its output shows that it did.
    may_do_nothing: bool,
    /// The words and the program text that it was given.
    text: String,
}

/// How something ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::judging) enum Ended {
    /// It did not run, or ran nothing.
    Nothing,
    /// The record does not say.
    #[default]
    Unknown,
    /// It failed.
    Failed,
    /// It passed.
    Passed,
}

impl Run {
    /// Returns whether it is about code of a language; code of no known language may be meant by anything.
    pub(in crate::judging) fn speaks(&self, language: &str) -> bool {
        self.language.is_empty() || language.is_empty() || self.language == language
    }

    /// Returns whether its words name a file, or its module.
    pub(in crate::judging) fn names(&self, file: &PathRef) -> bool {
        file.is_named_in(&self.text)
    }

    /// Returns whether nothing is known of what it did: a program or a tool that no row names.
    pub(in crate::judging) fn is_opaque(&self) -> bool {
        self.does.is_none() && !self.is_given
    }

    /// Returns whether it certainly was about a file.
    pub(in crate::judging) fn holds(&self, path: &str, project: &str) -> bool {
        let mut folders = self.scope.iter().flatten();
        folders.any(|folder| holds(folder, path, project))
    }
}

/// Returns whether a file certainly is one, or is below a folder.
fn holds(folder: &str, path: &str, project: &str) -> bool {
    let (folder, file) = (PathRef::written(folder, project), PathRef::changed(path));
    within(&file.path, &folder.path) || folder.same(&file)
}

/// Returns what ran in a turn, in order.
pub(in crate::judging) fn runs(turn: &Turn<'_>) -> Vec<Run> {
    let mut found = Vec::new();
    let reader = Reader {
        turn,
        said: said::said(turn),
    };
    for (call, tool) in turn.calls().iter().enumerate() {
        if tool.refused {
            continue;
        }
        if tool.kind == ToolKind::Shell {
            reader.line(call, &mut found);
        } else {
            reader.tool(call, tool, &mut found);
        }
    }
    found
}

/// Returns whether a command line runs something that could verify code, so that it matters on what it ran.
pub fn could_verify(line: &CommandLine) -> bool {
    let catalogue = Catalogue::built_in();
    line.commands.iter().any(|simple| {
        let known = catalogue.command(&simple.words).map(|command| command.does);
        known.is_none_or(|does| does.is_none_or(|does| does > Purpose::Install))
    })
}

/// Returns the commands of a line by which work leaves.
pub fn leaving(catalogue: &Catalogue, line: &str) -> Vec<Simple> {
    let leaves = |simple: &Simple| {
        let known = catalogue.command(&simple.words);
        known.is_some_and(|command| command.leaves && !command.is_dry)
            && !carries_no_work(&catalogue.parse(&simple.words))
    };
    let mut commands = read(line).commands;
    commands.retain(leaves);
    commands
}

/// Returns whether a push only deletes, or has nothing but notes.
fn carries_no_work(push: &Parsed<'_>) -> bool {
    if push.program != "git" || push.verbs != ["push"] {
        return false;
    }
    let more = ["--all", "--branches", "--mirror", "--tags"];
    let deletes = push.args.iter().any(|arg| arg.is('d', "--delete"));
    let is_operand = |arg: &&Arg<'_>| matches!(arg.kind, Kind::Operand | Kind::Passed);
    // The first is the other repository.
    let refs = push.args.iter().filter(is_operand).skip(1);
    let mut refs = refs.map(|arg| arg.text.trim_start_matches('+')).peekable();
    let is_none =
        |name: &str| name.starts_with("refs/notes/") || name.len() > 1 && name.starts_with(':');
    let has_more = push.args.iter().any(|arg| more.contains(&arg.text));
    deletes || !has_more && refs.peek().is_some() && refs.all(is_none)
}

struct Reader<'t, 'a> {
    turn: &'t Turn<'a>,
    /// What the outputs say, by the call whose commands printed it.
    said: Vec<Vec<Summary>>,
}

impl Reader<'_, '_> {
    fn line(&self, call: usize, found: &mut Vec<Run>) {
        let line = &self.turn.lines[call];
        let begin = found.len();
        let mut before = begin;
        for (place, simple) in line.commands.iter().enumerate() {
            let mut acts = Vec::new();
            self.acts(simple, 0, &mut acts);
            for act in acts {
                let ended = self.ended(call, place, &act);
                found.push(Run { call, ended, ..act });
            }
            if self.puts_back(simple) {
                before = found.len();
            }
        }
        // What is put back later in the line is not what they ran on.
        for run in &mut found[begin..before] {
            run.ended = run.ended.min(Ended::Unknown);
        }
        self.shown(call, begin, before > begin, found);
    }

    /// Adds tests that an output shows and no command of the line is known for: of a task, a script, a hook.
    fn shown(&self, call: usize, begin: usize, is_put_back: bool, found: &mut Vec<Run>) {
        if !executes(self.turn, &self.turn.lines[call]) {
            return;
        }
        let is_tests = |run: &Run| run.does == Some(Purpose::Tests) && !run.language.is_empty();
        if found[begin..].iter().any(is_tests) {
            return;
        }
        let verdicts = self.by_language(call);
        if verdicts.iter().any(|(language, _)| !language.is_empty()) {
            // The output says of which languages; a task is about no others.
            let from = found.split_off(begin);
            found.extend(
                from.into_iter()
                    .filter(|run| run.does != Some(Purpose::Tests)),
            );
        }
        let program = self.turn.lines[call].commands.last();
        let program = program.and_then(|simple| simple.words.first().cloned());
        let most = if is_put_back {
            Ended::Unknown
        } else {
            Ended::Passed
        };
        for (language, ended) in verdicts {
            let ended = ended.min(most);
            found.push(Run {
                call,
                program: program.clone().unwrap_or_default(),
                does: Some(Purpose::Tests),
                language,
                ended,
                text: self.turn.calls()[call].command.clone().unwrap_or_default(),
                ..Run::default()
            });
        }
    }

    /// Adds what a tool ran that is no shell, as far as its output or its name says.
    fn tool(&self, call: usize, tool: &ToolCall, found: &mut Vec<Run>) {
        if tool.kind != ToolKind::Other {
            return;
        }
        let mut add = |does, language, ended| {
            found.push(Run {
                call,
                does,
                language,
                ended,
                ..Run::default()
            });
        };
        for (language, ended) in self.by_language(call) {
            add(Some(Purpose::Tests), language, ended);
        }
        for (kind, does) in [
            (SummaryKind::Build, Purpose::Build),
            (SummaryKind::Types, Purpose::Types),
        ] {
            if let Some(verdict) = overall(&self.said[call], kind) {
                add(Some(does), String::new(), ended_of(verdict));
            }
        }
        // A server that a person connected may have run anything; given the path of a file, it works on that, unless it says
        // that it checks it.
        let verifies = || self.turn.catalogue.named(&tool.tool) >= Some(Purpose::Lint);
        if self.said[call].is_empty()
            && tool.tool.starts_with("mcp__")
            && !tool.is_error
            && (tool.paths.is_empty() || verifies())
        {
            add(None, String::new(), Ended::Unknown);
        }
    }

    /// Adds what a command does: itself, or the commands of the task that it calls.
    fn acts(&self, simple: &Simple, depth: usize, acts: &mut Vec<Run>) {
        let catalogue = &self.turn.catalogue;
        let words = &simple.words;
        let Some(program) = words.first() else {
            return;
        };
        let mut act = Run {
            program: program.clone(),
            names: vec![file_name(program).to_owned()],
            text: words[1..].join(" "),
            ..Run::default()
        };
        let Some(command) = catalogue.command(words) else {
            let stem = stem(program);
            let task = self.task(&[stem], simple);
            act.does = catalogue
                .named(stem)
                .filter(|_| stem != program || task.is_some());
            act.language = self.turn.language(program).to_owned();
            acts.push(act);
            return;
        };
        act.language = command.language.to_owned();
        act.does = does(self.turn, simple).flatten();
        act.scope = scope(&command, simple);
        // A script understands such options in its own way.
        if command.is_dry && command.opening != Opening::Script {
            return;
        }
        match command.opening {
            Opening::Script => self.script(&mut act, &command.operands[0], words),
            Opening::Inline => (act.does, act.is_given) = (None, true),
            Opening::Tasks => {
                act.names.extend(command.operands.iter().cloned());
                let names: Vec<&str> = command.operands.iter().map(String::as_str).collect();
                if let Some(task) = self.task(&names, simple).filter(|_| depth < DEPTH_MAX) {
                    let is_plain = |word: &String| !word.starts_with('-') && !word.contains('=');
                    let act = Run {
                        // Other words may choose a part of it.
                        scope: (names.len() == 1 && words.iter().all(is_plain))
                            .then(|| vec![task.folder.clone()]),
                        ..act
                    };
                    return self.task_acts(&task.text, simple, depth, act, acts);
                }
                let tasks = &self.turn.evidence.facts.workspace;
                let are_known = tasks.as_ref().is_some_and(|known| !known.tasks.is_empty());
                // No task of that name, which is fine by its options.
                if command.may_do_nothing && are_known {
                    return;
                }
                self.called(&mut act, &names, simple);
            }
            Opening::Nothing => {}
        }
        if let Some(input) = &simple.input {
            act.text.push('\n');
            act.text.push_str(input);
        }
        if command.may_do_nothing {
            (act.scope, act.may_do_nothing) = (None, true);
        }
        acts.push(act);
    }

    /// Says what a script does: a known program, a test, or what its name says.
    fn script(&self, act: &mut Run, script: &str, words: &[String]) {
        let catalogue = &self.turn.catalogue;
        let behind = words.iter().position(|word| word == script);
        act.language = self.turn.language(script).to_owned();
        act.does = if let Some(inner) = behind.and_then(|at| catalogue.command(&words[at..])) {
            inner.does
        } else if catalogue.is_test(script) {
            Some(Purpose::Tests)
        } else {
            catalogue.named(stem(script)).or(Some(Purpose::Run))
        };
    }

    /// Adds what the commands of a task do; if they only prepare something, it is not known what the task is for. The scope of
    /// `act` is the folder of the task if it was called as it is.
    fn task_acts(&self, text: &str, simple: &Simple, depth: usize, act: Run, acts: &mut Vec<Run>) {
        let begin = acts.len();
        let mut commands = read(text).commands;
        // The words behind `--` go to the end of the script's line.
        let passed = simple.words.iter().skip_while(|word| *word != "--").skip(1);
        commands
            .iter_mut()
            .rev()
            .take(1)
            .for_each(|last| last.words.extend(passed.clone().cloned()));
        let last = commands
            .last()
            .and_then(|last| self.turn.catalogue.command(&last.words));
        let is_dry = last.is_some_and(|last| last.is_dry);
        let folder = act.scope.as_ref().filter(|_| commands.len() == 1);
        let folder = folder.and_then(|folders| folders.first().cloned());
        for mut inner in commands {
            if let Some(folder) = &folder {
                let dir = inner.dir.take().unwrap_or_default();
                inner.dir = Some(join(folder, &dir)).filter(|dir| !dir.is_empty());
            }
            inner.certain &= simple.certain;
            inner.decides &= simple.decides;
            self.acts(&inner, depth + 1, acts);
        }
        let prepares = |inner: &Run| inner.does.is_some_and(|does| does <= Purpose::SetUp);
        if acts.len() == begin && is_dry {
            return;
        }
        if acts[begin..].iter().all(prepares) {
            acts.push(Run {
                does: None,
                scope: None,
                ..act
            });
            return;
        }
        for inner in &mut acts[begin..] {
            inner.program.clone_from(&act.program);
            inner.names.extend(act.names.iter().cloned());
            if folder.is_none() {
                inner.scope = None;
            }
        }
    }

    /// Says what a task does that no file of the project defines: a known program, or what its name says.
    fn called(&self, act: &mut Run, names: &[&str], simple: &Simple) {
        let (catalogue, words) = (&self.turn.catalogue, &simple.words);
        let first = names
            .first()
            .and_then(|name| words.iter().position(|word| word == name));
        let behind = first.and_then(|at| catalogue.command(&words[at..]));
        if let Some(behind) = behind.filter(|behind| behind.does >= Some(Purpose::Format)) {
            act.does = behind.does;
            act.language = behind.language.to_owned();
            act.scope = scope(&behind, simple);
        } else {
            let named = names.iter().filter_map(|name| catalogue.named(name)).max();
            act.does = named.or(act.does);
        }
    }

    /// Returns the task that a name calls: of the folder of the command, else of the nearest above it or the top.
    fn task(&self, names: &[&str], simple: &Simple) -> Option<&Task> {
        let tasks = &self.turn.evidence.facts.workspace.as_ref()?.tasks;
        let dir = simple
            .dir
            .as_deref()
            .map(|dir| PathRef::written(dir, self.turn.project).path);
        let named = tasks
            .iter()
            .filter(|task| names.contains(&task.name.as_str()));
        named.max_by_key(|task| {
            let dir = dir.as_deref().unwrap_or_default();
            let is_above = dir.starts_with(&task.folder) || dir.ends_with(&task.folder);
            (is_above, task.folder.len())
        })
    }

    /// Returns how the tests of a call ended by the language of their runner; empty for a form that several languages share.
    fn by_language(&self, call: usize) -> Vec<(String, Ended)> {
        let of = |summary: &Summary| self.turn.catalogue.language_of_program(&summary.tool);
        let is_tests = |summary: &&Summary| summary.kind == SummaryKind::Tests;
        let mut found: Vec<(String, Ended)> = Vec::new();
        for language in self.said[call].iter().filter(is_tests).map(of) {
            if !found.iter().any(|(known, _)| known == language) {
                let is_its = |summary: &&Summary| is_tests(summary) && of(summary) == language;
                let ended = self.told(call, None, Some(Purpose::Tests), is_its);
                let ended = ended.unwrap_or(Ended::Unknown);
                found.push((language.to_owned(), ended));
            }
        }
        found
    }

    /// Returns how the things of a purpose ended, of which some summaries of a call speak. If they do not agree, some failed.
    /// But with a pass at the end, that is not known where several commands may have printed them, or the status says that
    /// all went well.
    fn told(
        &self,
        call: usize,
        place: Option<usize>,
        purpose: Option<Purpose>,
        is_told: impl Fn(&&Summary) -> bool,
    ) -> Option<Ended> {
        let told = self.said[call].iter().filter(is_told);
        let told: Vec<Ended> = told.map(|summary| ended_of(summary.verdict)).collect();
        let worst = told.iter().copied().reduce(worse)?;
        if worst != Ended::Failed || told.last() == Some(&Ended::Failed) {
            return Some(worst);
        }
        let may_print = |(at, simple): &(usize, &Simple)| {
            let does = does(self.turn, simple).flatten();
            Some(*at) == place || does.is_none() || does == purpose
        };
        let commands = self.turn.lines[call].commands.iter().enumerate();
        let printing: Vec<_> = commands.filter(may_print).collect();
        let is_well = |simple: &Simple| simple.decides && !self.turn.calls()[call].is_error;
        match printing[..] {
            [] => Some(worst),
            [(_, only)] if only.certain && !is_well(only) => Some(worst),
            _ => Some(Ended::Unknown),
        }
    }

    /// Returns whether a command puts back or away what changed files hold, so that commands before it ran on something else.
    fn puts_back(&self, simple: &Simple) -> bool {
        let is_verb =
            |word: &&String| ["stash", "checkout", "restore", "reset"].contains(&word.as_str());
        let Some(verb) = simple.words.iter().find(is_verb) else {
            return false;
        };
        let has = |option: &str| simple.words.iter().any(|word| word == option);
        if simple.words[0] != "git" || has("--staged") {
            return false;
        }
        match verb.as_str() {
            "stash" => does(self.turn, simple) != Some(Some(Purpose::Show)) && !has("drop"),
            "reset" => has("--hard"),
            _ => {
                let dir = simple.dir.clone().unwrap_or_default();
                let behind = simple.words.iter().skip_while(|word| *word != verb).skip(1);
                let mut paths = behind.map(|path| join(&dir, path));
                paths.any(|path| {
                    let mut files = self.turn.files.iter();
                    files.any(|file| holds(&path, &file.path, self.turn.project))
                })
            }
        }
    }

    /// Returns whether the output says that a command was not found, or that the folder was not there to which the line
    /// changed before it.
    fn is_missing(&self, call: usize, place: usize, act: &Run) -> bool {
        let commands = &self.turn.lines[call].commands;
        let program = |at: usize| commands[at].words.first().map(|word| file_name(word));
        // Another command of the same name may be the one that is missing.
        let is_only =
            |name: &str| (0..commands.len()).all(|at| at == place || program(at) != Some(name));
        let is_behind_cd = || {
            let mut folders = (0..commands.len()).filter(|at| program(*at) == Some("cd"));
            let folder = folders
                .next()
                .filter(|at| *at < place && commands[*at].decides);
            folder.is_some() && folders.next().is_none() && self.turn.calls()[call].is_error
        };
        let said = self.said[call].iter();
        let mut missing = said.filter(|said| said.kind == SummaryKind::Missing);
        missing.any(|missing| {
            let name = &missing.tool;
            (act.names.contains(name) && is_only(name)) || (name == "cd" && is_behind_cd())
        })
    }

    /// Returns how a command ended: by its output, else by the status of its call unless the line hides it.
    fn ended(&self, call: usize, place: usize, act: &Run) -> Ended {
        let tool = &self.turn.calls()[call];
        let commands = &self.turn.lines[call].commands;
        let simple = &commands[place];
        let outcome = self.turn.evidence.facts.outcome(call);
        let ended = outcome.and_then(|said: &CallOutcome| said.ended);
        let failed = tool.is_error || ended == Some(SummaryVerdict::Failed);
        let is_told = |summary: &&Summary| match act.does {
            Some(Purpose::Tests) => {
                let language = self.turn.catalogue.language_of_program(&summary.tool);
                summary.kind == SummaryKind::Tests && act.speaks(language)
            }
            Some(Purpose::Build) => summary.kind == SummaryKind::Build,
            Some(Purpose::Types) => summary.kind == SummaryKind::Types,
            Some(Purpose::Lint) => summary.kind == SummaryKind::Lint,
            _ => {
                summary.kind == SummaryKind::Other && summary.verdict == SummaryVerdict::RanNothing
            }
        };
        let said = self.told(call, Some(place), act.does, is_told);
        let others = commands.iter().enumerate().filter(|(at, _)| *at != place);
        let is_alone = !others.clone().any(|(_, other)| runs_code(self.turn, other));
        let may_fail_elsewhere = others
            .filter(|(at, _)| *at > place)
            .any(|(_, other)| runs_code(self.turn, other));
        match said {
            Some(Ended::Passed) if failed && !may_fail_elsewhere => return Ended::Unknown,
            Some(said) => return said,
            None if self.is_missing(call, place, act) => return Ended::Nothing,
            None => {}
        }
        let is_over = tool.finished || ended.is_some();
        if !simple.certain || !is_over {
            return Ended::Unknown;
        }
        match (failed, simple.decides) {
            // The shell did not find the program.
            (true, true) if act.does.is_none() && exit_code(tool) == Some("127") => Ended::Nothing,
            (true, true) if is_alone && exit_code(tool).is_some() => Ended::Failed,
            (false, true) if !act.may_do_nothing => Ended::Passed,
            _ => Ended::Unknown,
        }
    }
}

/// Returns which code a command is about.
fn scope(command: &Command<'_>, simple: &Simple) -> Option<Vec<String>> {
    if command.is_partial {
        return None;
    }
    let dir = simple.dir.clone().unwrap_or_default();
    let mut operands = command.operands.iter();
    match command.takes {
        _ if command.operands.is_empty() => Some(vec![dir]),
        Operands::Paths => {
            let paths = operands.map(|path| path.split("::").next().unwrap_or(path));
            Some(paths.map(|path| join(&dir, path)).collect())
        }
        Operands::Packages if operands.any(|one| one == "./..." || one == ".") => Some(vec![dir]),
        _ => None,
    }
}

fn join(dir: &str, path: &str) -> String {
    if dir.is_empty() || path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{dir}/{path}")
    }
}

/// Returns a program's or a script's name without folder and ending.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn ended_of(verdict: SummaryVerdict) -> Ended {
    match verdict {
        SummaryVerdict::Passed => Ended::Passed,
        SummaryVerdict::Failed => Ended::Failed,
        SummaryVerdict::RanNothing => Ended::Nothing,
    }
}

fn worse(one: Ended, other: Ended) -> Ended {
    if one == Ended::Failed || other == Ended::Failed {
        Ended::Failed
    } else {
        one.max(other)
    }
}

/// Returns the status that a failed call reports, empty where it reports no more than that; none if the host did not run it.
fn exit_code(tool: &ToolCall) -> Option<&str> {
    static EXIT_CODE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?im)^(?:Error: )?(?:Exit code:? |Process exited with code )(-?\d+)")
            .expect("a constant that a test compiles")
    });
    if tool.output.is_empty() {
        return Some("");
    }
    let found = EXIT_CODE.captures(&tool.output)?;
    found.get(1).map(|code| code.as_str())
}
