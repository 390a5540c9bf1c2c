//! Parses the output of git. Pure: bytes in, borrowed names out. No byte sequence is an error: unknown records are
//! skipped, and [`Status::answered`] says whether the output was an answer at all.
//!
//! `git status --porcelain=v2 --branch -z` prints records that end in NUL, with unquoted names:
//!
//! ```text
//! # branch.oid <commit> | (initial)
//! # branch.head <branch> | (detached)
//! 1 <XY> <sub> <mH> <mI> <mW> <hH> <hI> <path>
//! 2 <XY> <sub> <mH> <mI> <mW> <hH> <hI> <X><score> <path> NUL <old path>
//! u <XY> <sub> <m1> <m2> <m3> <mW> <h1> <h2> <h3> <path>
//! ? <path>
//! ```

/// The parsed output of `git status`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status<'a> {
    /// The current branch; `None` if HEAD is detached.
    pub(super) branch: Option<&'a [u8]>,
    /// Whether the header of a complete answer was found.
    pub(super) answered: bool,
    /// Whether the repository has no commit yet.
    pub(super) unborn: bool,
    pub(super) head: Option<&'a [u8]>,
    /// The changed paths, in git's order, relative to the top of the work tree.
    pub(super) paths: Vec<&'a [u8]>,
    /// How many of them, the last, are untracked.
    pub(super) untracked: usize,
    /// Those of the paths that may hold what HEAD holds: their mode differs, or they were staged and changed again.
    pub(super) doubtful: Vec<&'a [u8]>,
}

/// Parses the output of `git status`. A last record without NUL was cut off and is skipped.
pub(super) fn status(bytes: &[u8]) -> Status<'_> {
    let mut status = Status::default();
    let mut records = complete_records(bytes);
    while let Some(record) = records.next() {
        let Some((kind, rest)) = record.split_first_chunk::<2>() else {
            continue;
        };
        match kind {
            b"# " => header(rest, &mut status),
            b"1 " => {
                if let Some(path) = ordinary(rest) {
                    status.paths.push(path);
                    status
                        .doubtful
                        .extend(Some(path).filter(|_| is_doubtful(rest)));
                }
            }
            b"2 " => {
                // git prints none of these with --no-renames; if it does anyway, both names changed.
                let new = rest.splitn(9, is_space).nth(8);
                status.paths.extend(
                    [new, records.next()]
                        .into_iter()
                        .flatten()
                        .filter(|path| !path.is_empty()),
                );
            }
            b"u " => status.paths.extend(
                rest.splitn(10, is_space)
                    .nth(9)
                    .filter(|path| !path.is_empty()),
            ),
            // A nested repository is listed with a trailing slash, unlike a submodule.
            b"? " => {
                let path = rest.strip_suffix(b"/").unwrap_or(rest);
                status
                    .paths
                    .extend(Some(path).filter(|path| !path.is_empty()));
                status.untracked += usize::from(!path.is_empty());
            }
            _ => {}
        }
    }
    status
}

/// Parses the changed paths of `git status` with git's two-letter codes; `??` for untracked files.
pub(super) fn changes(bytes: &[u8]) -> Vec<(&[u8], &[u8])> {
    let change = |record| -> Option<(&[u8], &[u8])> {
        let (kind, rest): (&[u8; 2], &[u8]) = <[u8]>::split_first_chunk(record)?;
        let fields = match kind {
            b"1 " => 8,
            b"u " => 10,
            b"? " => return Some((b"??", rest)),
            _ => return None,
        };
        let mut fields_and_path = rest.splitn(fields, is_space);
        Some((fields_and_path.next()?, fields_and_path.nth(fields - 2)?))
    };
    complete_records(bytes).filter_map(change).collect()
}

/// Parses `# branch.ab +<ahead> -<behind>`; `None` if the branch has no upstream.
pub(super) fn ahead_behind(bytes: &[u8]) -> (Option<u32>, Option<u32>) {
    let line = complete_records(bytes).find_map(|record| record.strip_prefix(b"# branch.ab "));
    let text = line.map(String::from_utf8_lossy).unwrap_or_default();
    let mut numbers = text
        .split(' ')
        .map(|number| number.trim_start_matches(['+', '-']).parse().ok());
    (numbers.next().flatten(), numbers.next().flatten())
}

/// Parses the output of `git log -z --format= --name-only`.
pub(super) fn names(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    complete_records(bytes).filter(|name| !name.is_empty())
}

