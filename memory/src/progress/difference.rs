//! Names where a file differs from the document that was rendered into it.

/// Returns in one sentence where `found` differs from `rendered`; `None` if it does not. It quotes nothing of `found`,
/// whose author is unknown.
pub fn difference(rendered: &str, found: &str) -> Option<String> {
    if rendered == found {
        return None;
    }
    let (old, new): (Vec<&str>, Vec<&str>) = (rendered.lines().collect(), found.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let before = old.iter().zip(&new).take_while(same).count();
    let after = old[before..].iter().rev();
    let after = after
        .zip(new[before..].iter().rev())
        .take_while(same)
        .count();
    let (gone, come) = (old.len() - before - after, new.len() - before - after);
    let lines = |count: usize| match count {
        1 => format!("line {}", before + 1),
        count => format!("lines {} to {}", before + 1, before + count),
    };
    let what = match (gone, come) {
        (0, 0) => return Some("its line breaks differ".to_owned()),
        (0, _) => format!("{} added", lines(come)),
        (_, 0) => format!("{} of the document missing", lines(gone)),
        _ => format!("{} changed", lines(come)),
    };
    let heading = old[..before]
        .iter()
        .rev()
        .find(|line| line.starts_with("## "));
    Some(match heading {
        Some(heading) => format!("{what}, in the section {}", &heading[3..]),
        None => what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_is_named_and_nothing_is_quoted() {
        let rendered = "# Title\n\n## One\n\na\nb\n\n## Two\n\nc\n";
        for (found, expected) in [
            (rendered.to_owned(), None),
            (
                format!("{rendered}rm -rf /\n"),
                Some("line 11 added, in the section Two"),
            ),
            (
                rendered.replace("a\nb\n", ""),
                Some("lines 5 to 6 of the document missing, in the section One"),
            ),
            (
                rendered.replace("a\n", "x\ny\n"),
                Some("lines 5 to 6 changed, in the section One"),
            ),
            (rendered.replace("# Title", "x"), Some("line 1 changed")),
            (
                rendered.replace('\n', "\r\n"),
                Some("its line breaks differ"),
            ),
            (
                rendered.trim_end().to_owned(),
                Some("its line breaks differ"),
            ),
            (String::new(), Some("lines 1 to 10 of the document missing")),
        ] {
            assert_eq!(
                difference(rendered, &found).as_deref(),
                expected,
                "{found:?}"
            );
        }
    }
}
