//! The values of statements. Each is read from the forms in which agents tend to write it.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A percentage, 0 to 100; written as `70` or `"70%"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Percent(pub u8);

impl Percent {
    /// Reads `70`, `70%` or `~70 %`.
    pub fn read(text: &str) -> Option<Self> {
        let digits = text
            .trim()
            .trim_start_matches(['~', '≈'])
            .trim_end_matches('%')
            .trim();
        digits
            .parse::<u8>()
            .ok()
            .filter(|percent| *percent <= 100)
            .map(Self)
    }
}

impl<'de> Deserialize<'de> for Percent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            _ => String::new(),
        };
        Self::read(&text).ok_or_else(|| D::Error::custom("expected a whole number from 0 to 100"))
    }
}

/// A list of short texts; one text alone is a list of one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Texts(pub Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Ok(Self(vec![text])),
            list @ Value::Array(_) => serde_json::from_value(list)
                .map(Self)
                .map_err(|_| D::Error::custom("expected a list of texts")),
            _ => Err(D::Error::custom("expected a list of texts")),
        }
    }
}

/// A choice that was made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The choice.
    pub decision: String,
    /// The reason.
    pub rationale: String,
    /// The agent's confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Percent>,
    /// Whether it can be reversed: `Yes` or `No`, possibly with the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reversible: Option<String>,
}

impl<'de> Deserialize<'de> for Decision {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Fields {
            decision: String,
            #[serde(default)]
            rationale: String,
            confidence: Option<Percent>,
            reversible: Option<Value>,
        }
        let value = Value::deserialize(deserializer)?;
        if let Value::String(decision) = value {
            return Ok(Self {
                decision,
                ..Self::default()
            });
        }
        let Fields {
            decision,
            rationale,
            confidence,
            reversible,
        } = serde_json::from_value(value).map_err(D::Error::custom)?;
        let reversible = match reversible {
            Some(Value::Bool(is_so)) => Some(if is_so { "Yes" } else { "No" }.to_owned()),
            Some(Value::String(text)) => Some(text),
            None | Some(Value::Null) => None,
            Some(_) => return Err(D::Error::custom("`reversible` is true, false or a text")),
        };
        Ok(Self {
            decision,
            rationale,
            confidence,
            reversible,
        })
    }
}

/// Declares a file with words about it; read from an object or from one text, `file - words`.
macro_rules! about_file {
    ($(#[$meta:meta])* $name:ident { $file:ident, $(#[$words_meta:meta])* $words:ident }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct $name {
            /// The file, relative to the project if it is in the project.
            pub $file: String,
            $(#[$words_meta])*
            pub $words: String,
        }

        impl $name {
            /// Reads `file - words`, `file: words` or the file alone; the file may be in backticks.
            pub fn read(text: &str) -> Self {
                let ($file, $words) = file_and_words(text);
                Self { $file, $words }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(Deserialize)]
                #[serde(deny_unknown_fields)]
                struct Fields {
                    $file: String,
                    #[serde(default)]
                    $words: String,
                }
                match Value::deserialize(deserializer)? {
                    Value::String(text) => Ok(Self::read(&text)),
                    value => {
                        let Fields { $file, $words } = serde_json::from_value(value).map_err(D::Error::custom)?;
                        Ok(Self { $file, $words })
                    }
                }
            }
        }
    };
}

about_file! {
    /// The kind of change.
    FileNote { path,
        /// The change and its reason.
        changes }
}

about_file! {
    /// A file that has to be read, or can be skipped.
    Pointer { file,
        /// The reason.
        why }
}

fn file_and_words(text: &str) -> (String, String) {
    let text = text.trim();
    let plain = |file: &str| file.trim().trim_matches(['`', '*']).to_owned();
    if let Some((file, rest)) = text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        return (
            file.to_owned(),
            rest.trim_start_matches([' ', '-', '–', '—', ':'])
                .trim()
                .to_owned(),
        );
    }
    let split = [" - ", " – ", " — ", ": "]
        .iter()
        .filter_map(|by| text.find(by).map(|at| (at, by.len())))
        .min();
    match split {
        Some((at, length)) => (plain(&text[..at]), text[at + length..].trim().to_owned()),
        None => (plain(text), String::new()),
    }
}