/// Parses the output of `git log -z --format=tformat:%x01.. --name-only`: what the format says of each commit, and its
/// files.
pub(super) fn commits(bytes: &[u8]) -> Vec<(String, Vec<&[u8]>)> {
    let mut commits: Vec<(String, Vec<&[u8]>)> = Vec::new();
    for part in names(bytes) {
        if let Some(said) = part.strip_prefix(b"\x01") {
            commits.push((String::from_utf8_lossy(said).trim().to_owned(), Vec::new()));
        } else if let Some((_, files)) = commits.last_mut() {
            // The first name follows the end of the line before it.
            files.push(part.strip_prefix(b"\n").unwrap_or(part));
        }
    }
    commits
}

/// Where a repository is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Place<'a> {
    /// Whether it has no work tree.
    pub(super) is_bare: bool,
    /// Its folder and the top of the work tree; `None` if git did not say.
    pub(super) paths: Option<(&'a [u8], &'a [u8])>,
}

/// Parses the output of `git rev-parse --is-bare-repository --absolute-git-dir --is-inside-work-tree --show-toplevel`.
/// Paths may contain line breaks; those that can be read in two ways are none.
pub(super) fn place(bytes: &[u8]) -> Place<'_> {
    const BETWEEN: &[u8] = b"\ntrue\n/";
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let is_bare = lines.next() == Some(b"true");
    let rest = lines.next().and_then(|rest| rest.strip_suffix(b"\n"));
    let paths = rest
        .filter(|rest| rest.first() == Some(&b'/'))
        .and_then(|rest| {
            let mut ends = rest.windows(BETWEEN.len()).enumerate();
            let mut end = || ends.find(|(_, part)| *part == BETWEEN).map(|(at, _)| at);
            let first = end()?;
            let top = &rest[first + BETWEEN.len() - 1..];
            end().is_none().then_some((&rest[..first], top))
        });
    Place { is_bare, paths }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting<'a> {
    /// Where it is set: `file:`, and a path as git opened it.
    pub(super) origin: &'a [u8],
    pub(super) key: &'a [u8],
    /// None for a key without `=`, which means true.
    pub(super) value: Option<&'a [u8]>,
    /// Whether it is in a configuration of the user or the system, and not in one of the repository.
    pub(super) is_of_user: bool,
}

/// Reads the output of `git config --list --show-scope --show-origin -z`.
///
/// None if this is not such a list, or lacks the settings that were passed in variables: a git that ignores those
/// (before 2.31) would run what the repository names.
pub(super) fn settings(bytes: &[u8]) -> Option<Vec<Setting<'_>>> {
    let mut settings = Vec::new();
    let mut takes_variables = false;
    let mut fields = complete_records(bytes);
    while let Some(scope) = fields.next() {
        let origin = fields.next()?;
        let mut field = fields.next()?.splitn(2, |byte| *byte == b'\n');
        let key = field.next()?;
        let is_of_user = match scope {
            b"command" => {
                takes_variables |= key == b"core.hookspath";
                continue;
            }
            b"system" | b"global" => true,
            _ => false,
        };
        settings.push(Setting {
            origin,
            key,
            value: field.next(),
            is_of_user,
        });
    }
    takes_variables.then_some(settings)
}

/// The section of a key, the name between its dots if there is one, and the variable.
pub(super) type Key<'a> = (&'a [u8], Option<&'a [u8]>, &'a [u8]);

pub(super) fn key(key: &[u8]) -> Option<Key<'_>> {
    let dot = key.iter().position(|byte| *byte == b'.')?;
    let (section, rest) = (&key[..dot], &key[dot + 1..]);
    Some(match split_key(rest) {
        Some((name, variable)) => (section, Some(name), variable),
        None => (section, None, rest),
    })
}

/// Splits a key, its section cut off, at the last dot.
pub(super) fn split_key(key: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = key.iter().rposition(|byte| *byte == b'.')?;
    Some((&key[..dot], &key[dot + 1..]))
}

/// Takes the next answer off the output of `git cat-file --batch`; `None` if it is not a file, or not whole.
pub(super) fn blob<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = rest.split_at(end);
    *rest = &after[1..];
    // `ID TYPE SIZE`, or `NAME missing`; the name may hold blanks.
    let mut words = line.rsplit(|byte| *byte == b' ');
    let size = std::str::from_utf8(words.next()?).ok()?;
    let (kind, size) = (words.next()?, size.parse::<usize>().ok()?);
    let content = rest.get(..size)?;
    *rest = rest.get(size + 1..).unwrap_or_default();
    (kind == b"blob").then_some(content)
}

/// Reads the output of `git config -z --get-regexp` for submodules: name, variable, value. The name is empty for
/// `diff.ignoreSubmodules`.
pub(super) fn submodules(bytes: &[u8]) -> impl Iterator<Item = (&[u8], &[u8], &[u8])> {
    complete_records(bytes).filter_map(|record| {
        let end = record.iter().position(|byte| *byte == b'\n')?;
        let key = &record[..end];
        let value = &record[end + 1..];
        let Some(key) = key.strip_prefix(b"submodule.") else {
            return Some((&b""[..], &b"ignore"[..], value));
        };
        let (name, variable) = split_key(key)?;
        Some((name, variable, value))
    })
}

