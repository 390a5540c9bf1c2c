//! What the person said in this turn about verifying, in words (spec EVID-9).

use std::sync::LazyLock;

use regex::Regex;

/// The person's word about this turn's work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// They said not to run tests.
    pub(super) forbids: bool,
    /// Commands that they asked for, each with the words that ask.
    pub(super) wants: Vec<Expected>,
    /// The agent's last message only asks them something.
    pub(super) only_asks: bool,
}

/// A command that the person asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) command: String,
    pub(super) quote: String,
}

/// The most bytes of a quote.
const QUOTE_BYTES_MAX: usize = 160;

/// A request not to run tests, in the languages in which people write to agents.
static FORBIDS: LazyLock<Regex> = LazyLock::new(|| {
    matching(
        r"(?ix)
        \b(?:do\s+not|don['’]?t|never|no\s+need\s+to|without|skip|avoid)\s+
            (?:run|running|execute|executing|start|starting|bother\s+with)\s+
            (?:(?:any|the|all|unit|e2e|integration)\s+){0,2}(?:tests?|test\s+suite)\b
        | \b(?:skip|no\s+need\s+for)\s+(?:(?:any|the|all|unit|e2e|integration)\s+){0,2}(?:tests|testing)\b
        | \bno\s+tests?\s+(?:please|needed|necessary)\b
        | \b(?:keine|nicht\s+die)\s+tests?\s+(?:ausführen|laufen|starten)\b
        | \bohne\s+(?:die\s+)?tests?\s+(?:auszuführen|laufen\s+zu\s+lassen)\b
        | \btests?\s+(?:bitte\s+)?nicht\s+(?:ausführen|laufen|starten)\b
        | \b(?:ne\s+(?:lance|lances|lancez|exécute|exécutez)\s+pas|sans\s+(?:lancer|exécuter))\s+(?:les\s+|de\s+)?tests?\b
        | \b(?:no\s+(?:ejecutes|corras|ejecute)|sin\s+(?:ejecutar|correr))\s+(?:los\s+|las\s+)?(?:tests?|pruebas)\b
        | \b(?:não\s+(?:rode|execute|corra)|sem\s+(?:rodar|executar))\s+(?:os\s+)?test(?:e|es|s)?\b
        | (?:不要|不用|无需|別|别)\s*(?:运行|執行|执行|跑)?\s*(?:任何)?\s*(?:单元)?(?:测试|測試)
        | テスト\s*(?:は|を)?\s*(?:実行)?\s*(?:しないで|不要)
        | 테스트\s*(?:는|를)?\s*(?:실행)?\s*하지\s*(?:마|말)
        ",
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

fn matching(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant that a test compiles")
}

/// Reads what the person said in a turn, and what the agent said last.
pub(super) fn word(prompts: &[String], last_message: &str) -> Word {
    let mut word = Word {
        only_asks: only_asks(last_message),
        ..Word::default()
    };
    for prompt in prompts {
        word.forbids |= FORBIDS.is_match(prompt);
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

/// Returns whether the agent's last message claims that tests pass.
pub(super) fn claims_passing(message: &str) -> bool {
    let ends = |end: char| matches!(end, '\n' | '.' | '!' | '?' | ';' | '。');
    message
        .split_inclusive(ends)
        .any(|sentence| PASSING.is_match(sentence) && !NOT_PASSING.is_match(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("Do all tests pass?", false),
            ("It passes the value on to the test.", false),
            ("Done.", false),
        ] {
            assert_eq!(claims_passing(message), claims, "{message}");
        }
    }

    #[test]
    fn only_a_request_not_to_run_tests_forbids_them() {
        for (prompt, forbids) in [
            ("Rename it. Do not run the tests.", true),
            ("Don't run any tests, CI does that.", true),
            ("Fix the typo without running the tests", true),
            ("Skip the tests this time", true),
            ("Bitte die Tests nicht ausführen.", true),
            ("Ne lance pas les tests.", true),
            ("No ejecutes las pruebas", true),
            ("不要运行测试", true),
            ("There are modules without tests: add some.", false),
            ("Es gibt Module ohne Tests.", false),
            ("Don't forget to run the tests", false),
            ("Run the tests and fix what fails", false),
            ("Never skip a failing test", false),
        ] {
            let word = word(&[prompt.to_owned()], "");
            assert_eq!(word.forbids, forbids, "{prompt}");
        }
    }

    #[test]
    fn a_command_to_run_at_the_end_is_wanted_with_the_words() {
        let wants = |prompt: &str| word(&[prompt.to_owned()], "").wants;
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
            ("All tests pass.", false),
            ("", false),
        ] {
            assert_eq!(word(&[], message).only_asks, asks, "{message}");
        }
    }
}
