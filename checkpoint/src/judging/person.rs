//! What the person said in this turn about verifying, in words (spec EVID-9).

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::catalogue::{Catalogue, Purpose};
use crate::outcome::without_denials;

/// The person's word about this turn's work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// They said not to run tests.
    pub(super) forbids: Forbids,
    /// Commands that they asked for, each with the words that ask.
    pub(super) wants: Vec<Expected>,
    /// The agent's last message only asks them something.
    pub(super) only_asks: bool,
    /// The agent's last message says that something was not run, and what is missing for it.
    pub(super) lacks: bool,
}

/// Whether the person said not to run tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Forbids {
    /// They said no such thing.
    #[default]
    No,
    /// Perhaps, or not all of them, or not now.
    Perhaps,
    /// They did.
    Yes,
}

/// A command that the person asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) command: String,
    pub(super) quote: String,
}

/// The most bytes of a quote.
const QUOTE_BYTES_MAX: usize = 160;

/// A request not to run tests, in the languages in which people write to agents. `part` names some of them, and `object` may be
/// a program that runs tests.
static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)
        (?:(?P<own>\b(?:do\s+not|don['’]?t|never|no\s+need\s+to))|\b(?:without|skip|avoid))\s+
            (?:run|running|execute|executing|start|starting|bother\s+with)\s+
            (?:(?:any|the|(?P<part>all|unit|e2e|integration|full|whole|entire|complete|slow))\s+){0,3}
            (?:tests?\b|test\s+suite\b|anything\b|any\s+commands?\b|`?(?P<object>[a-z][a-z0-9_.-]*(?:\x20[a-z][a-z0-9_:-]*)?)`?)
        | \b(?P<own2>do\s+not|don['’]?t|no\s+need\s+to)\s+test\s+(?:it|this|that|anything)\b
        | \b(?:skip|(?P<own3>no\s+need\s+for))\s+
            (?:(?:any|the|(?P<part2>all|unit|e2e|integration|full|whole|entire|complete|slow))\s+){0,3}(?:tests|testing)\b
        | (?P<own4>\bno\s+tests?\s+(?:please|needed|necessary)\b
        | \b(?:keine|nicht\s+die)\s+tests?\s+(?:ausführen|laufen|starten)\b
        | \bohne\s+(?:die\s+)?tests?\s+(?:auszuführen|laufen\s+zu\s+lassen)\b
        | \btests?\s+(?:bitte\s+)?nicht\s+(?:ausführen|laufen|starten)\b
        | \b(?:ne\s+(?:lance|lances|lancez|exécute|exécutez)\s+pas|sans\s+(?:lancer|exécuter))\s+(?:les\s+|de\s+)?tests?\b
        | \b(?:no\s+(?:ejecutes|corras|ejecute)|sin\s+(?:ejecutar|correr))\s+(?:los\s+|las\s+)?(?:tests?|pruebas)\b
        | \b(?:não\s+(?:rode|execute|corra)|sem\s+(?:rodar|executar))\s+(?:os\s+)?test(?:e|es|s)?\b
        | (?:不要|不用|无需|別|别)\s*(?:运行|執行|执行|跑)?\s*(?:任何)?\s*(?:单元)?(?:测试|測試)
        | テスト\s*(?:は|を)?\s*(?:実行)?\s*(?:しないで|不要)
        | 테스트\s*(?:는|를)?\s*(?:실행)?\s*하지\s*(?:마|말))
        ",
    )
});

/// The person runs the tests.
static DOES_IT: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?i)\bI(?:['’]ll|\s+will)\s+(?:(?:run|execute|do)\s+(?:the\s+|all\s+|any\s+)*test\w*|test\s+(?:it|this|that))\b",
    )
});

/// What may follow a request for which nothing is left to say.
static NOTHING_FOLLOWS: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?i)^[`\s]*(?:$|[^\w\s`-]|-\s|(?:please|this\s+time|at\s+all|here|because|since|as)\b)",
    )
});

/// Words that limit a request to a time, a place, a way, or a part.
static LIMITS: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)\b(?:only|just\s+(?:run|the|test\w*)|until|till|before|after|unless|except|but|with|in|on|for|yet|now|again|then|instead|use
            |nur|bis|sondern|erst|seulement|jusqu\w*|mais|sauf|solo|sólo|hasta|pero|salvo|só|apenas|até|mas)\b | [只除但直] | だけ | まで",
    )
});

