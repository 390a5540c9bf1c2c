//! What an `echo` or `printf` of a line prints.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// `$?`.
    Status,
    /// `${PIPESTATUS[1]}`.
    Part(usize),
    /// `${PIPESTATUS[@]}`.
    Parts,
    /// A variable; it may hold a status.
    Variable(String),
    /// Not known.
    Unknown,
}

/// The last line that a command prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) pieces: Vec<Piece>,
    /// Whether a line end follows it.
    pub(super) ends_line: bool,
}

/// Programs that print their arguments.
const PRINTERS: [&str; 4] = ["echo", "printf", "Write-Output", "Write-Host"];
/// Variables that hold the status of the last command.
const STATUSES: [&str; 3] = ["?", "LASTEXITCODE", "status"];

/// The most parts of a text that cannot be known.
const OPEN_MAX: usize = 3;

pub(super) fn prints(words: &[String]) -> bool {
    words
        .first()
        .is_some_and(|program| PRINTERS.contains(&program.as_str()))
}

/// Returns what a value of an assignment holds.
pub(super) fn value(text: &str) -> Option<Piece> {
    match pieces(text).as_slice() {
        [piece @ (Piece::Status | Piece::Part(_) | Piece::Variable(_))] => Some(piece.clone()),
        _ => None,
    }
}

impl Template {
    /// Reads what a command prints; none if that says nothing.
    pub(super) fn of(words: &[String]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        let mut words: Vec<&str> = rest.iter().map(String::as_str).collect();
        let mut ends_line = true;
        let text = if program == "printf" {
            let format = words.first().copied()?;
            let text = formatted(format, &words[1..]);
            ends_line = text.ends_with('\n') || text.ends_with("\\n");
            text
        } else {
            while let Some(option) = words.first().copied().filter(|word| is_option(word)) {
                ends_line &= !option.contains('n');
                words.remove(0);
            }
            words.join(" ")
        };
        let text = text.replace("\\n", "\n").replace("\\t", "\t");
        let last = text.lines().rev().find(|line| !line.trim().is_empty())?;
        let pieces = pieces(last.trim());
        let is_open = |piece: &&Piece| matches!(piece, Piece::Unknown | Piece::Variable(_));
        let open = pieces.iter().filter(is_open).count();
        (open < pieces.len() && open <= OPEN_MAX).then_some(Self { pieces, ends_line })
    }

    /// Returns whether all of it is known but the status of commands.
    pub(super) fn is_known(&self) -> bool {
        let is_open = |piece: &Piece| matches!(piece, Piece::Unknown | Piece::Variable(_));
        !self.pieces.iter().any(is_open)
    }

    /// Returns what a line has for each piece that is not text; `None` if the line was not printed so.
    pub(super) fn values<'l>(&self, line: &'l str) -> Option<Vec<&'l str>> {
        let mut found = Vec::new();
        fits(&self.pieces, line, &mut found).then_some(found)
    }

    /// Returns whether a line ends with the text after something else that had no line end.
    pub(super) fn is_glued_to(&self, line: &str) -> bool {
        let mut starts = line.char_indices().skip(1).map(|(at, _)| at);
        starts.any(|at| self.values(&line[at..]).is_some())
    }
}

fn is_option(word: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.is_empty());
    letters.is_some_and(|letters| letters.chars().all(|letter| "neE".contains(letter)))
}

/// Puts arguments into the format of `printf`.
fn formatted(format: &str, arguments: &[&str]) -> String {
    let mut arguments = arguments.iter();
    let mut text = String::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let width = rest.len()
            - rest
                .trim_start_matches(|c: char| c.is_ascii_digit() || "-+. #".contains(c))
                .len();
        match rest[width..].chars().next() {
            Some('%') => text.push('%'),
            Some(_) => text.push_str(arguments.next().copied().unwrap_or_default()),
            None => {}
        }
        let letter = rest[width..].chars().next().map_or(0, char::len_utf8);
        rest = &rest[width + letter..];
    }
    text + rest
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let Some((piece, length)) = (next == '$').then(|| expansion(rest)).flatten() else {
            plain.push(next);
            rest = &rest[next.len_utf8()..];
            continue;
        };
        if !plain.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut plain)));
        }
        pieces.push(piece);
        rest = &rest[length..];
    }
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    pieces
}

/// Reads `$NAME`, `${..}` or `$()`; returns the piece and its length.
fn expansion(text: &str) -> Option<(Piece, usize)> {
    let body = &text[1..];
    if let Some(inside) = body.strip_prefix('{') {
        let end = inside.find('}')?;
        return Some((named(&inside[..end]), end + 3));
    }
    if body.starts_with("(())") {
        return Some((Piece::Unknown, 5));
    }
    if body.starts_with("()") {
        return Some((Piece::Unknown, 3));
    }
    if body.starts_with('?') {
        return Some((Piece::Status, 2));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = &body[..body.find(|c| !is_name(c)).unwrap_or(body.len())];
    if name.is_empty() {
        return None;
    }
    // zsh takes an index without braces.
    let index = body[name.len()..].strip_prefix('[');
    let index = index
        .and_then(|index| index.split_once(']'))
        .map(|(index, _)| index);
    match index.filter(|_| is_pipe(name)) {
        Some(index) => {
            let whole = format!("{name}[{index}]");
            Some((named(&whole), whole.len() + 1))
        }
        None => Some((named(name), name.len() + 1)),
    }
}

fn is_pipe(name: &str) -> bool {
    name.eq_ignore_ascii_case("pipestatus")
}

fn named(name: &str) -> Piece {
    if STATUSES.contains(&name) {
        return Piece::Status;
    }
    let (head, index) = match name.split_once('[') {
        Some((head, index)) => (head, index.strip_suffix(']')),
        None => (name, None),
    };
    if is_pipe(head) {
        // zsh counts from 1, and writes it in small letters.
        let first = usize::from(head == "pipestatus");
        return match index {
            Some("@" | "*") => Piece::Parts,
            None if first == 1 => Piece::Parts,
            None => Piece::Part(0),
            Some(index) => match index.parse::<usize>() {
                Ok(index) if index >= first => Piece::Part(index - first),
                _ => Piece::Unknown,
            },
        };
    }
    let is_plain = head == name && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain {
        Piece::Variable(name.to_owned())
    } else {
        Piece::Unknown
    }
}

fn fits<'l>(pieces: &[Piece], line: &'l str, found: &mut Vec<&'l str>) -> bool {
    let Some((first, rest)) = pieces.split_first() else {
        return line.is_empty();
    };
    let take = |length: usize, found: &mut Vec<&'l str>| {
        found.push(&line[..length]);
        let fit = fits(rest, &line[length..], found);
        if !fit {
            found.pop();
        }
        fit
    };
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match first {
        Piece::Text(text) => line
            .strip_prefix(text.as_str())
            .is_some_and(|line| fits(rest, line, found)),
        Piece::Status | Piece::Part(_) => {
            let sign = usize::from(line.starts_with('-'));
            let length = digits(&line[sign..]);
            length > 0 && take(sign + length, found)
        }
        Piece::Parts => {
            let length = line.len()
                - line
                    .trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ')
                    .len();
            length > 0 && take(line[..length].trim_end().len(), found)
        }
        Piece::Variable(_) | Piece::Unknown => {
            let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
            ends.into_iter().any(|end| take(end, found))
        }
    }
}
