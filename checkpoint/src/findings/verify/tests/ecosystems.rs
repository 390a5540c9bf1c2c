//! Projects of many languages: what is asked for, and what is enough.

use super::*;
use crate::project::{ProjectFile, Sources, workspace};

/// Tests that cover the changed file, where one does.
const TEST_FILES: [&str; 4] = [
    "spec/cart_spec.rb",
    "tests/testthat.R",
    "test/cart_test.exs",
    "test/runtests.jl",
];

/// Returns a workspace of a project with these files, in which a test covers each file of `covered`.
fn known(files: &[(&str, &str)], changed: &str, covered: bool) -> Workspace {
    let files: Vec<ProjectFile> = files
        .iter()
        .map(|(path, text)| ProjectFile {
            path: (*path).into(),
            text: (*text).into(),
        })
        .collect();
    let changed_files = [ChangedFile {
        path: changed.into(),
        hash: Some(1),
    }];
    let sources = Sources {
        listed: &[],
        complete: true,
        beginning: &|_| None,
        rust_tests_in: &|_| false,
    };
    let mut known = workspace(&files, &changed_files, &sources);
    known.covered.clear();
    if covered {
        let tests = TEST_FILES.map(String::from).to_vec();
        known.covered.push((changed.into(), tests));
    }
    known
}