/// A request to run a command, written in backticks, at the end of the work.
static WANTS: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)
        \b(?:run|execute|lance|exécute|ejecuta|corre|rode|execute|starte|führe?)\b[^`\n.]{0,30}`(?P<command>[^`\n]{3,120})`
        [^\n.]{0,40}\b(?:before|when|once|after|afterwards|at\s+the\s+end|finally|zum\s+schluss|bevor|danach|avant|après|à\s+la\s+fin|antes|al\s+final|depois)\b
        ",
    )
});

/// Words before a request that turn it into its opposite.
static NEGATED: LazyLock<Regex> =
    LazyLock::new(|| matching(r"(?i)(?:do\s+not|don['’]?t|never|not|nicht|pas|no|não)\s*$"));

/// Words that turn `without` and `skip` into their opposite, wherever they stand before them.
static NEGATES: LazyLock<Regex> = LazyLock::new(|| {
    matching(r"(?i)\b(?:not|never|no|cannot|can['’]?t|don['’]?t|mustn['’]?t|shouldn['’]?t)\b")
});

/// A sentence that says that tests pass.
static PASSING: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)
        \b(?:tests?|test\s+suite|specs)\s+(?:(?:have|has|are|is|all|now|still|both)\s+){0,3}(?:pass(?:es|ed|ing)?|green)\b
        | \b(?:passing|green)\s+(?:tests?|test\s+suite)\b | \b[1-9][0-9]*\s+(?:tests?\s+)?passed\b
        | \btests?\s+(?:laufen\s+(?:alle\s+)?durch|bestehen|sind\s+(?:alle\s+)?grün) | \btests?\s+passent\b
        | \b(?:pruebas|tests?|testes)\s+(?:pasan|passam)\b",
    )
});

/// Words that make another sentence of it: a wish, a condition, or a failure.
static NOT_PASSING: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)
        \b(?:not|no|never|cannot|if|whether|when|once|until|unless|should|would|could|might|may|will|must|so\s+that|ensure|expect(?:ed)?
            |make\s+sure|verify|confirm|check|before|earlier|previously|fail\w*|nicht|wenn|sollten|pas|si|no)\b | n['’]t\b | \?",
    )
});

/// Words that limit what is said of tests to a part of them.
static PARTLY: LazyLock<Regex> = LazyLock::new(|| {
    matching(r"(?i)\b(?:others?|rest|remaining|else|most|some|except|apart|besides|but|only)\b")
});
static ALL: LazyLock<Regex> = LazyLock::new(|| matching(r"(?i)\b(?:all|every|alle|todos|todas)\b"));

/// What a message has to mention to be about a failure, in the languages in which agents answer most.
const TELLS: &str = "fail broke error not~pass couldn't could~not cannot fehl échou échec erreur falla falló fallid falh \
    fallit fallisc mislukt faalt fout błąd błęd nie~powi ошибк не~прош упал провал помилк başarısız فشل विफल असफल \
    失败 失敗 错误 錯誤 报错 未通过 エラー 通らな 실패 오류 에러";

/// Words for failures that are the subject of the work, not its result: `error handling`, `a failed payment`.
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?i)\berror[\s-]+(?:handl\w+|pages?|boundar\w+|paths?|reporting)\b|\b(?:an?|any|each|every)\s+failed\s+(?P<what>\w+)",
    )
});

/// What fails in a report: `a failed test`.
const REPORTED: [&str; 13] = [
    "test", "check", "assert", "build", "run", "spec", "case", "lint", "suite", "import", "compil",
    "command", "step",
];

/// Words for what the agent did about a failure.
static FIXED: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?i)\b(?:fix(?:ed|es)?|resolv\w+|solved|repaired|gone|correct(?:ed|s)|add(?:ed|s)|improv\w+|handl\w+|covers?|prevents?|behoben|corrigé\w*|corregid\w+|corrigid\w+)\b",
    )
});
static NOT_FIXED: LazyLock<Regex> =
    LazyLock::new(|| matching(r"(?i)\b(?:still|but|except|however|remain\w*|yet|not)\b|n['’]t\b"));