/// Reads the output of `git ls-files --stage -z`: the paths of the submodules.
pub(super) fn gitlinks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    complete_records(bytes)
        .filter(|record| record.starts_with(b"160000 "))
        .filter_map(|record| record.splitn(2, |byte| *byte == b'\t').nth(1))
}

/// Reads an object id on a line of its own.
pub(super) fn object_id(line: &[u8]) -> Option<String> {
    let id = std::str::from_utf8(line.trim_ascii()).ok()?;
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// Reads lines of a time in seconds and an object id: each id whose time is not before `second`, once.
pub(super) fn tips(bytes: &[u8], second: i64) -> Vec<String> {
    let mut tips = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(2, is_space);
        let time = parts.next().and_then(|time| std::str::from_utf8(time).ok());
        let time: Option<i64> = time.and_then(|time| time.parse().ok());
        if let (Some(time), Some(id)) = (time, parts.next().and_then(object_id))
            && time >= second
            && !tips.contains(&id)
        {
            tips.push(id);
        }
    }
    tips
}

fn header<'a>(rest: &'a [u8], status: &mut Status<'a>) {
    if let Some(oid) = rest.strip_prefix(b"branch.oid ") {
        status.answered = true;
        status.unborn = oid == b"(initial)";
        status.head = Some(oid).filter(|_| !status.unborn);
    } else if let Some(head) = rest.strip_prefix(b"branch.head ") {
        status.branch = Some(head).filter(|head| *head != b"(detached)");
    }
}

fn ordinary(rest: &[u8]) -> Option<&[u8]> {
    let mut fields = rest.splitn(8, is_space);
    let (xy, sub) = (fields.next()?, fields.next()?);
    let path = fields.nth(5).filter(|path| !path.is_empty())?;
    // Added to the index and deleted from the work tree: neither HEAD nor the work tree has it.
    let is_deleted_again = xy == b"AD";
    // `git diff` does not report a submodule that has only untracked files.
    let is_untracked_only = sub == b"S..U" && xy == b".M";
    (!is_deleted_again && !is_untracked_only).then_some(path)
}

/// Returns whether an ordinary record names a file whose content may equal that in HEAD.
fn is_doubtful(rest: &[u8]) -> bool {
    let mut fields = rest.splitn(8, is_space);
    let [Some(xy), _, Some(head), _, Some(work_tree), ..] =
        std::array::from_fn::<_, 5, _>(|_| fields.next())
    else {
        return false;
    };
    let is_file = |mode: &[u8]| mode.starts_with(b"100");
    is_file(head) && is_file(work_tree) && (head != work_tree || xy == b"MM")
}

fn complete_records(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes
        .split_inclusive(|byte| *byte == 0)
        .filter_map(|record| record.strip_suffix(b"\0"))
}

