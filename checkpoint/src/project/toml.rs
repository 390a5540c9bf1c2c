//! TOML: what the readers of manifests and task files share.

use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::commands::Commands;

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
pub(super) fn texts(item: Option<&Item>) -> Vec<&str> {
    let listed = item.and_then(Item::as_array).into_iter().flatten();
    let listed = listed.filter_map(Value::as_str);
    listed.chain(item.and_then(Item::as_str)).collect()
}

/// Aliases of `.cargo/config.toml`.
pub(super) fn cargo_aliases(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let file = read(text);
    for (name, alias) in entries(&file, &["alias"]) {
        let call = format!("cargo {}", texts(Some(alias)).join(" "));
        add(name, Commands::from_iter([call]));
    }
}
