//! The page's own files, compiled in.

use actix_web::{HttpResponse, web};

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const ICON: &str = "image/svg+xml";

macro_rules! files {
    ($($name:literal: $kind:expr,)*) => {
        /// Name, type and text of each file.
        const FILES: &[(&str, &str, &str)] = &[$(($name, $kind, include_str!(concat!("assets/", $name))),)*];
    };
}

files! {
    "index.html": HTML,
    "style.css": CSS,
    "icon.svg": ICON,
    "app.js": SCRIPT,
    "api.js": SCRIPT,
    "dom.js": SCRIPT,
    "acts.js": SCRIPT,
    "keys.js": SCRIPT,
    "signs.js": SCRIPT,
    "format.js": SCRIPT,
    "words.js": SCRIPT,
    "now.js": SCRIPT,
    "timeline.js": SCRIPT,
    "lanes.js": SCRIPT,
    "scale.js": SCRIPT,
    "event.js": SCRIPT,
    "decision.js": SCRIPT,
    "whatif.js": SCRIPT,
    "trends.js": SCRIPT,
    "lookback.js": SCRIPT,
    "plot.js": SCRIPT,
}

/// Returns the page itself.
pub(super) async fn index() -> HttpResponse {
    send("index.html")
}

/// Its icon, where a browser looks for one that no page has told it of.
pub(super) async fn icon() -> HttpResponse {
    send("icon.svg")
}

pub(super) async fn file(name: web::Path<String>) -> HttpResponse {
    send(&name)
}

fn send(wanted: &str) -> HttpResponse {
    match FILES.iter().find(|(name, ..)| *name == wanted) {
        Some((_, kind, text)) => HttpResponse::Ok().content_type(*kind).body(*text),
        None => HttpResponse::NotFound().finish(),
    }
}

#[cfg(test)]
mod tests {
    use journal::Reason;

    use super::*;

    #[test]
    fn the_page_says_reasons_as_the_commands_do() {
        let file = FILES.iter().find(|(name, ..)| *name == "format.js");
        let (.., script) = file.expect("a file");
        for reason in Reason::ALL {
            let line = format!("\n  {}: '{}',\n", reason.word(), reason.words());
            assert!(script.contains(&line), "{line}");
        }
    }
}
