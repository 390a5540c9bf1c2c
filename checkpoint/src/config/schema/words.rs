//! What each key means: in the words of the compiled-in `config.yml`, or written here for keys that this file does not
//! have.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::layers::DEFAULT_TEXT;

/// Keys of lists and of projects' files, which have no defaults.
const OTHERS: [(&str, &str); 70] = [
    (
        "enabled",
        "Whether the project takes part. Counts without trust.",
    ),
    (
        "working_slug",
        "The active work item, whose plan lists the files that it changes.",
    ),
    (
        "projects.include",
        "Globs of the folders of projects that take part; empty means all.",
    ),
    (
        "projects.exclude",
        "Globs of the folders of projects that do not take part. They win over `include`.",
    ),
    (
        "agents.name",
        "What commands, answers and the journal call it: lower-case letters, digits, and `-`.",
    ),
    ("agents.settings", "The file with its user's hooks."),
    (
        "agents.project",
        "The folder of the file with a project's hooks, such as `.buddy`. The file has the same name.",
    ),
    (
        "agents.format",
        "groups: as Claude Code writes hooks, among other settings. flat: a file of our own with one command after the other.",
    ),
    (
        "agents.reply",
        "How it is told at a stop to go on: block or deny, the `decision` of the answer, or nested: block within `hookSpecificOutput`.",
    ),
    ("agents.events", "The hooks that are installed."),
    (
        "agents.fields",
        "Fields of its payloads that have other names, by their usual names: {cwd: working_dir}.",
    ),
    (
        "agents.tools",
        "Its tools by what they do: {shell: [run], read: [], edit: [], write: []}. Others are guessed by their names.",
    ),
    (
        "agents.transcripts",
        "Its transcripts, if they have the form of Claude Code's; `*` stands for any part of one name.",
    ),
    (
        "agents.variables",
        "Variables that it sets for its hooks and no other agent sets. They tell its calls from those of Claude Code, whose settings it may read.",
    ),
    (
        "agents.resume",
        "What `checkpointd restart` types: a line with `{session}`.",
    ),
    (
        "rules.name",
        "The category that messages show. The name of an existing rule changes that rule.",
    ),
    ("rules.pack", "Limits a change to the rule of this pack."),
    ("rules.disable", "Switches the rule off."),
    (
        "rules.kind",
        "The kind of files that the rule is about. `data` and `docs` ask for nothing, `always` applies at every stop.",
    ),
    (
        "rules.include",
        "Globs of the files that the rule takes, relative to the top of the work tree.",
    ),
    (
        "rules.exclude",
        "Globs of the files that the rule leaves out.",
    ),
    (
        "rules.alone",
        "The rule is a category only if no code changed.",
    ),
    (
        "rules.fallback",
        "The rule takes only files that no other rule takes.",
    ),
    (
        "rules.modified",
        "The first half of the rule's observations, such as `The schema was modified`.",
    ),
    (
        "rules.needs",
        "Purposes of the packs' own actions, such as `tests`, that the rule asks for too.",
    ),
    (
        "rules.expect",
        "Examples: what is asked for after these changes and commands. `checkpointd rules test` runs them.",
    ),
    ("rules.expect.changed", "Files that change."),
    ("rules.expect.ran", "Commands that are run then."),
    (
        "rules.expect.failed",
        "Commands that are run then and fail.",
    ),
    (
        "rules.expect.asks",
        "What is asked for, each the text of an action or a part of it.",
    ),
    ("rules.actions", "What the agent is asked to do."),
    (
        "rules.actions.text",
        "The instruction as the agent reads it; `{window}` is the time since the turn began.",
    ),
    (
        "rules.actions.purpose",
        "Actions of one purpose are asked for once. The default is the rule's name.",
    ),
    (
        "rules.actions.evidence",
        "The commands any of which shows that it was done; a word that begins with `*` is part of an argument.",
    ),
    (
        "rules.actions.label",
        "The missing evidence in the words of the observation. The default is the first entry of `evidence`.",
    ),
    (
        "rules.actions.step",
        "The section of the checkpoint. The default is `validate` for the purpose `tests`, `observe` for `logs`, else `runtime`.",
    ),
    (
        "rules.actions.order",
        "The place within the step. The default is 90.",
    ),
    (
        "rules.actions.after",
        "The purpose whose evidence has to come first.",
    ),
    (
        "journal.retention.payloads",
        "The age at which payloads are dropped.",
    ),
    (
        "journal.retention.kinds",
        "Other ages for single kinds of events.",
    ),
    ("progress.checks.name", "What is checked."),
    ("progress.checks.run", "The command."),
    (
        "progress.checks.timeout",
        "Its time limit. The default is 10s.",
    ),
    (
        "listeners.agent_finished",
        "Commands that run when an agent has stopped without a checkpoint.",
    ),
    (
        "listeners.needs_attention",
        "Commands that run when an agent asks for permission or fails.",
    ),
    (
        "listeners.checkpoint_sent",
        "Commands that run when an agent got a checkpoint.",
    ),
    ("programs.also", "Other names of it."),
    (
        "programs.does",
        "What it does. For a runner of tasks, what it does without a task.",
    ),
    (
        "programs.operands",
        "What its operands are. If that is unknown, it is not known which code a run with operands was about.",
    ),
    (
        "programs.values",
        "Options that take the next word as their value.",
    ),
    (
        "programs.chooses",
        "Options that choose a part of what it would run.",
    ),
    (
        "programs.dry",
        "Options and operands with which it only lists or pretends.",
    ),
    (
        "programs.may_do_nothing",
        "Options with which it ends well if there is nothing to do.",
    ),
    (
        "programs.without_tests",
        "Options with which it builds, but runs no tests.",
    ),
    (
        "programs.writes",
        "Options with which it writes files of the project.",
    ),
    (
        "programs.dirs",
        "Options whose value is the folder in which it runs.",
    ),
    ("programs.inline", "Options whose value is a program text."),
    (
        "programs.targets",
        "Options whose value names tasks, separated by commas.",
    ),
    ("programs.script", "Whether its first operand is a script."),
    (
        "programs.tasks",
        "Whether its operands name tasks of the project: none, one (the first), or many (all).",
    ),
    (
        "programs.wraps",
        "How it runs another command: after its options, and what is said here.",
    ),
    ("programs.wraps.operands", "Operands before the command."),
    (
        "programs.wraps.assigns",
        "Whether `NAME=value` may stand before the command.",
    ),
    (
        "programs.wraps.dashes",
        "Whether the command begins only behind `--` or one of `begins`.",
    ),
    (
        "programs.wraps.begins",
        "Options behind which the command begins.",
    ),
    (
        "programs.wraps.script",
        "Options whose value is a command line.",
    ),
    (
        "programs.wraps.lines",
        "Whether each operand with a blank is a command line.",
    ),
    (
        "programs.wraps.uncertain",
        "Whether it may end well without having run the command.",
    ),
    (
        "programs.wraps.inert",
        "Options with which it does not run the command.",
    ),
    (
        "programs.verbs",
        "Its subcommands, by name. A key may name several, separated by spaces; `*` stands for any beginning or end.",
    ),
];

