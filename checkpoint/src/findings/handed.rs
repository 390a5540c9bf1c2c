//! Failures that the agent hands over to the person: its last message names them (spec HYG-13).

use std::sync::LazyLock;

use journal::{Evidence, SummaryVerdict, ToolCall, ToolKind};
use regex::{Regex, RegexBuilder};

use super::line_words::{FILES, FILTERS, SETTING_UP};
use super::turn::Turn;
use super::{missing, older, outcomes};
use crate::policy::HandedOver;
use crate::shell;

/// The most failed calls of one turn that are looked for in a message.
const CALLS_MAX: usize = 64;
/// The most words of one command that a message may name it by.
const WORDS_MAX: usize = 24;

/// A cause that lies outside the project.
struct Cause {
    /// What programs say of it.
    says: Regex,
    /// The words of people for it.
    named: &'static [&'static str],
}

/// Causes that no change of the project removes: what programs say, and the words of people.
static CAUSES: LazyLock<Vec<Cause>> = LazyLock::new(|| {
    let causes: [(&str, &'static [&'static str]); 6] = [
        (
            r"could ?n.t resolve|could not resolve|name or service not known|name resolution|ENOTFOUND|EAI_AGAIN|no such host|dns error|unknown ?host|nodename nor servname|remote name could not be resolved|network is unreachable|ENETUNREACH|no route to host|failed to lookup address|(?:could ?n.t|could not|failed to|cannot|can.t|unable to) (?:connect|reach)|connection (?:timed out|refused|reset|error)|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_INTERNET|ERR_NAME_NOT|ERR_CONNECTION|tunnel(?:ing)? (?:connection )?failed|tunnel socket|proxyerror|max retries exceeded|NewConnectionError|TLS handshake timeout|certificate verify failed|local issuer certificate|failed to (?:fetch|download)|socket hang up|network error|could not transfer artifact|no (?:network|internet)|request to https?://\S+ failed",
            &[
                "network",
                "internet",
                "offline",
                "dns",
                "connect",
                "proxy",
                "reach",
                "resolve",
                "registry",
                "firewall",
                "sandbox",
                "red",
                "réseau",
                "rede",
                "netz",
                "сет",
                "网络",
                "ネットワーク",
                "네트워크",
            ],
        ),
        (
            r"authentication (?:failed|required|error)|could not read (?:username|password)|terminal prompts disabled|permission denied \(publickey|host key verification failed|(?:bad|invalid|missing|expired|no|locate) credentials|could not find (?:default )?credentials|unauthori[sz]ed|\b40[13]\b|forbidden|not logged in|(?:gh auth|please|must|need to|to|az|docker|gcloud|npm) log ?in|requires (?:authentication|login)|access ?denied|expiredtoken|(?:api|access)[ _-]?(?:key|token)|ENEEDAUTH|EOTP|one-time password|(?:token|secret)\S* (?:is )?(?:missing|expired|invalid|not set|required)|requested access to the resource|permission to \S+ denied|not accessible by|insufficient (?:permission|scope|privilege)|protected branch|hook declined|password is required|a terminal is required",
            &[
                "credential",
                "auth",
                "login",
                "log in",
                "logged in",
                "token",
                "permission",
                "access",
                "ssh key",
                "api key",
                "secret",
                "account",
                "password",
                "protected",
                "anmeld",
                "identifi",
                "凭证",
                "凭据",
                "权限",
                "登录",
                "認証",
                "인증",
            ],
        ),
        (
            r"does not appear to be a git repository|no configured push destination|repository not found|no such remote|could not read from remote|no remote repository",
            &["remote", "origin", "upstream", "repositor"],
        ),
        (
            r"rate.?limit|quota|too many requests|\b429\b|usage limit|resource_exhausted|billing|payment required|no space left|ENOSPC|disk (?:is )?full|out of memory|cannot allocate memory|ENOMEM",
            &[
                "quota",
                "rate",
                "limit",
                "billing",
                "disk",
                "space",
                "memory",
                "cuota",
                "kontingent",
                "配额",
            ],
        ),
        (
            r"operation not permitted|\bEPERM\b|\bEACCES\b|permission denied|read-only file system|EROFS|are you root|(?:run|must be|requires?|as) (?:\S+ )?(?:root|sudo|admin)|elevated|sandbox",
            &[
                "permission",
                "permitted",
                "sandbox",
                "root",
                "sudo",
                "privilege",
                "read-only",
                "rights",
                "recht",
                "权限",
                "permis",
            ],
        ),
        (
            r"docker daemon|docker\.sock|executable doesn.t exist|no (?:connected |available |booted )?(?:devices?|emulators?|simulators?)|(?:sdk|xcode|jdk|java|runtime|toolchain|browser)\S* (?:\S+ ){0,4}(?:not (?:found|set|installed|available)|required|missing)|unable to (?:find|locate) (?:an? )?(?:device|sdk|destination|java|xcode)|(?:service|container)\S*(?: \S+)? is not running|xcode-select|(?:cannot|can.t|unable to) open display|missing x server|not been booted with systemd|no nvidia|cuda\S* (?:is )?not|(?:is|are) not installed|unsupported (?:platform|engine)|requires (?:node|python|macos|windows|linux|xcode|a gpu)|code ?sign|development team|licen[sc]e",
            &[
                "docker",
                "daemon",
                "emulator",
                "simulator",
                "device",
                "xcode",
                "sdk",
                "java",
                "jdk",
                "browser",
                "install",
                "environment",
                "machine",
                "gpu",
                "cuda",
                "display",
                "licen",
                "sign",
                "platform",
                "macos",
                "windows",
                "node",
                "python",
            ],
        ),
    ];
    let cause = |(says, named): (&str, &'static [&'static str])| Cause {
        says: ignoring_case(says),
        named,
    };
    causes.into_iter().map(cause).collect()
});

