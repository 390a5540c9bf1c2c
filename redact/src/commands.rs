//! Commands that take a secret as an argument whose name does not tell it.

use std::ops::Range;

use super::chars::{Look, boundary, line_start};
use super::scan::Scan;
use super::value::{Style, is_password, says_nothing};

const ARGUMENTS_BYTES_MAX: usize = 1024;
/// How many of its words are read.
const WORDS_MAX: usize = 48;
/// How far before a program its input is searched for, in bytes.
const INPUT_BYTES_MAX: usize = 512;

/// Where a program takes a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The word after an option, or what is attached to the option.
    Option(&'static str),
    /// What is attached to an option; the word after it is something else.
    Attached(&'static str),
    /// The word after an option, behind a sign: `-u name:secret`.
    Behind(&'static str, u8),
    /// The so-manieth word that is no option, behind a sign if there is one.
    Word(usize, u8),
    /// The input: `echo secret | program`, or a here-string; behind a sign if there is one.
    Input(u8),
}

use Place::{Attached, Behind, Input, Option as Opt, Word};

pub(super) struct Program {
    pub(super) name: &'static str,
    /// A word or the letters of an option that the command must have; empty if none.
    needs: &'static str,
    places: &'static [Place],
}

const fn row(name: &'static str, needs: &'static str, places: &'static [Place]) -> Program {
    Program {
        name,
        needs,
        places,
    }
}

const PASSWORD: &[Place] = &[Opt("-p"), Opt("--password"), Input(0)];
const SQL: &[Place] = &[Attached("-p"), Attached("--password=")];
const ARCHIVE: &[Place] = &[Attached("-p")];
const STORE: &[Place] = &[
    Opt("-storepass"),
    Opt("-keypass"),
    Opt("-srcstorepass"),
    Opt("-deststorepass"),
    Opt("-passwd"),
];
const HTTP: &[Place] = &[
    Behind("-u", b':'),
    Behind("--user", b':'),
    Behind("-U", b':'),
    Behind("--proxy-user", b':'),
    Opt("--oauth2-bearer"),
    Opt("--pass"),
    Opt("--proxy-pass"),
    Behind("-b", b'='),
    Behind("--cookie", b'='),
];
const LDAP: &[Place] = &[Opt("-w")];
const ADMIN: &[Place] = &[Opt("-P"), Opt("-p"), Opt("--password")];

pub(super) const PROGRAMS: &[Program] = &[
    row("docker", "login", PASSWORD),
    row("podman", "login", PASSWORD),
    row("nerdctl", "login", PASSWORD),
    row("helm", "login", PASSWORD),
    row("buildah", "login", PASSWORD),
    row(
        "skopeo",
        "",
        &[
            Behind("--creds", b':'),
            Behind("--src-creds", b':'),
            Behind("--dest-creds", b':'),
            Opt("-p"),
        ],
    ),
    row("oras", "login", PASSWORD),
    row("oc", "login", PASSWORD),
    row("cf", "login", PASSWORD),
    row("az", "login", PASSWORD),
    row("argocd", "login", PASSWORD),
    row("sudo", "-S", &[Input(0)]),
    row("sudo", "--stdin", &[Input(0)]),
    row("chpasswd", "", &[Input(b':')]),
    row("passwd", "--stdin", &[Input(0)]),
    row("smbpasswd", "-s", &[Input(0)]),
    row("cryptsetup", "", &[Input(0)]),
    row("kinit", "", &[Input(0)]),
    row("gpg", "", &[Opt("--passphrase")]),
    row("gpg", "--passphrase-fd", &[Input(0)]),
    row("gh", "--with-token", &[Input(0)]),
    row("gh", "secret", &[Opt("-b"), Opt("--body"), Input(0)]),
    row("vault", "login", &[Word(1, 0), Input(0)]),
    row("openssl", "", &[Attached("pass:"), Opt("-k"), Opt("-K")]),
    row("openssl", "-stdin", &[Input(0)]),
    row("zip", "", &[Opt("-P")]),
    row("unzip", "", &[Opt("-P")]),
    row("7z", "", ARCHIVE),
    row("7za", "", ARCHIVE),
    row("7zz", "", ARCHIVE),
    row("rar", "", &[Attached("-p"), Attached("-hp")]),
    row("unrar", "", ARCHIVE),
    row("redis-cli", "", &[Opt("-a"), Opt("--pass")]),
    row("valkey-cli", "", &[Opt("-a"), Opt("--pass")]),
    row("htpasswd", "-n", &[Word(1, 0)]),
    row("htpasswd", "-b", &[Word(2, 0)]),
    row(
        "smbclient",
        "",
        &[Behind("-U", b'%'), Behind("--user", b'%')],
    ),
    row("rpcclient", "", &[Behind("-U", b'%')]),
    row("mysql", "", SQL),
    row("mysqldump", "", SQL),
    row("mysqladmin", "", SQL),
    row("mysqlimport", "", SQL),
    row("mariadb", "", SQL),
    row("mariadb-dump", "", SQL),
    row("mongo", "", PASSWORD),
    row("mongosh", "", PASSWORD),
    row("mongodump", "", PASSWORD),
    row("mongorestore", "", PASSWORD),
    row("cypher-shell", "", PASSWORD),
    row("cqlsh", "", PASSWORD),
    row("influx", "", &[Opt("-password"), Opt("-t"), Opt("--token")]),
    row("sqlcmd", "", &[Opt("-P")]),
    row("bcp", "", &[Opt("-P")]),
    row("sqlplus", "", &[Word(0, b'/')]),
    row("neo4j-admin", "", &[Word(2, 0)]),
    row("rabbitmqctl", "add_user", &[Word(2, 0)]),
    row("rabbitmqctl", "change_password", &[Word(2, 0)]),
    row("sshpass", "", &[Opt("-p")]),
    row("curl", "", HTTP),
    row(
        "wget",
        "",
        &[
            Opt("--password"),
            Opt("--http-password"),
            Opt("--ftp-password"),
            Opt("--proxy-password"),
        ],
    ),
    row("http", "", &[Behind("-a", b':'), Behind("--auth", b':')]),
    row("https", "", &[Behind("-a", b':'), Behind("--auth", b':')]),
    row("xh", "", &[Behind("-a", b':'), Behind("--auth", b':')]),
    row("ldapsearch", "", LDAP),
    row("ldapmodify", "", LDAP),
    row("ldapadd", "", LDAP),
    row("ldapwhoami", "", LDAP),
    row("ldappasswd", "", &[Opt("-w"), Opt("-s")]),
    row("keytool", "", STORE),
    row("jarsigner", "", STORE),
    row(
        "pdftk",
        "",
        &[Opt("user_pw"), Opt("owner_pw"), Opt("input_pw")],
    ),
    row("snmpwalk", "", &[Opt("-c"), Opt("-A"), Opt("-X")]),
    row("snmpget", "", &[Opt("-c"), Opt("-A"), Opt("-X")]),
    row("ipmitool", "", &[Opt("-P")]),
    row("xfreerdp", "", &[Attached("/p:")]),
    row("rdesktop", "", &[Opt("-p")]),
    row("cmdkey", "", &[Attached("/pass:")]),
    row("net", "use", &[Word(3, 0)]),
    row("net", "user", &[Word(2, 0)]),
    row("psexec", "", &[Opt("-p")]),
    row("wpa_passphrase", "", &[Word(1, 0)]),
    row(
        "nmcli",
        "",
        &[
            Opt("password"),
            Opt("wifi-sec.psk"),
            Opt("802-11-wireless-security.psk"),
        ],
    ),
    row("useradd", "", &[Opt("-p")]),
    row("usermod", "", &[Opt("-p")]),
    row("twine", "", &[Opt("-p")]),
    row("cargo", "login", &[Word(1, 0), Input(0)]),
    row("svn", "", &[Opt("--password")]),
    row("mosquitto_pub", "", &[Opt("-P")]),
    row("mosquitto_sub", "", &[Opt("-P")]),
    row("mosquitto_passwd", "-b", &[Word(2, 0)]),
    row(
        "ngrok",
        "",
        &[Opt("authtoken"), Opt("add-authtoken"), Opt("--authtoken")],
    ),
    row("doctl", "", &[Opt("-t")]),
    row("bw", "unlock", &[Word(1, 0)]),
    row("bw", "login", &[Word(2, 0)]),
    row("snyk", "auth", &[Word(1, 0)]),
    row("security", "", &[Opt("-w"), Opt("-p")]),
    row("rclone", "obscure", &[Word(1, 0)]),
    row("wrangler", "secret", &[Input(0)]),
    row("ansible-vault", "", &[Opt("--vault-password")]),
    row("ConvertTo-SecureString", "", &[Word(0, 0), Opt("-String")]),
    row("impacket-", "", &[Behind("", b':')]),
    row("evil-winrm", "", ADMIN),
    row("crackmapexec", "", ADMIN),
    row("mc", "alias", &[Word(5, 0)]),
    row("lftp", "", &[Behind("-u", b',')]),
    row("ncftpget", "", &[Opt("-p")]),
];

pub(super) fn read(scan: &mut Scan<'_>, index: usize, name: Range<usize>) {
    let program = &PROGRAMS[index];
    if !is_word(scan, &name) {
        return;
    }
    let until = scan
        .arguments_until
        .iter_mut()
        .find(|(known, _)| *known == index);
    let is_read = until.as_ref().is_some_and(|(_, until)| name.end < *until);
    if is_read {
        return;
    }
    let words = words(scan, name.end);
    let end = words.last().map_or(name.end, |word| word.end);
    match scan
        .arguments_until
        .iter_mut()
        .find(|(known, _)| *known == index)
    {
        Some((_, until)) => *until = end,
        None => scan.arguments_until.push((index, end)),
    }
    if program.needs.is_empty()
        || words
            .iter()
            .any(|word| has(&scan.text[word.clone()], program.needs))
    {
        for place in program.places {
            secrets(scan, index, *place, &words, &name);
        }
    }
}

/// Returns whether a program's name is a word where a command can begin.
fn is_word(scan: &Scan<'_>, name: &Range<usize>) -> bool {
    let before = scan.before(name.start);
    let after = scan.at(name.end);
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    !is_part(before) && !is_part(after)
}

/// Returns whether a word is a needed one; letters of options may be joined.
fn has(word: &str, needs: &str) -> bool {
    let letter = needs.strip_prefix('-').filter(|letter| letter.len() == 1);
    let joined = word
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    word == needs
        || matches!((letter, joined), (Some(letter), Some(joined)) if joined.contains(letter))
}

/// Returns the words of a command, without their quotes.
fn words(scan: &Scan<'_>, from: usize) -> Vec<Range<usize>> {
    let to = boundary(scan.text, from + ARGUMENTS_BYTES_MAX);
    let mut words = Vec::new();
    let mut at = from;
    // A list of arguments in JSON or in code: `["program", "-p", "..."]`.
    let is_list = b"\"'".contains(&scan.at(from)) && scan.at(from + 1) == b',';
    if is_list {
        at += 1;
    }
    while at < to && words.len() < WORDS_MAX {
        match scan.bytes[at] {
            b' ' | b'\t' | b'\\' => at += 1,
            b',' if is_list => at += 1,
            b']' if is_list => break,
            b'\n' if scan.before(at) == b'\\' => at += 1,
            b'\n' | b';' | b'|' | b'&' | b')' => break,
            quote @ (b'"' | b'\'') => {
                let ends = |byte: &u8| *byte == quote || *byte == b'\n';
                let length = scan.bytes[at + 1..to]
                    .iter()
                    .position(ends)
                    .unwrap_or(to - at - 1);
                words.push(at + 1..at + 1 + length);
                at += length + 2;
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"';|&)`".contains(byte);
                let length = scan.bytes[at..to]
                    .iter()
                    .position(ends)
                    .unwrap_or(to - at)
                    .max(1);
                words.push(at..at + length);
                at += length;
            }
        }
    }
    words
}

fn secrets(
    scan: &mut Scan<'_>,
    index: usize,
    place: Place,
    words: &[Range<usize>],
    name: &Range<usize>,
) {
    match place {
        Input(sign) => input(scan, sign, words, name),
        Word(number, sign) => {
            let mut plain = words
                .iter()
                .filter(|word| !scan.text[(*word).clone()].starts_with('-'));
            let word = plain.nth(number).cloned();
            // Without an option that tells it, only what is no word: sentences name programs too.
            let is_told = sign != 0 || PROGRAMS[index].needs.starts_with('-');
            let is_random = |c: char| c.is_ascii_digit() || "!@#%^*+".contains(c);
            if let Some(word) = word.filter(|word| {
                let text = &scan.text[word.clone()];
                is_told || text.contains(is_random) || Look::at(text).is_scrambled()
            }) {
                behind(scan, word, sign);
            }
        }
        Opt(option) | Attached(option) | Behind(option, _) => {
            let sign = if let Behind(_, sign) = place { sign } else { 0 };
            for (index, word) in words.iter().enumerate() {
                let Some(attached) = scan.text[word.clone()].strip_prefix(option) else {
                    continue;
                };
                let is_long = option.starts_with("--");
                let value = match attached {
                    "" if matches!(place, Attached(_)) => touching(words, index),
                    "" => words.get(index + 1).cloned(),
                    attached if attached.starts_with('=') => {
                        Some(word.end - attached.len() + 1..word.end)
                    }
                    _ if is_long || option.is_empty() => None,
                    attached => Some(word.end - attached.len()..word.end),
                };
                // A quoted value that is attached is a word of its own.
                let value = value
                    .filter(|value| !value.is_empty())
                    .or_else(|| touching(words, index));
                if let Some(value) = value {
                    behind(scan, value, sign);
                }
            }
        }
    }
}

/// Returns the word in quotes that is written right after another one.
fn touching(words: &[Range<usize>], index: usize) -> Option<Range<usize>> {
    let next = words.get(index + 1)?;
    (next.start == words[index].end + 1).then(|| next.clone())
}

/// Notes what a word has behind a sign; all of it without a sign.
fn behind(scan: &mut Scan<'_>, word: Range<usize>, sign: u8) {
    let text = &scan.text[word.clone()];
    let skipped = match sign {
        0 => Some(0),
        sign => text.bytes().position(|byte| byte == sign).map(|at| at + 1),
    };
    let Some(skipped) = skipped else { return };
    let secret = &text[skipped..];
    let secret = secret.trim_end_matches("\\n");
    let is_option = secret.starts_with('-') && sign == 0;
    let is_port = secret.len() <= 5 && secret.bytes().all(|byte| byte.is_ascii_digit());
    let is_variable = says_nothing(secret)
        || secret.contains("$(")
        || secret.contains("${")
        || secret.starts_with('@');
    let start = word.start + skipped;
    let end = start + secret.len();
    if secret.len() >= 3
        && !is_option
        && !is_port
        && !is_variable
        && is_password(secret, Style::Env)
    {
        scan.take(start..end, "password");
    }
}

/// Notes what is piped into a program, or given to it as a here-string.
fn input(scan: &mut Scan<'_>, sign: u8, words: &[Range<usize>], name: &Range<usize>) {
    let here = words
        .iter()
        .position(|word| scan.text[word.clone()].starts_with("<<<"));
    if let Some(index) = here {
        let attached = words[index].start + 3..words[index].end;
        let word = if attached.is_empty() {
            words.get(index + 1).cloned()
        } else {
            Some(attached)
        };
        return word.map_or((), |word| behind(scan, word, sign));
    }
    let from = boundary(
        scan.text,
        line_start(scan.bytes, name.start, INPUT_BYTES_MAX),
    );
    let Some(pipe) = scan.bytes[from..name.start]
        .iter()
        .rposition(|byte| *byte == b'|')
    else {
        return;
    };
    let before = &scan.bytes[from..from + pipe];
    let ends = |byte: &u8| b"|;&(".contains(byte);
    let start = from + before.iter().rposition(ends).map_or(0, |at| at + 1);
    let mut said = words_before(scan, start, from + pipe);
    let is_printer = |word: &Range<usize>| {
        let text = &scan.text[word.clone()];
        ["echo", "printf", "print", "Write-Output"]
            .iter()
            .any(|printer| text.ends_with(printer))
    };
    let Some(printer) = said.iter().position(is_printer) else {
        return;
    };
    said.drain(..=printer);
    let plain = |word: &&Range<usize>| {
        let text = &scan.text[(*word).clone()];
        !text.starts_with('-') && !text.starts_with('%')
    };
    if let Some(word) = said.iter().find(plain).cloned() {
        behind(scan, word, sign);
    }
}

fn words_before(scan: &Scan<'_>, from: usize, to: usize) -> Vec<Range<usize>> {
    let mut words = words(scan, from);
    words.retain(|word| word.start < to);
    if let Some(last) = words.last_mut() {
        last.end = last.end.min(to);
    }
    words
}
