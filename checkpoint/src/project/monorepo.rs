//! Tools that work on several packages: whose workspaces there are, and the tasks of turbo and nx.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use journal::Package;
use serde_json::Value;

use super::commands::Commands;
use super::file::{ProjectFile, file_name};
use super::gradle::included;
use super::json::{entries, list};
use super::package_json;
use super::toml::{read, table, texts};
use crate::catalogue::Catalogue;
use crate::config::yaml;

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
        "pnpm-workspace.yaml" => ("pnpm", texts_of(yaml::value(text)?.get("packages")?)),
        "package.json" => {
            let package: Value = serde_json::from_str(text).ok()?;
            let listed = package.get("workspaces")?;
            let tool = package_json::runner(file, files);
            let members = texts_of(listed.get("packages").unwrap_or(listed));
            // pnpm has a file of its own for them.
            (tool, if tool == "pnpm" { Vec::new() } else { members })
        }
        "Cargo.toml" => {
            let file = read(text);
            let members = texts(table(&file, &["workspace"])?.get("members"));
            ("cargo", members.into_iter().map(str::to_owned).collect())
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

fn texts_of(value: &Value) -> Vec<String> {
    let values = value.as_array().into_iter().flatten();
    values
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
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

/// Tasks that turbo.json defines; what they run is the script of that name in each package.
pub(super) fn turbo_tasks(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let config: Value = serde_json::from_str(text).unwrap_or_default();
    // Before turbo 2, `tasks` was `pipeline`.
    for (name, _) in entries(&config, "tasks").chain(entries(&config, "pipeline")) {
        let name = name.rsplit('#').next().unwrap_or(name);
        add(name, Commands::default());
    }
}

/// Targets of a project.json of nx: their commands, or the tool of their executor.
pub(super) fn nx_targets(text: &str, add: &mut dyn FnMut(&str, Commands)) {
    let project: Value = serde_json::from_str(text).unwrap_or_default();
    for (name, target) in entries(&project, "targets") {
        let options = target.get("options");
        let command = target
            .get("command")
            .or_else(|| options?.get("command"))
            .and_then(Value::as_str);
        let commands = options.and_then(|options| options.get("commands"));
        let mut lines: Commands = command.into_iter().collect();
        for line in list(commands) {
            let line = line.as_str().or_else(|| line.get("command")?.as_str());
            lines.extend(line);
        }
        let executor = target
            .get("executor")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let languages = Catalogue::built_in().languages().iter();
        let mut executors = languages.flat_map(|language| &language.executors);
        let tool = executors.find(|(end, _)| executor.ends_with(end.as_str()));
        lines.extend(tool.map(|(_, tool)| tool));
        add(name, lines);
    }
}
