//! Lines that were made for a terminal, with the colors of [`render::paint`], converted for
//! ratatui.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::render;

/// Returns a line with its colors. Other control characters become visible.
pub(super) fn line(text: &str) -> Line<'static> {
    let spans = pieces(text)
        .into_iter()
        .map(|(style, piece)| Span::styled(render::printable(piece), style));
    Line::from(spans.collect::<Vec<_>>())
}

/// Returns a line without its color codes.
pub(super) fn plain(text: &str) -> String {
    pieces(text).into_iter().map(|(_, piece)| piece).collect()
}

fn pieces(text: &str) -> Vec<(Style, &str)> {
    let (mut pieces, mut style) = (Vec::new(), Style::new());
    for part in text.split("\x1b[") {
        // The first part is what comes before any color, even where that is nothing.
        let coded = part
            .split_once('m')
            .filter(|_| !std::ptr::eq(part.as_ptr(), text.as_ptr()));
        let piece = match coded.and_then(|(code, rest)| Some((style_of(code)?, rest))) {
            Some((next, rest)) => {
                style = next;
                rest
            }
            None => part,
        };
        if !piece.is_empty() {
            pieces.push((style, piece));
        }
    }
    pieces
}

/// Knows the codes of [`render::paint`].
fn style_of(code: &str) -> Option<Style> {
    Some(match code {
        "0" => Style::new(),
        "1" => Style::new().add_modifier(Modifier::BOLD),
        "2" => Style::new().add_modifier(Modifier::DIM),
        "31" => Style::new().fg(Color::Red),
        "32" => Style::new().fg(Color::Green),
        "33" => Style::new().fg(Color::Yellow),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_become_styles_and_nothing_else_gets_through() {
        let text = "a \x1b[32minject\x1b[0m then \x1b[2Jb\x07";
        let line = line(text);
        let spans: Vec<_> = line
            .spans
            .iter()
            .map(|span| (span.content.as_ref(), span.style.fg))
            .collect();
        assert_eq!(
            spans,
            [
                ("a ", None),
                ("inject", Some(Color::Green)),
                (" then ", None),
                ("2Jb\\x07", None)
            ]
        );
        assert_eq!(plain("1m \x1b[1mmen\x1b[0m"), "1m men");
    }
}
