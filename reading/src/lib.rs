//! What command lines, outputs and manifests say, and the catalogue of programs and languages by which they are read.
//!
//! Pure, like the core: texts are passed in. Nothing in here knows an agent, a rule or a session.

pub mod catalogue;
pub mod comments;
pub mod digest;
pub mod manifest;
pub mod outcome;
pub mod shell;
pub mod text;
pub mod written;

/// Reads a YAML file of the program, given by name and text. It goes through values: reading a type from YAML takes ten
/// times the code of reading it from them.
///
/// # Panics
///
/// Panics if the text is not what the type asks for. The tests read every such file.
pub fn built_in<T: serde::de::DeserializeOwned>(name: &str, text: &str) -> T {
    let value = serde_saphyr::from_str::<serde_json::Value>(text);
    let value = value.unwrap_or_else(|error| panic!("{name}.yml: {error}"));
    serde_json::from_value(value).unwrap_or_else(|error| panic!("{name}.yml: {error}"))
}
