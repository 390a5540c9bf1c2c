//! The usual commands of tools whose projects need no tasks of their own.

use journal::{Package, Task};

use super::file::{ProjectFile, file_name, folder, join};
use crate::catalogue::{Catalogue, Project};

/// The runner of tasks that no file defines.
pub(crate) const RUNNER: &str = "usual";

/// Returns the tasks `test` and `build` of each package for which a tool has usual ones.
pub(super) fn tasks(files: &[ProjectFile], packages: &[Package]) -> Vec<Task> {
    let has = |place: &str, name: &str| files.iter().any(|file| file.path == join(place, name));
    let kinds = Catalogue::built_in()
        .languages()
        .iter()
        .flat_map(|language| &language.projects);
    let mut found: Vec<Task> = Vec::new();
    for file in files {
        let place = folder(&file.path);
        let is_there = |name: &String| has(place, name) || has("", name);
        let is_one = |kind: &&Project| {
            kind.manifest == file_name(&file.path)
                && file.text.contains(&kind.says)
                && (kind.beside.is_empty() || kind.beside.iter().any(is_there))
        };
        let Some(kind) = kinds.clone().find(is_one) else {
            continue;
        };
        let package = packages.iter().find(|package| package.folder == place);
        let member = kind.member.as_ref().zip(package);
        let member = member.filter(|(member, package)| {
            let is_named = !member.tests.contains("{name}") || !package.name.is_empty();
            package.member_of == member.of && is_named
        });
        if let Some((member, package)) = member {
            let texts = [&member.tests, &member.build].map(|form| {
                form.replace("{name}", &package.name)
                    .replace("{folder}", place)
                    .replace("{path}", &place.replace('/', ":"))
            });
            add(&mut found, place, &texts, "");
        } else {
            add(
                &mut found,
                place,
                &[kind.tests.clone(), kind.build.clone()],
                place,
            );
        }
    }
    found
}

/// Adds the tests and the build of a folder, which are called in another one.
fn add(found: &mut Vec<Task>, folder: &str, commands: &[String; 2], from: &str) {
    for (name, command) in ["test", "build"].into_iter().zip(commands) {
        let is_known = found
            .iter()
            .any(|task| task.folder == folder && task.text.ends_with(command.as_str()));
        if !command.is_empty() && !is_known {
            let text = if from.is_empty() {
                command.clone()
            } else {
                format!("cd {from} && {command}")
            };
            found.push(Task {
                folder: folder.to_owned(),
                runner: RUNNER.to_owned(),
                name: name.to_owned(),
                text,
            });
        }
    }
}