/// What an agent says of something that it did not run.
static NOT_RUN: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)\b(?:not|cannot|never|unable\s+to|without) \s+ (?:be(?:en)?\s+|able\s+to\s+)? (?:run|ran|running|test|tested|execute|executed|verify|verified)\b
            | n['’]t\s+(?:be(?:en)?\s+|able\s+to\s+)?(?:run|test|tested|execute|executed|verify|verified)\b | \bun(?:tested|verified)\b",
    )
});
/// What is missing for it on this machine.
static LACKS: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)(?:\bnot|n['’]t)\s+(?:\w+\s+)?(?:installed|available|reachable|found|on\s+the\s+path)\b
            | \b(?:is|are)\s+(?:missing|unavailable|unreachable)\b | \bno\s+(?:network|internet|docker|database|display|gpu)\b",
    )
});

/// Where a sentence ends. The end of a line may be one.
static SENTENCE: LazyLock<Regex> = LazyLock::new(|| matching(r"[.!?;](?:\s|$)|[。！？；]|\n"));
static PARAGRAPH: LazyLock<Regex> =
    LazyLock::new(|| matching(r"[.!?;](?:\s|$)|[。！？；]|\n\s*\n"));

fn matching(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant that a test compiles")
}

/// Reads what the person said in a turn, and what the agent said last.
pub(super) fn word(catalogue: &Catalogue, prompts: &[String], last_message: &str) -> Word {
    let mut word = Word {
        only_asks: only_asks(last_message),
        lacks: names_lack(last_message),
        ..Word::default()
    };
    for prompt in prompts {
        let forbids = sentences(prompt, &PARAGRAPH).map(|sentence| forbids(catalogue, sentence));
        word.forbids = forbids.fold(word.forbids, Forbids::max);
        for found in WANTS.captures_iter(prompt) {
            let (Some(whole), Some(command)) = (found.get(0), found.name("command")) else {
                continue;
            };
            if NEGATED.is_match(&prompt[..whole.start()]) {
                continue;
            }
            let quote = crate::text::head(whole.as_str(), QUOTE_BYTES_MAX);
            word.wants.push(Expected {
                command: command.as_str().to_owned(),
                quote: quote.split_whitespace().collect::<Vec<_>>().join(" "),
            });
        }
    }
    word
}

/// Returns whether the agent's last message only asks the person something: all its sentences are questions, apart from
/// lists of what to choose from.
fn only_asks(message: &str) -> bool {
    let is_item = |line: &&str| {
        line.starts_with(['-', '*', '•', '#', '|'])
            || line.starts_with(|first: char| first.is_ascii_digit())
    };
    let lines = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty());
    let sentences = lines
        .filter(|line| !is_item(line))
        .flat_map(|line| line.split_inclusive(['.', '!', '?', '。', '？']))
        .map(str::trim)
        .filter(|sentence| sentence.chars().any(char::is_alphanumeric));
    let is_question = |sentence: &str| sentence.ends_with(['?', '？']);
    let sentences: Vec<&str> = sentences.collect();
    sentences.iter().any(|sentence| is_question(sentence))
        && sentences
            .iter()
            .all(|sentence| is_question(sentence) || sentence.ends_with(':'))
}

/// Returns whether a sentence says that something was not run, and it or one beside it what is missing for it.
fn names_lack(message: &str) -> bool {
    let sentences: Vec<&str> = sentences(message, &SENTENCE).collect();
    let is_said = |near: &[&str]| {
        let any = |words: &Regex| near.iter().any(|sentence| words.is_match(sentence));
        any(&NOT_RUN) && any(&LACKS)
    };
    is_said(&sentences[..1]) || sentences.windows(2).any(is_said)
}

/// Returns the sentences of a text, each with what ends it.
fn sentences<'t>(text: &'t str, end: &'static Regex) -> impl Iterator<Item = &'t str> {
    let mut from = 0;
    let ends = end.find_iter(text).map(|found| found.end());
    ends.chain([text.len()])
        .map(move |to| &text[std::mem::replace(&mut from, to)..to])
}

