//! Whatever a text is and wherever it is cut, what is stored of it is a text. `PROPTEST_CASES=20000` looks longer.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::built_in;
use crate::words::WORDS;

/// What has a meaning in some syntax, or more bytes than characters.
const SIGNS: &str = "= : := => == -> , ; . .. / // \\ \\\\ \\\" \" ' ` '' \"\"\" “ » ( ) [ ] [[ { } {{ < > </ <<E <<< | ! & * # % $ $( ${ @ ~ - --                      -p --user -u 密 密码 пароль ß é 💥 \u{301} \u{200b} \u{1b}[1m \u{fffd} 🔑";

/// A part of a form, cut at any byte: what is cut of a character becomes another one.
fn cut() -> impl Strategy<Value = String> {
    let forms = [
        include_str!("forms/secrets.jsonl"),
        include_str!("forms/ordinary.jsonl"),
    ];
    let texts = forms.iter().flat_map(|table| table.lines()).map(|line| {
        let form: Value = serde_json::from_str(&line.replace('¦', "")).expect("a form");
        form["text"].as_str().expect("its text").to_owned()
    });
    let texts: Vec<_> = texts.collect();
    let ends = any::<(Index, Index)>();
    (select(texts), ends).prop_map(|(text, (one, other))| {
        let (one, other) = (one.index(text.len() + 1), other.index(text.len() + 1));
        let bytes = &text.as_bytes()[one.min(other)..one.max(other)];
        String::from_utf8_lossy(bytes).into_owned()
    })
}

fn pieces() -> impl Strategy<Value = String> {
    let names = &WORDS.names;
    let names = names.stems.iter().chain(&names.suffixes);
    let words = names
        .chain(&WORDS.payload.values)
        .chain(&WORDS.payload.names);
    let literals = WORDS.addresses.values().chain(WORDS.blocks.values());
    let words = words.chain(literals.flatten()).cloned();
    let signs = SIGNS.split(' ').map(str::to_owned);
    let piece = prop_oneof![
        4 => cut(),
        3 => select(words.collect::<Vec<_>>()),
        3 => select(signs.collect::<Vec<_>>()),
        2 => "[ \n\t]",
        2 => "[0-9]{1,9}[ -]?",
        2 => "[A-Za-z0-9]{1,24}",
        1 => any::<String>(),
    ];
    // What is repeated reaches over the ends of what is looked at.
    (piece, prop_oneof![3 => Just(1), 1 => 2..60_usize])
        .prop_map(|(piece, times)| piece.repeat(times))
}

/// Their values ended outside of the text, or inside a character.
#[test]
fn groups_of_digits_tags_and_names_of_other_scripts_end_where_characters_do() {
    let long = "密".repeat(40);
    let texts = [
        "if (password 000000 000".to_owned(),
        "password: 12345678 123é".to_owned(),
        format!("password: !{}é2b3c4d5e", "x".repeat(46)),
        format!("authorization: !a{long} Bearer a1b2c3d4e5f6"),
        format!("{long}ддпароль: a1b2c3d4 пароль{long}дд"),
        format!("{long}é密码: a1b2c3d4 密码é{long}"),
        format!("password=<<<{}", "é".repeat(3000)),
    ];
    for text in texts {
        let once = built_in().text(&text);
        assert_eq!(built_in().text(&once), once);
    }
    // A key of many words is read in bounded depth.
    let key = "word ".repeat(200_000);
    let mut payload = json!({ "tool_input": { key: "a1b2c3d4" } });
    let raw = payload.to_string();
    assert_eq!(built_in().payload(&mut payload, &raw), None);
}

proptest! {
    #[test]
    fn any_text_in_any_place_is_redacted(texts in prop::collection::vec(pieces(), 0..12)) {
        let text = texts.concat();
        // What is repeated more often than there are rounds may not settle.
        let once = built_in().text(&text).into_owned();
        prop_assert_eq!(built_in().text(&once).is_empty(), text.is_empty());
        let mut payload = json!({ "tool_input": { text.clone(): texts, "name": &text, "value": [&text, { "password": text }] } });
        let raw = payload.to_string();
        if let Some(text) = built_in().payload(&mut payload, &raw) {
            prop_assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), payload);
        }
    }
}
