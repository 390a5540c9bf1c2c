//! The shapes of secrets, as their issuers document them, and the names that secrets are assigned to.
//!
//! A rule has three parts: a hint, which is cheap, ignores word boundaries and may have false
//! positives only; a pattern, whose groups are the secret (without a group, the whole match); and a
//! check of the matched text.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::value::{Style, is_password, is_secret, is_secret_name, says_nothing};

/// One kind of secret.
pub(super) struct Rule {
    /// The kind in the marker.
    pub(super) kind: &'static str,
    /// Finds the secret.
    pub(super) pattern: Regex,
    /// The check of a match.
    check: Check,
}

impl Rule {
    /// Returns whether `found`, possibly assigned to `name`, is a secret of this kind.
    pub(super) fn holds(&self, name: Option<&str>, style: Style, found: &str) -> bool {
        match self.check {
            Check::Shape => true,
            Check::Digits => found.bytes().filter(u8::is_ascii_digit).count() >= 3,
            Check::Password => is_password(found, style),
            Check::Assigned => name.is_some_and(|name| is_secret_name(name, found, style)),
            Check::Secret => is_secret(found),
            Check::Userinfo => !says_nothing(found),
        }
    }
}

/// The check of a match, besides its pattern.
#[derive(Clone, Copy)]
enum Check {
    /// No further check.
    Shape,
    /// Three digits or more: words joined by hyphens have fewer.
    Digits,
    /// Anything but a placeholder or code.
    Password,
    /// Depends on the name that it is assigned to.
    Assigned,
    /// Letters and digits, as random texts have.
    Secret,
    /// Anything but a placeholder.
    Userinfo,
}

/// Kind, hint, pattern, check.
const TABLE: [(&str, &str, &str, Check); 14] = [
    (
        "private_key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY",
        concat!(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:(?:-{0,4}[^-])*-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
            r"|(?:\s+[A-Za-z-]+: [^\n\\]*)*(?:(?:\s|\\+[nr])+[A-Za-z0-9+/=]{32,})+(?:(?:\s|\\+[nr])+[A-Za-z0-9+/=]+)?)"
        ),
        Check::Shape,
    ),
    (
        "anthropic_key",
        r"sk-ant-",
        r"\bsk-ant-[A-Za-z0-9_-]{12,}",
        Check::Shape,
    ),
    (
        "api_key",
        r"sk-[A-Za-z0-9_-]{20}",
        r"\bsk-[A-Za-z0-9_-]{20,}",
        Check::Digits,
    ),
    (
        "google_key",
        r"AIza|ya29\.|GOCSPX-",
        r"\b(?:AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,})",
        Check::Shape,
    ),
    (
        "github_token",
        r"gh[pousr]_|github_pat_",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        Check::Shape,
    ),
    (
        "gitlab_token",
        r"gl[a-z]{2,6}-",
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|imt)-[A-Za-z0-9_.-]{20,}",
        Check::Shape,
    ),
    (
        "slack_token",
        r"xox[abeoprs]-|xapp-|hooks\.slack\.com",
        r"\b(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{20,}|hooks\.slack\.com/services/([A-Za-z0-9/]{20,}))",
        Check::Shape,
    ),
    (
        "aws_key_id",
        r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}",
        r"\bA(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}\b",
        Check::Shape,
    ),
    (
        "token",
        concat!(
            r"npm_|pypi-|hf_|gsk_|xai-|r8_|pplx-|[sr]k_(?:live|test)_|whsec_|SG\.|dop_v1_|dapi[0-9a-f]|shp(?:at|ca|pa|ss)_",
            r"|lin_api_|glsa_|hv[sbr]\.|ATATT3|AGE-SECRET-KEY-1|:AA[A-Za-z0-9_-]{30}|cio[A-Za-z0-9]{32}"
        ),
        concat!(
            r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,}",
            r"|r8_[A-Za-z0-9]{30,}|pplx-[A-Za-z0-9]{40,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/=]{20,}",
            r"|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|dop_v1_[a-f0-9]{64}|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",
            r"|lin_api_[A-Za-z0-9]{30,}|glsa_[A-Za-z0-9_]{30,}|hv[sbr]\.[A-Za-z0-9_-]{24,}|ATATT3[A-Za-z0-9_=-]{50,}",
            r"|AGE-SECRET-KEY-1[A-Z0-9]{50,}|[0-9]{8,10}:AA[A-Za-z0-9_-]{33}|cio[A-Za-z0-9]{32}\b)"
        ),
        Check::Digits,
    ),
    (
        "jwt",
        r"eyJ[A-Za-z0-9_-]{8}",
        r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+){1,3}",
        Check::Shape,
    ),
    (
        "authorization",
        r"(?i)authorization|bearer\s",
        concat!(
            r#"(?i)(?:\bauthorization["'\\]{0,4}\s{0,4}[:=]\s{0,4}["'\\]{0,4}(?:bearer|basic|digest|token|apikey)\s+([A-Za-z0-9._~+/=:-]{6,})"#,
            r"|\bbearer\s+([A-Za-z0-9._~+/=-]{16,}))"
        ),
        Check::Secret,
    ),
    (
        "url_password",
        r":(?:\\?/){2}",
        r#"(?i)\b[a-z][a-z0-9+.-]{1,20}:(?:\\?/){2}[^\s/@:"'<>?#\\]*:([^\s/"'<>?#\\]+)@"#,
        Check::Userinfo,
    ),
    (
        "password",
        r"curl\s|mysql|sshpass|(?i)--?[a-z-]{0,40}(?:passw(?:or)?d|passphrase)\s",
        concat!(
            r#"\bcurl\b[^\n|;&]*?\s(?:-u|--user)[ =]*["']?[^\s:"'$]+:([^\s"']+)|\bmysql[a-z]*\b[^\n|;&]*?\s-p([^\s"']+)"#,
            r#"|\bsshpass\s+-p\s*["']?([^\s"']+)|(?i)\s--?[a-z-]{0,40}(?:passw(?:or)?d|passphrase)\s+["']?([^\s"'-][^\s"']*)"#
        ),
        Check::Password,
    ),
    ("secret", ASSIGNED_HINT, ASSIGNED, Check::Assigned),
];

