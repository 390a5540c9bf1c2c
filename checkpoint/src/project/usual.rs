//! The usual commands of tools whose projects need no tasks of their own.

use journal::{Package, Task};

use super::file::{ProjectFile, file_name, folder};

/// The runner of tasks that no file defines.
pub(crate) const RUNNER: &str = "usual";

/// What a tool's project is tested and built with.
struct Usual {
    /// The file that every such project has.
    manifest: &'static str,
    /// Files of which one has to be in the same folder or at the top; none if empty.
    beside: &'static [&'static str],
    /// The tests, and the build; empty if there is no usual one.
    commands: [&'static str; 2],
    /// The tool by which a member of a workspace is chosen, and the commands for that: `{name}`, `{folder}`, `{path}` (with
    /// colons).
    member: Option<(&'static str, [&'static str; 2])>,
}

const fn usual(
    manifest: &'static str,
    beside: &'static [&'static str],
    tests: &'static str,
    build: &'static str,
) -> Usual {
    Usual {
        manifest,
        beside,
        commands: [tests, build],
        member: None,
    }
}

/// The more specific before the more general.
const TABLE: &[Usual] = &[
    Usual {
        member: Some((
            "gradle",
            ["./gradlew :{path}:test", "./gradlew :{path}:assemble"],
        )),
        ..usual(
            "build.gradle",
            &["gradlew"],
            "./gradlew test",
            "./gradlew assemble",
        )
    },
    Usual {
        member: Some((
            "gradle",
            ["./gradlew :{path}:test", "./gradlew :{path}:assemble"],
        )),
        ..usual(
            "build.gradle.kts",
            &["gradlew"],
            "./gradlew test",
            "./gradlew assemble",
        )
    },
    Usual {
        member: Some(("gradle", ["gradle :{path}:test", "gradle :{path}:assemble"])),
        ..usual("build.gradle", &[], "gradle test", "gradle assemble")
    },
    Usual {
        member: Some(("gradle", ["gradle :{path}:test", "gradle :{path}:assemble"])),
        ..usual("build.gradle.kts", &[], "gradle test", "gradle assemble")
    },
    Usual {
        member: Some((
            "mvn",
            ["./mvnw -pl {folder} test", "./mvnw -pl {folder} compile"],
        )),
        ..usual("pom.xml", &["mvnw"], "./mvnw test", "./mvnw compile")
    },
    Usual {
        member: Some(("mvn", ["mvn -pl {folder} test", "mvn -pl {folder} compile"])),
        ..usual("pom.xml", &[], "mvn test", "mvn compile")
    },
    Usual {
        member: Some(("cargo", ["cargo test -p {name}", "cargo build -p {name}"])),
        ..usual("Cargo.toml", &[], "cargo test", "cargo build")
    },
    Usual {
        member: Some(("go", ["go test ./{folder}/...", "go build ./{folder}/..."])),
        ..usual("go.mod", &[], "go test ./...", "go build ./...")
    },
    usual("build.sbt", &[], "sbt test", "sbt compile"),
    usual("mix.exs", &[], "mix test", "mix compile"),
    usual("rebar.config", &[], "rebar3 eunit", "rebar3 compile"),
    usual("gleam.toml", &[], "gleam test", "gleam build"),
    usual("Package.swift", &[], "swift test", "swift build"),
    usual("build.zig", &[], "zig build test", "zig build"),
    usual("stack.yaml", &[], "stack test", "stack build"),
    usual("cabal.project", &[], "cabal test", "cabal build"),
    usual("dune-project", &[], "dune test", "dune build"),
    usual(
        "CMakeLists.txt",
        &[],
        "ctest --test-dir build",
        "cmake --build build",
    ),
    usual(
        "meson.build",
        &[],
        "meson test -C build",
        "meson compile -C build",
    ),
    usual("Gemfile", &[".rspec"], "bundle exec rspec", ""),
    usual("Gemfile", &["bin/rails"], "bin/rails test", ""),
    usual("Gemfile", &["Rakefile"], "bundle exec rake test", ""),
    usual("composer.json", &["artisan"], "php artisan test", ""),
    usual(
        "composer.json",
        &["phpunit.xml", "phpunit.xml.dist"],
        "vendor/bin/phpunit",
        "",
    ),
    usual(
        "DESCRIPTION",
        &["NAMESPACE"],
        "Rscript -e 'devtools::test()'",
        "R CMD build .",
    ),
    usual(
        "Project.toml",
        &["test/runtests.jl"],
        "julia --project -e 'using Pkg; Pkg.test()'",
        "",
    ),
    usual("elm.json", &[], "elm-test", ""),
];

/// Returns the tasks `test` and `build` of each package for which a tool has usual ones.
pub(super) fn tasks(files: &[ProjectFile], packages: &[Package]) -> Vec<Task> {
    let has = |place: &str, name: &str| {
        let path = if place.is_empty() {
            name.to_owned()
        } else {
            format!("{place}/{name}")
        };
        files.iter().any(|file| file.path == path)
    };
    let mut found: Vec<Task> = Vec::new();
    for file in files {
        let place = folder(&file.path);
        let is_there = |name: &&str| has(place, name) || has("", name);
        let rows = TABLE
            .iter()
            .filter(|row| row.manifest == file_name(&file.path));
        let Some(row) = rows
            .into_iter()
            .find(|row| row.beside.is_empty() || row.beside.iter().any(&is_there))
        else {
            if file_name(&file.path) == "pubspec.yaml" {
                let tool = if file.text.contains("sdk: flutter") {
                    "flutter"
                } else {
                    "dart"
                };
                add(
                    &mut found,
                    place,
                    &[format!("{tool} test"), format!("{tool} analyze")],
                    place,
                );
            }
            continue;
        };
        let package = packages.iter().find(|package| package.folder == place);
        let member = row
            .member
            .filter(|(tool, _)| package.is_some_and(|package| package.member_of == *tool));
        let texts = match (member, package) {
            (Some((_, forms)), Some(package))
                if !forms[0].contains("{name}") || !package.name.is_empty() =>
            {
                forms.map(|form| {
                    form.replace("{name}", &package.name)
                        .replace("{folder}", place)
                        .replace("{path}", &place.replace('/', ":"))
                })
            }
            _ => {
                add(&mut found, place, &row.commands.map(str::to_owned), place);
                continue;
            }
        };
        add(&mut found, place, &texts, "");
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
