//! TOML: what the readers of manifests and task files share.

use toml_edit::{DocumentMut, Item, TableLike, Value};

/// Reads a file; an empty table if it is no TOML.
pub(super) fn read(text: &str) -> DocumentMut {
    text.parse().unwrap_or_default()
}

/// Returns a table within a file, by its keys.
pub(super) fn table<'a>(file: &'a DocumentMut, keys: &[&str]) -> Option<&'a dyn TableLike> {
    let mut item = file.as_item();
    for key in keys {
        item = item.get(key)?;
    }
    item.as_table_like()
}

/// Returns the entries of a table within a file; none if that is not a table.
pub(super) fn entries<'a>(
    file: &'a DocumentMut,
    keys: &[&str],
) -> impl Iterator<Item = (&'a str, &'a Item)> {
    table(file, keys).into_iter().flat_map(TableLike::iter)
}

/// Returns a text, or the texts of a list.
pub(super) fn texts(item: Option<&Item>) -> Vec<String> {
    match item {
        Some(item) if item.is_array() => {
            let values = item.as_array().into_iter().flatten();
            values
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        }
        Some(item) => item.as_str().map(str::to_owned).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Aliases of `.cargo/config.toml`.
pub(super) fn cargo_aliases(text: &str, add: &mut dyn FnMut(&str, String)) {
    let file = read(text);
    for (name, alias) in entries(&file, &["alias"]) {
        add(name, format!("cargo {}", texts(Some(alias)).join(" ")));
    }
}