/// A name that secrets have, and a sign of assignment; values come in quotes, bare, or as the next word of a flag.
const ASSIGNED_HINT: &str = r#"(?i)(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|credentials?)["'\\]{0,4}(?:\s{0,4}(?::=|=>|[:=])|\s+["'A-Za-z0-9])"#;
const ASSIGNED: &str = concat!(
    r"(?i)(?P<name>(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key",
    r"|secret[_-]?key|private[_-]?key|auth[_-]?key|account[_-]?key|credentials?))",
    r#"(?:["'\\]{0,4}(?P<sign>\s{0,4}(?::=|=>|[:=])\s{0,4})"#,
    r#"(?:"(?P<double>(?:[^"\\\n]|\\.)+)|'(?P<single>(?:[^'\\\n]|\\.)+)|\\{1,3}["'](?P<escaped>(?:[^"'\\\n]|\\[^"'\n])+)"#,
    r#"|(?P<bare>[^\s"'`<>(\[{,;&|$\\*][^\s"'`<>;&|\\]*))"#,
    r#"|\s+["']?(?P<word>[^\s"'`<>(\[{,;&|$\\*:=-][^\s"'`<>;&|\\]*))"#,
);

/// The rules, and the hints in the same order.
pub(super) static RULES: LazyLock<(RegexSet, Vec<Rule>)> = LazyLock::new(|| {
    let hints = RegexSet::new(TABLE.iter().map(|(_, hint, ..)| *hint))
        .expect("the table's hints are regular");
    let rule = |(kind, _, pattern, check): &(&'static str, &str, &str, Check)| Rule {
        kind,
        pattern: Regex::new(pattern).expect("the table's patterns are regular"),
        check: *check,
    };
    (hints, TABLE.iter().map(rule).collect())
});