fn is_space(byte: &u8) -> bool {
    *byte == b' '
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Entry {
        Ordinary(&'static str, &'static str, Vec<u8>),
        Renamed(Vec<u8>, Vec<u8>),
        Unmerged(Vec<u8>),
        Untracked(Vec<u8>),
        Ignored(Vec<u8>),
    }

    impl Entry {
        fn render(&self, out: &mut Vec<u8>) {
            let (modes, oid) = ("100644 100644 100755", "0".repeat(40));
            let (head, path) = match self {
                Self::Ordinary(xy, sub, path) => {
                    (format!("1 {xy} {sub} {modes} {oid} {oid} "), path)
                }
                Self::Renamed(path, _) => (format!("2 R. N... {modes} {oid} {oid} R100 "), path),
                Self::Unmerged(path) => {
                    (format!("u UU N... {modes} 100644 {oid} {oid} {oid} "), path)
                }
                Self::Untracked(path) => ("? ".to_owned(), path),
                Self::Ignored(path) => ("! ".to_owned(), path),
            };
            out.extend(head.as_bytes());
            out.extend(path);
            out.push(0);
            if let Self::Renamed(_, old) = self {
                out.extend(old);
                out.push(0);
            }
        }

        fn expected(&self) -> Vec<&[u8]> {
            match self {
                Self::Ordinary("AD", ..) | Self::Ordinary(".M", "S..U", _) | Self::Ignored(_) => {
                    vec![]
                }
                Self::Ordinary(_, _, path) | Self::Unmerged(path) => vec![path],
                Self::Renamed(path, old) => vec![path, old],
                Self::Untracked(path) => vec![path.strip_suffix(b"/").unwrap_or(path)],
            }
        }
    }

    /// Any valid file name, with or without a trailing slash.
    fn path() -> impl Strategy<Value = Vec<u8>> {
        let odd = prop::sample::select(b" \n\t\"'\\-#?!1/\xff\xfe".to_vec());
        (
            1..=255_u8,
            prop::collection::vec(prop_oneof![odd, 1..=255_u8], 0..12),
            any::<bool>(),
        )
            .prop_map(|(first, mut rest, is_folder)| {
                rest.insert(0, if first == b'/' { b'-' } else { first });
                if is_folder {
                    rest.push(b'/');
                }
                rest
            })
    }

    fn entry() -> impl Strategy<Value = Entry> {
        let xy = prop::sample::select(vec![
            "M.", ".M", "MM", "A.", "AM", "AD", "D.", ".D", ".T", ".A",
        ]);
        let sub = prop::sample::select(vec!["N...", "SC..", "S.M.", "S..U", "SCMU"]);
        prop_oneof![
            (xy, sub, path()).prop_map(|(xy, sub, path)| Entry::Ordinary(xy, sub, path)),
            (path(), path()).prop_map(|(new, old)| Entry::Renamed(new, old)),
            path().prop_map(Entry::Unmerged),
            path().prop_map(Entry::Untracked),
            path().prop_map(Entry::Ignored),
        ]
    }

    proptest! {
        #[test]
        fn what_is_rendered_is_read_back(entries in prop::collection::vec(entry(), 0..20), branch in "[a-z/(]{1,9}", cut: prop::sample::Index) {
            let mut bytes = format!("# branch.oid (initial)\0# branch.head {branch}\0# branch.ab +1 -2\0").into_bytes();
            entries.iter().for_each(|entry| entry.render(&mut bytes));
            let read = status(&bytes);
            prop_assert!(read.answered && read.unborn);
            prop_assert_eq!(read.branch, Some(branch.as_bytes()));
            prop_assert_eq!(&read.paths, &entries.iter().flat_map(Entry::expected).collect::<Vec<_>>());
            // Truncated input yields a prefix of the paths.
            let part = &bytes[..cut.index(bytes.len())];
            prop_assert!(read.paths.starts_with(&status(part).paths));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = (status(&bytes), names(&bytes).count(), place(&bytes));
        }

        #[test]
        fn bytes_that_look_like_records_are_read(text in "([12u?#!] |[ 01MADU.S\0]|# branch.(oid|head) |\0){0,60}") {
            prop_assert!(status(text.as_bytes()).paths.iter().all(|path| !path.is_empty()));
        }
    }

    #[test]
    fn a_detached_head_is_no_branch() {
        assert_eq!(
            status(b"# branch.oid 12\0# branch.head (detached)\0").branch,
            None
        );
    }

    #[test]
    fn paths_may_contain_line_breaks() {
        type Paths = Option<(&'static [u8], &'static [u8])>;
        let table: [(&[u8], bool, Paths); 7] = [
            (
                b"false\n/a/.git\ntrue\n/a\n",
                false,
                Some((b"/a/.git", b"/a")),
            ),
            (
                b"false\n/a\nb\n/.git\ntrue\n/a\nb\n\n",
                false,
                Some((b"/a\nb\n/.git", b"/a\nb\n")),
            ),
            (b"false\n/a\ntrue\n/.git\ntrue\n/a\ntrue\n\n", false, None),
            (b"true\n/a\nfalse\n", true, None),
            (b"true\n", true, None),
            (b"false\n", false, None),
            (b"", false, None),
        ];
        for (bytes, is_bare, paths) in table {
            assert_eq!(place(bytes), Place { is_bare, paths }, "{bytes:?}");
        }
    }

    #[test]
    fn settings_of_the_user_are_told_from_others() {
        let list =
            b"command\0command line:\0core.hookspath\n/dev/null\0global\0file:/c\0a.b\n1\n2\0local\0file:d\0filter.x.y.clean\0";
        let read = settings(list).expect("a list");
        let [first, second] = &*read else {
            panic!("{read:?}")
        };
        assert_eq!(
            (first.key, first.value, first.is_of_user),
            (&b"a.b"[..], Some(&b"1\n2"[..]), true)
        );
        assert_eq!(
            (second.value, second.is_of_user, second.origin),
            (None, false, &b"file:d"[..])
        );
        assert_eq!(
            key(second.key),
            Some((&b"filter"[..], Some(&b"x.y"[..]), &b"clean"[..]))
        );
        assert_eq!(key(first.key), Some((&b"a"[..], None, &b"b"[..])));
        // A git that does not take settings from variables.
        assert_eq!(settings(b"global\0file:/c\0a.b\n1\0"), None);
        assert_eq!(
            settings(b"command\0command line:\0core.hookspath\n/dev/null\0local\0"),
            None
        );
    }
}
