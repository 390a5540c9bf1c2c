//! The packages of a work tree.

use journal::Package;
use serde_json::Value;

use super::file::{ProjectFile, file_name, folder, manifests};
use super::monorepo;
use super::values::{at, of_json, of_toml};

/// Returns the folders that hold a manifest; the top is always a package.
pub(super) fn packages(files: &[ProjectFile]) -> Vec<Package> {
    let mut found = vec![Package::default()];
    for file in files {
        let name = match file_name(&file.path) {
            "package.json" | "project.json" => text(&of_json(&file.text), &["name"]),
            "Cargo.toml" => text(&of_toml(&file.text), &["package", "name"]),
            "pyproject.toml" => text(&of_toml(&file.text), &["project", "name"]),
            "go.mod" => {
                let module = file
                    .text
                    .lines()
                    .find_map(|line| line.strip_prefix("module "));
                module.unwrap_or_default().trim().to_owned()
            }
            // Others do not say how their package is called.
            name if manifests().any(|known| known == name) => String::new(),
            _ => continue,
        };
        let folder = folder(&file.path);
        match found.iter_mut().find(|package| package.folder == folder) {
            Some(package) if package.name.is_empty() => package.name = name,
            Some(_) => {}
            None => found.push(Package {
                folder: folder.to_owned(),
                name,
                member_of: String::new(),
            }),
        }
    }
    monorepo::note_members(&mut found, files);
    found
}

fn text(file: &Value, keys: &[&str]) -> String {
    let text = at(file, keys).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}