static WORDS: LazyLock<HashMap<String, String>> = LazyLock::new(|| {
    let mut words = read(DEFAULT_TEXT);
    let others = OTHERS.map(|(key, text)| (key.to_owned(), text.to_owned()));
    words.extend(others);
    words
});

/// Returns the description of a key. A subcommand has the keys of a program.
pub(super) fn about(key: &str) -> Option<&'static str> {
    WORDS
        .get(&key.replace("programs.verbs.", "programs."))
        .map(String::as_str)
}

/// Reads the comment above each key. One comment may explain several keys that follow each other, and that of a group its
/// keys without a comment of their own.
fn read(text: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut above: Vec<(usize, &str, Vec<&str>)> = Vec::new();
    let mut comment: Vec<&str> = Vec::new();
    let mut comment_depth = 0;
    let mut open = false;
    for line in text.lines() {
        let depth = line.len() - line.trim_start().len();
        let line = line.trim_start();
        if let Some(words) = line.strip_prefix('#') {
            if !std::mem::replace(&mut open, true) {
                comment.clear();
            }
            comment_depth = depth;
            comment.push(words.strip_prefix(' ').unwrap_or(words));
            continue;
        }
        open = false;
        let Some((key, value)) = line.split_once(':') else {
            comment.clear();
            continue;
        };
        if depth != comment_depth {
            comment.clear();
        }
        above.retain(|(outer, _, _)| *outer < depth);
        let keys = above.iter().map(|(_, key, _)| *key).chain([key]);
        let key_path = keys.collect::<Vec<_>>().join(".");
        let of_group = above.last().map(|(_, _, comment)| comment);
        let words = Some(&comment).filter(|own| !own.is_empty()).or(of_group);
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            found.insert(key_path, words.join("\n"));
        }
        if value.is_empty() {
            above.push((depth, key, std::mem::take(&mut comment)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_belong_to_the_keys_below_them() {
        let found = read(
            "# Top.\n\n# A: one\n# two.\na: 1\nsame: 2\n\ngroup:\n  # In.\n  key: 3\n\n  lower:\n    # Deep.\n    x: 4\n# Both.\nends:\n  of: 5\n  on: 6\nend: 7\n",
        );
        let of = |key: &str| found.get(key).map(String::as_str);
        assert_eq!(of("a"), Some("A: one\ntwo."));
        assert_eq!(of("same"), Some("A: one\ntwo."));
        assert_eq!((of("group"), of("group.key")), (None, Some("In.")));
        assert_eq!((of("group.lower.x"), of("end")), (Some("Deep."), None));
        assert_eq!(
            (of("ends.of"), of("ends.on")),
            (Some("Both."), Some("Both."))
        );
    }
}
