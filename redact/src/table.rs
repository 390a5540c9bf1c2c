//! Secrets in the column below a telling name.

use std::ops::Range;

use super::chars::{boundary, line_end, line_start};
use super::judge::judge;
use super::names::Name;
use super::odd::{Odd, odd};
use super::scan::Scan;
use super::secret::Style;

/// The longest table that is read, in bytes.
const TABLE_BYTES_MAX: usize = 8 * 1024;
/// The longest line of a table, in bytes.
const LINE_BYTES_MAX: usize = 512;

/// The fields of a line, which a sign or several blanks separate.
fn fields(line: &str, sign: char) -> Vec<Range<usize>> {
    let mut fields = Vec::new();
    let mut start = 0;
    let mut quote = None;
    let mut blanks = 0;
    for (at, char) in line.char_indices() {
        blanks = if char == ' ' { blanks + 1 } else { 0 };
        let is_end = match sign {
            ' ' => {
                char != ' '
                    && line[start..at].ends_with("  ")
                    && line[..at].trim_end().len() > start
            }
            sign => char == sign && quote.is_none(),
        };
        match char {
            _ if is_end => {
                fields.push(start..at);
                start = at + if sign == ' ' { 0 } else { char.len_utf8() };
            }
            '"' | '\'' if quote == Some(char) => quote = None,
            '"' | '\'' if quote.is_none() && line[start..at].trim().is_empty() => {
                quote = Some(char)
            }
            _ => (),
        }
    }
    fields.push(start..line.len());
    for field in &mut fields {
        let text = &line[field.clone()];
        let bare = text.trim_matches([' ', '\t', '"', '\'', '`', '*', '|', '\r', '#']);
        let start = field.start + (bare.as_ptr() as usize - text.as_ptr() as usize);
        *field = start..start + bare.len();
    }
    fields
}

/// The column below a telling name: of CSV, Markdown, a database's output, or the values of an `INSERT`.
pub(super) fn read(scan: &mut Scan<'_>, name: Name, whole: &Range<usize>) {
    // Names in the rows are no heads, but a head may have several.
    if (scan.table_head..scan.table_until).contains(&whole.start) {
        return;
    }
    let start = line_start(scan.bytes, whole.start, LINE_BYTES_MAX);
    let end = line_end(scan.bytes, whole.end, LINE_BYTES_MAX);
    if let Some(open) = scan.bytes[start..whole.start]
        .iter()
        .rposition(|byte| *byte == b'(')
        && scan.bytes[whole.end..end].contains(&b')')
    {
        return columns(scan, name, open + start + 1, whole);
    }
    // A line is looked at once, unless it has the heads of several columns. A long one is no head.
    let is_whole = end - start < LINE_BYTES_MAX && scan.at(end) == b'\n';
    let Some(head) = scan.text.get(start..end).filter(|_| is_whole) else {
        (scan.table_head, scan.table_until) = (start, end);
        return;
    };
    let at = whole.start - start;
    let signs = [',', ';', '|', '\t', ' '];
    let is_word = |c: char| c.is_alphabetic() || "_-. ".contains(c);
    let mut shapes = signs.iter().filter_map(|sign| {
        let fields = fields(head, *sign);
        let is_head = fields.iter().filter(|field| !field.is_empty()).count() >= 2
            && fields
                .iter()
                .all(|field| head[field.clone()].chars().all(is_word) && field.len() < 32);
        let column = fields
            .iter()
            .position(|field| *field == (at..at + whole.len()));
        column
            .filter(|_| is_head)
            .map(|column| (*sign, column, fields.len()))
    });
    let Some((sign, column, width)) = shapes.next() else {
        (scan.table_head, scan.table_until) = (start, end);
        return;
    };
    let mut next = end + 1;
    let (mut cells, mut is_column) = (Vec::new(), false);
    while next < scan.bytes.len() && next - end < TABLE_BYTES_MAX {
        let line_at = next;
        let line_to = line_end(scan.bytes, next, LINE_BYTES_MAX);
        next = line_to + 1;
        let Some(line) = scan.text.get(line_at..line_to) else {
            break;
        };
        if line.chars().all(|c| "-+=|: \r".contains(c)) && !line.trim().is_empty() {
            continue;
        }
        let fields = fields(line, sign);
        if fields.len() != width {
            next = line_at;
            break;
        }
        let cell = fields[column].clone();
        let text = &line[cell.clone()];
        if text.len() > 3 {
            is_column |= odd(text) >= Odd::Hash && judge(name, Style::Quoted, text);
            cells.push(line_at + cell.start..line_at + cell.end);
        }
    }
    // One secret tells what the column has.
    for cell in cells.into_iter().filter(|_| is_column) {
        scan.take(cell, "secret");
    }
    (scan.table_head, scan.table_until) = (end, next);
}

/// The values of a column that `INSERT INTO table (...)` names.
fn columns(scan: &mut Scan<'_>, name: Name, open: usize, whole: &Range<usize>) {
    let column = scan.bytes[open..whole.start]
        .iter()
        .filter(|byte| **byte == b',')
        .count();
    let to = boundary(scan.text, whole.end + TABLE_BYTES_MAX);
    let Some(close) = scan.bytes[whole.end..to]
        .iter()
        .position(|byte| *byte == b')')
    else {
        return;
    };
    let rest = scan.text[whole.end + close + 1..to].trim_start();
    if !rest
        .get(..6)
        .is_some_and(|word| word.eq_ignore_ascii_case("values"))
    {
        return;
    }
    let mut at = to - rest.len() + 6;
    let (mut depth, mut place) = (0, 0);
    while at < to {
        match scan.bytes[at] {
            b'(' => {
                depth += 1;
                place = if depth == 1 { 0 } else { place };
            }
            b')' if depth > 0 => depth -= 1,
            b',' if depth == 1 => place += 1,
            b',' | b' ' | b'\n' | b'\t' | b'\r' | b'N' => (),
            b'\'' | b'"' => {
                let quote = scan.bytes[at];
                let Some(length) = scan.bytes[at + 1..to]
                    .iter()
                    .position(|byte| *byte == quote)
                else {
                    return;
                };
                let inner = at + 1..at + 1 + length;
                if depth == 1
                    && place == column
                    && judge(name, Style::Quoted, &scan.text[inner.clone()])
                {
                    scan.take(inner.clone(), "secret");
                }
                at = inner.end;
            }
            _ if depth == 0 => return,
            _ => (),
        }
        at += 1;
    }
}