/// Returns whether a sentence of the person says not to run tests.
fn forbids(catalogue: &Catalogue, sentence: &str) -> Forbids {
    let of = |found: Captures<'_>| {
        let whole = found.get(0)?;
        let is = |name| found.name(name).is_some();
        let runs_tests = |object: regex::Match<'_>| {
            let words: Vec<String> = object.as_str().split(' ').map(str::to_owned).collect();
            let does = |words: &[String]| catalogue.command(words)?.does;
            does(&words).or_else(|| does(&words[..1])) == Some(Purpose::Tests)
        };
        let (before, after) = (&sentence[..whole.start()], &sentence[whole.end()..]);
        let has_own = ["own", "own2", "own3", "own4"].into_iter().any(is);
        let is_opposite = NEGATED.is_match(before) || (!has_own && NEGATES.is_match(before));
        if is_opposite || !found.name("object").is_none_or(runs_tests) {
            return None;
        }
        let is_limited = ["part", "part2"].into_iter().any(is)
            || sentence.trim_end().ends_with(['?', '？'])
            || (!has_own && before.trim_end().ends_with(" to"))
            || !NOTHING_FOLLOWS.is_match(after)
            || LIMITS.is_match(after);
        Some(if is_limited {
            Forbids::Perhaps
        } else {
            Forbids::Yes
        })
    };
    let does_it = DOES_IT.is_match(sentence).then_some(Forbids::Perhaps);
    let found = FORBIDS.captures_iter(sentence).filter_map(of);
    found.chain(does_it).max().unwrap_or_default()
}

/// Returns whether the agent's last message claims that tests pass.
pub(super) fn claims_passing(message: &str) -> bool {
    sentences(message, &SENTENCE).any(claims)
}

fn claims(sentence: &str) -> bool {
    let sentence = without_denials(sentence);
    PASSING.is_match(&sentence) && !NOT_PASSING.is_match(&sentence)
}

/// Returns whether the agent's last message reports a failure. One that it says it fixed is none if all tests pass by its
/// words.
pub(super) fn reports_failure(message: &str) -> bool {
    let is_claim_of_all = |sentence: &str| {
        let is_counted = sentence.contains(|c: char| c.is_ascii_digit());
        claims(sentence) && !PARTLY.is_match(sentence) && (!is_counted || ALL.is_match(sentence))
    };
    let claims_all = sentences(message, &SENTENCE).any(is_claim_of_all);
    sentences(message, &SENTENCE).any(|sentence| {
        let is_fixed = FIXED.is_match(sentence) && !NOT_FIXED.is_match(sentence);
        tells_of_failure(sentence) && !(is_fixed && claims_all)
    })
}