/// How people say that something was not done, or went wrong.
static NOT_DONE: LazyLock<Regex> = LazyLock::new(|| {
    ignoring_case(concat!(
        r"\b(?:cannot|unable|fail\w*|not|never|no|none|isn.t|wasn.t|aren.t|weren.t|can.t|couldn.t|doesn.t|didn.t|haven.t|hasn.t|won.t|",
        r"without|block\w*|denie[ds]|refus\w*|missing|lacks?|lacking|unavailable|unreachable|offline|timed? ?out|timeout|rejected|skipped|",
        r"requires?|needs|errors?|errored|broken|limit\w*|exceeded|exhausted|expired|invalid|unauthorized|forbidden|40[13]|429|crash\w*|red|",
        r"no pude|falló|fallan?|sin|não|falhou|falha\w*|sem|impossible|échou\w*|échec|sans|pas|nicht|fehl\w*|scheiter\w*|kein\w*|ohne)\b|",
        r"n't\b|❌|✗|✘|⚠|🔴|失败|失敗|无法|不能|未能|没有|沒有|できません|できなかった|ありません|실패|없|못 ?하|않|не удалось|не смог|нет|ошибк",
    ))
});

/// Words for what a program is used for, besides its own name.
const MEANT: [(&str, &[&str]); 14] = [
    (
        "push",
        &["push", "publish", "upload", "推送", "プッシュ", "푸시"],
    ),
    ("pull", &["pull", "fetch", "sync"]),
    ("clone", &["clone", "cloning"]),
    ("fetch", &["fetch", "pull"]),
    (
        "install",
        &[
            "install",
            "dependenc",
            "package",
            "安装",
            "依赖",
            "インストール",
            "설치",
        ],
    ),
    ("add", &["install", "dependenc", "package", "安装", "依赖"]),
    (
        "curl",
        &[
            "download", "fetch", "request", "endpoint", "server", "url", "api", "respon",
        ],
    ),
    ("wget", &["download", "fetch", "url"]),
    (
        "build",
        &["build", "compil", "bundl", "构建", "编译", "ビルド", "빌드"],
    ),
    (
        "test",
        &[
            "test",
            "suite",
            "spec",
            "check",
            "测试",
            "テスト",
            "테스트",
            "prueba",
            "teste",
        ],
    ),
    (
        "pytest",
        &[
            "test",
            "suite",
            "测试",
            "テスト",
            "테스트",
            "prueba",
            "teste",
        ],
    ),
    ("playwright", &["browser", "e2e", "end-to-end", "test"]),
    ("pr", &["pull request", "merge request"]),
    ("deploy", &["deploy", "release", "publish"]),
];

fn ignoring_case(pattern: &str) -> Regex {
    let built = RegexBuilder::new(pattern).case_insensitive(true).build();
    built.expect("a constant that a test compiles")
}

/// Notes in the facts what the agent's last message says of failures.
pub fn note_last_words(evidence: &mut Evidence, message: &str) {
    evidence.facts.older_failures = older::names_older(message);
    evidence.facts.named_failures = named_failures(&evidence.timeline.calls, message);
}

/// Returns the positions of the failed calls that the agent's last message names as such.
fn named_failures(calls: &[ToolCall], message: &str) -> Vec<usize> {
    let said = sentences(message);
    if said.is_empty() {
        return Vec::new();
    }
    let failed = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.is_error && !call.refused)
        .rev()
        .take(CALLS_MAX);
    let mut named: Vec<usize> = failed
        .filter(|(_, call)| is_named(call, &said))
        .map(|(at, _)| at)
        .collect();
    named.reverse();
    named
}