/// An ecosystem: its files, a changed file, the command that is asked for if a test covers it and if none does, commands
/// that are enough for tests, for a build only, and for neither.
pub(super) struct Case {
    pub(super) files: &'static [(&'static str, &'static str)],
    pub(super) changed: &'static str,
    pub(super) asks: [&'static str; 2],
    pub(super) tests: &'static [&'static str],
    pub(super) builds: &'static [&'static str],
    pub(super) neither: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        files: &[("Gemfile", ""), (".rspec", "")],
        changed: "lib/cart.rb",
        asks: ["bundle exec rspec", ""],
        tests: &[
            "bundle exec rspec",
            "rspec spec/cart_spec.rb",
            "bin/rails test",
            "bundle exec rake test",
            "rake spec",
        ],
        builds: &["srb tc", "ruby lib/cart.rb"],
        neither: &[
            "rubocop",
            "ruby -c lib/cart.rb",
            "rspec --dry-run",
            "pytest",
        ],
    },
    Case {
        files: &[
            ("Gemfile", ""),
            (
                "Rakefile",
                "task default: [:spec, :rubocop]\nRSpec::Core::RakeTask.new(:spec)\nRuboCop::RakeTask.new\ntask :style => [:rubocop]\n",
            ),
        ],
        changed: "lib/cart.rb",
        asks: ["rake spec", ""],
        tests: &["bundle exec rake", "rake default"],
        builds: &[],
        neither: &["rake style"],
    },
    Case {
        files: &[("composer.json", "{}"), ("phpunit.xml.dist", "")],
        changed: "src/Cart.php",
        asks: ["vendor/bin/phpunit", ""],
        tests: &[
            "vendor/bin/phpunit",
            "php vendor/bin/phpunit tests",
            "php artisan test",
            "vendor/bin/pest",
            "composer test:unit",
        ],
        builds: &["vendor/bin/phpstan analyse", "php src/Cart.php"],
        neither: &[
            "php -l src/Cart.php",
            "vendor/bin/php-cs-fixer fix",
            "phpunit --list-tests",
        ],
    },
    Case {
        files: &[("build.gradle.kts", ""), ("gradlew", "")],
        changed: "src/main/kotlin/Cart.kt",
        asks: ["./gradlew test", "./gradlew assemble"],
        tests: &[
            "./gradlew test",
            "./gradlew check",
            "./gradlew clean build",
            "gradle :test --tests CartTest",
            "./gradlew integrationTest",
        ],
        builds: &[
            "./gradlew assemble",
            "./gradlew compileKotlin",
            "./gradlew testClasses",
            "./gradlew build -x test",
        ],
        neither: &[
            "./gradlew ktlintCheck",
            "./gradlew spotlessApply",
            "./gradlew dependencies",
            "./gradlew test --dry-run",
        ],
    },
    Case {
        files: &[
            ("settings.gradle.kts", "include(\":core\", \":web:api\")\n"),
            ("build.gradle.kts", ""),
            ("gradlew", ""),
            (
                "web/api/build.gradle.kts",
                "tasks.register(\"verifyAll\") {\n  dependsOn(\"test\", \"detekt\")\n}\ntasks.register(\"docs\") {\n  commandLine(\"mkdocs\", \"build\")\n}\n",
            ),
        ],
        changed: "web/api/src/main/kotlin/Cart.kt",
        asks: [
            "./gradlew :web:api:verifyAll",
            "./gradlew :web:api:assemble",
        ],
        tests: &[
            "./gradlew :web:api:verifyAll",
            "./gradlew :web:api:test",
            "./gradlew test",
        ],
        builds: &["./gradlew :web:api:assemble"],
        neither: &["./gradlew :web:api:docs", "./gradlew :core:test"],
    },
    Case {
        files: &[
            ("pom.xml", "<modules><module>web</module></modules>"),
            ("web/pom.xml", ""),
            ("mvnw", ""),
        ],
        changed: "web/src/main/java/Cart.java",
        asks: ["./mvnw -pl web test", "./mvnw -pl web compile"],
        tests: &["./mvnw -pl web test", "mvn verify", "mvn -q package"],
        builds: &[
            "mvn compile",
            "./mvnw -pl web compile",
            "mvn package -DskipTests",
        ],
        neither: &["mvn dependency:tree", "mvn -pl core test"],
    },
    Case {
        files: &[("build.sbt", "")],
        changed: "src/main/scala/Cart.scala",
        asks: ["sbt test", "sbt compile"],
        tests: &["sbt test", "sbt 'testOnly CartSpec'", "scala-cli test ."],
        builds: &["sbt compile", "scala-cli compile ."],
        neither: &["scalafmt", "sbt scalafmtCheck"],
    },
    Case {
        files: &[("CMakeLists.txt", "")],
        changed: "src/cart.cpp",
        asks: ["ctest --test-dir build", "cmake --build build"],
        tests: &[
            "ctest --test-dir build",
            "cmake --build build --target test",
            "ninja -C build test",
        ],
        builds: &[
            "cmake --build build",
            "g++ -c src/cart.cpp",
            "ninja -C build",
        ],
        neither: &[
            "clang-format -i src/cart.cpp",
            "cppcheck src",
            "ctest -N",
            "cmake -S . -B build",
        ],
    },
    Case {
        files: &[],
        changed: "src/Cart.cs",
        asks: ["dotnet test", "dotnet build"],
        tests: &["dotnet test", "dotnet test tests/Cart.Tests --no-build"],
        builds: &["dotnet build", "dotnet publish -c Release", "dotnet run"],
        neither: &[
            "dotnet format",
            "dotnet restore",
            "dotnet test --list-tests",
        ],
    },
    Case {
        files: &[("Package.swift", "")],
        changed: "Sources/Cart/Cart.swift",
        asks: ["swift test", "swift build"],
        tests: &[
            "swift test",
            "swift test --filter CartTests",
            "xcodebuild test -scheme Cart",
            "xcodebuild test-without-building",
        ],
        builds: &["swift build", "swift run", "xcodebuild -scheme Cart build"],
        neither: &["swiftlint", "swift test list", "swift package resolve"],
    },
    Case {
        files: &[("mix.exs", "")],
        changed: "lib/cart.ex",
        asks: ["mix test", "mix compile"],
        tests: &["mix test", "MIX_ENV=test mix test test/cart_test.exs"],
        builds: &["mix compile --warnings-as-errors", "mix dialyzer"],
        neither: &["mix format", "mix credo", "mix deps.get"],
    },
    Case {
        files: &[],
        changed: "main.tf",
        asks: ["terraform test", "terraform validate"],
        tests: &["terraform test", "tofu test"],
        builds: &[
            "terraform validate",
            "terraform plan -out p",
            "tofu validate",
        ],
        neither: &["terraform fmt", "tflint", "terraform init"],
    },
    Case {
        files: &[],
        changed: "bin/sync.sh",
        asks: ["", ""],
        tests: &["bats test", "shellspec"],
        builds: &["./bin/sync.sh --all", "bash bin/sync.sh"],
        neither: &[
            "bash -n bin/sync.sh",
            "chmod +x bin/sync.sh",
            "bats --count test",
        ],
    },
    Case {
        files: &[("cabal.project", "")],
        changed: "src/Cart.hs",
        asks: ["cabal test", "cabal build"],
        tests: &["cabal test all", "stack test", "cabal v2-test"],
        builds: &[
            "cabal build",
            "stack build",
            "ghc -O src/Cart.hs",
            "cabal run cart",
        ],
        neither: &[
            "hlint src",
            "ormolu -i src/Cart.hs",
            "cabal update",
            "cargo test",
        ],
    },
    Case {
        files: &[(
            "pubspec.yaml",
            "dependencies:\n  flutter:\n    sdk: flutter\n",
        )],
        changed: "lib/cart.dart",
        asks: ["flutter test", "flutter analyze"],
        tests: &["flutter test", "fvm flutter test", "dart test"],
        builds: &[
            "flutter analyze",
            "dart compile exe lib/cart.dart",
            "flutter build apk",
        ],
        neither: &["dart format .", "flutter pub get"],
    },
    Case {
        files: &[("build.zig", "")],
        changed: "src/cart.zig",
        asks: ["zig build test", "zig build"],
        tests: &["zig build test", "zig test src/cart.zig"],
        builds: &[
            "zig build",
            "zig build-exe src/cart.zig",
            "zig run src/cart.zig",
        ],
        neither: &["zig fmt src", "cargo test"],
    },
    Case {
        files: &[("DESCRIPTION", "Package: cart\n"), ("NAMESPACE", "")],
        changed: "R/cart.R",
        asks: ["Rscript -e 'devtools::test()'", "R CMD build ."],
        tests: &[
            "Rscript -e 'devtools::test()'",
            "R CMD check .",
            "Rscript tests/testthat.R",
        ],
        builds: &["R CMD build .", "Rscript R/cart.R"],
        neither: &[
            "Rscript -e 'styler::style_pkg()'",
            "Rscript -e 'library(cart)'",
        ],
    },
    Case {
        files: &[
            ("Project.toml", "name = \"Cart\"\n"),
            ("test/runtests.jl", ""),
        ],
        changed: "src/Cart.jl",
        asks: ["julia --project -e 'using Pkg; Pkg.test()'", ""],
        tests: &[
            "julia --project -e 'using Pkg; Pkg.test()'",
            "julia --project test/runtests.jl",
        ],
        builds: &["julia src/Cart.jl"],
        neither: &["julia -e 'using Pkg; Pkg.instantiate()'"],
    },
];

/// Returns the command that a demand names.
fn named(asked: &str) -> &str {
    let line = asked.lines().last().unwrap_or_default();
    let (_, after) = line.split_once(" (`").unwrap_or_default();
    after.split_once("`)").map_or("", |(command, _)| command)
}

/// Fails with everything that the cases say otherwise.
pub(super) fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for case in cases {
        let edit = format!("edit {}", case.changed);
        for (covered, asks) in [true, false].into_iter().zip(case.asks) {
            let known = known(case.files, case.changed, covered);
            let due = asked(&known, &[&edit]);
            if named(&due) != asks {
                wrong.push(format!("asks for {asks:?}, got\n{due}"));
            }
            let all = [
                (case.tests, true),
                (case.builds, !covered),
                (case.neither, false),
            ];
            for (commands, enough) in all {
                for command in commands {
                    // A single test is about what it covers.
                    if !covered && TEST_FILES.iter().any(|file| command.contains(file)) {
                        continue;
                    }
                    let asked = asked(&known, &[&edit, &format!("$ {command}")]);
                    if asked.ends_with("    -") != enough {
                        wrong.push(format!("covered: {covered}, enough: {enough}\n{asked}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn projects_of_many_languages() {
    check(CASES);
}