/// Returns whether a sentence mentions a failure, neither to say that there was none nor as the subject of the work.
fn tells_of_failure(sentence: &str) -> bool {
    let sentence = without_denials(sentence);
    let sentence: Cow<'_, str> = SUBJECT.replace_all(&sentence, |found: &Captures<'_>| {
        let what = found.name("what").map(|what| what.as_str().to_lowercase());
        let is_reported = what.is_some_and(|what| REPORTED.iter().any(|one| what.starts_with(one)));
        let kept = found.get(0).filter(|_| is_reported);
        kept.map_or("", |kept| kept.as_str()).to_owned()
    });
    let sentence = sentence.to_lowercase();
    let mut words = TELLS.split_whitespace();
    words.any(|word| sentence.contains(&word.replace('~', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(prompt: &str, last_message: &str) -> Word {
        word(Catalogue::built_in(), &[prompt.to_owned()], last_message)
    }

    #[test]
    fn only_a_statement_claims_that_tests_pass() {
        for (message, claims) in [
            ("Done. All tests pass.", true),
            ("The test suite is green now", true),
            ("- 12 passed\n- lint clean", true),
            ("Fixed it; all 14 tests are now passing!", true),
            ("Alle Tests bestehen.", true),
            ("The tests should pass now.", false),
            (
                "I did not run it, so I cannot say that the tests pass.",
                false,
            ),
            ("Run `pytest` to check that tests pass.", false),
            ("3 tests failed, 12 passed.", false),
            ("All 5 tests pass, no failures.", true),
            ("Do all tests pass?", false),
            ("It passes the value on to the test.", false),
            ("Done.", false),
        ] {
            assert_eq!(claims_passing(message), claims, "{message}");
        }
    }

    #[test]
    fn what_is_said_to_be_well_is_no_report_of_a_failure() {
        for (message, reports) in [
            ("Done. All 5 tests pass, no failures.", false),
            ("Tests: 0 failed", false),
            (
                "I improved the error handling so a failed payment is reported",
                false,
            ),
            ("Fixed the failure; all tests pass", false),
            ("The failing test is fixed. All tests pass.", false),
            ("Added a test of the error path. The tests pass.", false),
            ("The import no longer fails.", false),
            ("Nothing failed.", false),
            ("30 tests pass; `test_dns` fails as before.", true),
            ("`test_dns` fails as before. All other tests pass.", true),
            ("12 tests passed. 1 failed.", true),
            (
                "Fixed the rate, but `test_dns` still fails. All others pass.",
                true,
            ),
            (
                "Fixed the rate and now `test_b` fails. 30 tests pass.",
                true,
            ),
            ("Lint fails in old files. All tests pass.", true),
            (
                "The build is fixed; the tests pass, but one failed before.",
                true,
            ),
            ("pytest ends with a failed import.", true),
            ("I fixed the failing test.", true),
            ("Один тест не прошёл: `test_b`.", true),
        ] {
            assert_eq!(reports_failure(message), reports, "{message}");
        }
    }

    #[test]
    fn only_a_request_not_to_run_tests_forbids_them() {
        use Forbids::{No, Perhaps, Yes};
        for (prompt, forbids) in [
            ("Rename it. Do not run the tests.", Yes),
            ("Don't run any tests, CI does that.", Yes),
            ("Fix the typo without running the tests", Yes),
            ("Skip the tests this time", Yes),
            ("Bitte die Tests nicht ausführen.", Yes),
            ("Ne lance pas les tests.", Yes),
            ("No ejecutes las pruebas", Yes),
            ("不要运行测试", Yes),
            ("do NOT run pytest", Yes),
            ("Please don't run `cargo test`.", Yes),
            ("don't run anything, just edit", Yes),
            ("don't test it", Yes),
            ("I'll run the tests myself", Perhaps),
            ("I will test it on my machine", Perhaps),
            ("Don't run all tests, only tests/test_cart.py", Perhaps),
            (
                "don't run the tests until the end, then run them all",
                Perhaps,
            ),
            ("Don't run the tests with -x; use pytest -q", Perhaps),
            ("Never run tests in production. Fix total.", Perhaps),
            ("Do not run the tests\nin parallel.", Perhaps),
            ("Do not run the e2e tests.", Perhaps),
            ("Don't run pytest -x", Perhaps),
            ("Don't run anything destructive", Perhaps),
            ("Add an option to skip the tests.", Perhaps),
            ("Why did you skip running the tests?", Perhaps),
            ("不要运行测试，只改代码", Perhaps),
            ("Don't skip running the tests", No),
            ("Never finish without running the tests.", No),
            ("Don't run the server.", No),
            ("Don't run `npm install`", No),
            ("There are modules without tests: add some.", No),
            ("Es gibt Module ohne Tests.", No),
            ("Don't forget to run the tests", No),
            ("Run the tests and fix what fails", No),
            ("Never skip a failing test", No),
        ] {
            let word = said(prompt, "");
            assert_eq!(word.forbids, forbids, "{prompt}");
        }
    }

    #[test]
    fn a_command_to_run_at_the_end_is_wanted_with_the_words() {
        let wants = |prompt: &str| said(prompt, "").wants;
        let found = wants("Change the port and run `make e2e` before you finish.");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].command, "make e2e");
        assert_eq!(found[0].quote, "run `make e2e` before");
        for other in [
            "Do not run `make e2e` before the release",
            "`make e2e` fails, see below",
            "I ran `make e2e` yesterday",
        ] {
            assert_eq!(wants(other), [], "{other}");
        }
    }

    #[test]
    fn a_message_of_questions_alone_only_asks() {
        for (message, asks) in [
            ("Which of the two files do you mean?", true),
            ("Which one?\n- the first\n- the second", true),
            ("Done. Shall I commit?", false),
            ("I've started on it. Should z be 2 or 3?", false),
            ("All tests pass.", false),
            ("", false),
        ] {
            assert_eq!(said("", message).only_asks, asks, "{message}");
        }
    }

    #[test]
    fn a_report_of_what_was_not_run_names_what_is_missing() {
        for (message, lacks) in [
            (
                "I have not run the tests: pytest is not installed here.",
                true,
            ),
            ("Done.\n\nI couldn't run it. `cargo` isn't available.", true),
            ("pytest is not installed, so `cart.py` is unverified.", true),
            ("There is no network here; not tested.", true),
            ("I could not run the tests because docker is missing.", true),
            ("I have not run the tests.", false),
            ("I have not run the tests: the change is small.", false),
            ("pytest is not installed.", false),
            (
                "I added the missing import and did not run the tests.",
                false,
            ),
            (
                "`left-pad` is not installed any more. I removed its import. The tests were not run.",
                false,
            ),
            ("All tests pass.", false),
            ("", false),
        ] {
            assert_eq!(said("", message).lacks, lacks, "{message}");
        }
    }
}