/// Returns the sentences of a message that say that something was not done.
fn sentences(message: &str) -> Vec<String> {
    let ends = |c: char| matches!(c, '\n' | '。' | '！' | '；');
    message
        .split(ends)
        .flat_map(|line| line.split(". "))
        .filter(|sentence| NOT_DONE.is_match(sentence))
        .map(str::to_lowercase)
        .collect()
}

/// Returns whether one of the sentences names what a call was for, or why it failed.
fn is_named(call: &ToolCall, sentences: &[String]) -> bool {
    let causes = CAUSES
        .iter()
        .filter(|cause| cause.says.is_match(&call.output));
    let words: Vec<String> = causes
        .flat_map(|cause| cause.named)
        .map(|word| (*word).to_owned())
        .chain(subjects(call))
        .chain(files(&call.output))
        .collect();
    sentences
        .iter()
        .any(|sentence| words.iter().any(|word| holds(sentence, word)))
}

/// Returns whether a text holds a word or one that begins with it; short ones have to stand alone.
fn holds(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric();
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_part) && (word.len() > 3 || !after.is_some_and(is_part))
    })
}

/// Returns the words by which people speak of a call: its programs, what they were told, and what that is for.
fn subjects(call: &ToolCall) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut note = |word: &str| {
        let word = word.to_lowercase();
        let is_new = word.len() > 1 && !words.contains(&word) && words.len() < WORDS_MAX;
        if is_new {
            words.push(word);
        }
    };
    if call.kind != ToolKind::Shell {
        let parts = call.tool.rsplit("__").next().unwrap_or(&call.tool);
        let parts = parts.split(['_', '-', ' ']);
        parts.filter(|part| part.len() > 3).for_each(&mut note);
        call.paths.iter().for_each(|path| note(last_part(path)));
        return words;
    }
    let line = shell::read(call.command.as_deref().unwrap_or_default());
    for simple in &line.commands {
        let Some((program, rest)) = simple.words.split_first() else {
            continue;
        };
        let program = shell::canonical_name(program);
        if SETTING_UP.contains(&program) || FILTERS.contains(&program) {
            continue;
        }
        note(program);
        let operands = rest.iter().filter(|word| !word.starts_with('-'));
        let operands: Vec<&str> = operands.take(4).map(String::as_str).collect();
        for word in std::iter::once(&program).chain(&operands) {
            let means = |(key, _): &&(&str, &[&str])| {
                word.split([':', '-', '_', '.', '/'])
                    .any(|part| part == *key)
            };
            let meant = MEANT.iter().filter(means);
            meant
                .flat_map(|(_, words)| *words)
                .for_each(|word| note(word));
        }
        for operand in operands {
            let host = operand.split("://").nth(1);
            note(host.map_or_else(
                || last_part(operand),
                |host| host.split('/').next().unwrap_or(host),
            ));
        }
    }
    words
}

/// Returns the names of the files that an output speaks of.
fn files(output: &str) -> impl Iterator<Item = String> {
    let named = FILES
        .find_iter(output)
        .map(|found| last_part(found.as_str()));
    named
        .filter(|name| name.len() > 4 && name.contains('.'))
        .map(str::to_lowercase)
        .take(WORDS_MAX)
}

fn last_part(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns whether the agent handed a failure over: its last message names it, and either its cause lies outside the
/// project, or the turn changed nothing, so that the failure is what it found out.
pub(super) fn is_over(turn: &Turn<'_>, index: usize) -> bool {
    if turn.policy.hygiene.handed_over != HandedOver::Believed
        || !turn.evidence.facts.named_failures.contains(&index)
    {
        return false;
    }
    let call = &turn.evidence.timeline.calls[index];
    is_outside(turn, index, call) || changed_nothing(turn)
}

fn is_outside(turn: &Turn<'_>, index: usize, call: &ToolCall) -> bool {
    // What tests say of themselves is about the project.
    let outcomes = turn.outcomes.as_ref();
    let tests = outcomes.and_then(|outcomes| outcomes.any_tests(index));
    tests != Some(SummaryVerdict::Failed)
        && (missing::is_tool(call, &turn.lines[index])
            || CAUSES.iter().any(|cause| cause.says.is_match(&call.output)))
}

fn changed_nothing(turn: &Turn<'_>) -> bool {
    let calls = turn.evidence.timeline.calls.iter().enumerate();
    let writes = |(at, call): (usize, &ToolCall)| match call.kind {
        ToolKind::Edit | ToolKind::Write => !call.is_error && !call.refused,
        ToolKind::Shell => {
            let line = &turn.lines[at];
            outcomes::executes(line) && !line.writes.is_empty() && !call.refused
        }
        ToolKind::Read | ToolKind::Other => false,
    };
    (turn.files.is_empty() || turn.evidence.facts.untouched) && !calls.into_iter().any(writes)
}
