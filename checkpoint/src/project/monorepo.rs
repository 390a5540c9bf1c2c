//! Tools that work on several packages: whose workspaces there are.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use journal::Package;
use serde_json::Value;

use super::file::{ProjectFile, file_name};
use super::package_json;
use super::values::{at, of_json, of_toml, of_yaml, texts};

/// Notes for each package by which tool it can be chosen from the top.
pub(super) fn note_members(packages: &mut [Package], files: &[ProjectFile]) {
    for file in files.iter().filter(|file| !file.path.contains('/')) {
        let Some((tool, globs)) = members(file, files) else {
            continue;
        };
        let (left_out, taken): (Vec<&str>, Vec<&str>) = globs
            .iter()
            .map(String::as_str)
            .partition(|glob| glob.starts_with('!'));
        let left_out = set(left_out.iter().map(|glob| &glob[1..]));
        let taken = set(taken.into_iter());
        for package in packages
            .iter_mut()
            .filter(|package| !package.folder.is_empty())
        {
            let is_member = taken.is_match(&package.folder) && !left_out.is_match(&package.folder);
            if package.member_of.is_empty() && is_member {
                tool.clone_into(&mut package.member_of);
            }
        }
    }
}

/// Returns the tool of a file that names the members of a workspace, and their folders as globs.
fn members<'a>(file: &'a ProjectFile, files: &[ProjectFile]) -> Option<(&'a str, Vec<String>)> {
    let text = file.text.as_str();
    Some(match file_name(&file.path) {
        "pnpm-workspace.yaml" => ("pnpm", owned(of_yaml(text).get("packages"))),
        "package.json" => {
            let package = of_json(text);
            let listed = package.get("workspaces")?;
            let tool = package_json::runner(file, files);
            let members = owned(listed.get("packages").or(Some(listed)));
            // pnpm has a file of its own for them.
            (tool, if tool == "pnpm" { Vec::new() } else { members })
        }
        "Cargo.toml" => {
            let members = owned(at(&of_toml(text), &["workspace", "members"]));
            ("cargo", members)
        }
        "settings.gradle" | "settings.gradle.kts" => ("gradle", included(text)),
        "pom.xml" => {
            let modules = text.split("<module>").skip(1);
            let names = modules.filter_map(|rest| rest.split_once("</module>"));
            (
                "mvn",
                names.map(|(name, _)| name.trim().to_owned()).collect(),
            )
        }
        "go.work" => {
            let words = text
                .lines()
                .map(|line| line.trim().trim_start_matches("use").trim());
            let folders = words.filter_map(|word| word.strip_prefix("./"));
            ("go", folders.map(str::to_owned).collect())
        }
        _ => return None,
    })
}

fn owned(list: Option<&Value>) -> Vec<String> {
    texts(list).into_iter().map(str::to_owned).collect()
}

/// Returns the folders that globs choose; none if they are too large.
fn set<'a>(globs: impl Iterator<Item = &'a str>) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        if let Ok(glob) = GlobBuilder::new(glob).literal_separator(true).build() {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// Returns the folders of the projects that a settings file of Gradle includes.
fn included(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut within = false;
    for line in text.lines().map(str::trim) {
        within |= line.starts_with("include") && !line.starts_with("includeBuild");
        if within {
            let names = line.split(['"', '\'']).skip(1).step_by(2);
            found.extend(names.map(|name| name.trim_start_matches(':').replace(':', "/")));
            within = line.ends_with([',', '(']);
        }
    }
    found
}
