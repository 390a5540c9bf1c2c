//! What a command does to verify code: it runs tests, builds, checks types, or runs the program.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::kind::Kind;
use super::names::kind_of_name;
use crate::project::covering::{Family, family};
use crate::project::task_calls::{chosen_sessions, tasks_of_gradle};
use crate::shell::{Pattern, Simple};

use Family::{
    Beam, Dart, Documents, DotNet, Go, Haskell, Julia, Jvm, Native, OCaml, Other, Php, Python, R,
    Ruby, Rust, Script, Swift, Terraform, Zig,
};

/// Commands by what they do and by the language of the code that they verify; `Other` is any language.
const TABLE: &[(Kind, Family, &str)] = &[
    (
        Kind::Tests,
        Script,
        "npm test, npm run *test, pnpm *test, yarn *test, bun *test, vitest, jest, mocha, ava, tap, node --test, playwright test, \
         cypress run, ng test, karma start, wdio run, deno test, qunit, web-test-runner, uvu, storybook test",
    ),
    (
        Kind::Tests,
        Python,
        "pytest, tox, nox, unittest, nose2, hatch test, django-admin test, behave, green, python *manage.py test",
    ),
    (
        Kind::Tests,
        Rust,
        "cargo test, cargo nextest, cargo llvm-cov, cargo tarpaulin, cargo insta test, cargo miri test, cargo mutants, trybuild",
    ),
    (Kind::Tests, Go, "go test, gotestsum, ginkgo, mage test"),
    (
        Kind::Tests,
        Jvm,
        "mvn test, mvn verify, mvn package, mvn install, mvnw test, mvnw verify, mvnw package, mvnw install, sbt *test, lein test, \
         clojure *test, mill *test, scala-cli test",
    ),
    (Kind::Tests, DotNet, "dotnet test, vstest"),
    (
        Kind::Tests,
        Swift,
        "swift test, xcodebuild test, xcodebuild test-without-building, fastlane *test, fastlane scan, tuist test",
    ),
    (
        Kind::Tests,
        Native,
        "ctest, meson test, ninja test, ninja check, cmake --build --target test, cmake --build --target check",
    ),
    (
        Kind::Tests,
        Ruby,
        "rspec, rake *test, rake *spec, rails *test, rails *spec, minitest, cucumber, parallel_test, parallel_rspec, m",
    ),
    (
        Kind::Tests,
        Php,
        "phpunit, pest, composer *test, paratest, artisan test, php *artisan test, codecept run, phpspec run, behat, sail test, \
         sail *phpunit, sail *pest",
    ),
    (
        Kind::Tests,
        Beam,
        "mix test, mix espec, rebar3 eunit, rebar3 ct, rebar3 proper, gleam test",
    ),
    (
        Kind::Tests,
        Dart,
        "flutter test, dart test, melos *test, very_good test, patrol test",
    ),
    (
        Kind::Tests,
        Haskell,
        "cabal test, cabal v2-test, cabal new-test, stack test",
    ),
    (Kind::Tests, Zig, "zig test, zig build test"),
    (
        Kind::Tests,
        R,
        "Rscript *devtools::test, Rscript *devtools::check, Rscript *testthat::test, Rscript *tinytest::, R *devtools::test, \
         R CMD check",
    ),
    (Kind::Tests, Julia, "julia *Pkg.test"),
    (Kind::Tests, OCaml, "dune test, dune runtest, opam test"),
    (
        Kind::Tests,
        Terraform,
        "terraform test, tofu test, terragrunt test",
    ),
    (
        Kind::Tests,
        Other,
        "nx *test, turbo *test, bats, shellspec, bazel test, buck2 test, busted, prove, yath test, nimble test, testament, \
         crystal spec, elm-test, forge test, hardhat test, pants test, moon *test",
    ),
    (
        Kind::Build,
        Script,
        "tsc, vue-tsc, svelte-check, vite build, next build, nuxt build, nuxi build, astro build, astro check, ng build, webpack, \
         rollup, rolldown, esbuild, parcel build, tsup, swc, rspack, rsbuild build, remix build, react-router build, gatsby build, \
         react-scripts build, expo export, vitepress build, docusaurus build, storybook build, bun build, deno check, \
         deno compile, electron-vite build, electron-builder, wrangler deploy, ncc build, unbuild, tsdown, flow check, \
         vercel build, eleventy, tsgo, npm pack",
    ),
    (
        Kind::Build,
        Python,
        "mypy, pyright, basedpyright, pytype, pyre, ty check",
    ),
    (
        Kind::Build,
        Rust,
        "cargo build, cargo check, cargo clippy, cargo doc, cargo install, cargo bench, rustc, wasm-pack build, trunk build, \
         maturin, cross build",
    ),
    (
        Kind::Build,
        Go,
        "go build, go vet, go install, go generate, goreleaser build, goreleaser release, tinygo build, staticcheck",
    ),
    (
        Kind::Build,
        Jvm,
        "mvn compile, mvn test-compile, mvnw compile, mvnw test-compile, javac, kotlinc, scalac, sbt *compile, lein compile, \
         mill *compile, scala-cli compile",
    ),
    (Kind::Build, DotNet, "dotnet build, dotnet publish, msbuild"),
    (Kind::Build, Swift, "swift build, swiftc, xcodebuild"),
    (
        Kind::Build,
        Native,
        "gcc, g++, clang, clang++, cc, c++, cmake --build, ninja, meson compile",
    ),
    (Kind::Build, Php, "phpstan, psalm"),
    (Kind::Build, Ruby, "sorbet, srb tc, steep check"),
    (
        Kind::Build,
        Beam,
        "mix compile, mix dialyzer, rebar3 compile, rebar3 dialyzer",
    ),
    (
        Kind::Build,
        Dart,
        "flutter build, flutter analyze, dart analyze, dart compile",
    ),
    (
        Kind::Build,
        Haskell,
        "cabal build, cabal v2-build, cabal new-build, stack build, ghc",
    ),
    (
        Kind::Build,
        Zig,
        "zig build, zig build-exe, zig build-lib, zig build-obj",
    ),
    (Kind::Build, R, "R CMD build, R CMD INSTALL"),
    (Kind::Build, OCaml, "dune build, ocamlopt, ocamlc"),
    (
        Kind::Build,
        Terraform,
        "terraform plan, terraform validate, terraform apply, tofu plan, tofu validate, tofu apply, terragrunt plan, \
         terragrunt validate, terragrunt apply",
    ),
    (
        Kind::Build,
        Other,
        "make, nx *build, turbo *build, nx *typecheck, turbo *typecheck, bazel build, buck2 build, nim, crystal build, \
         elm make, gleam build, docker build, \
         docker buildx, docker compose build, docker compose up, docker-compose build, docker-compose up, podman build, buildah, \
         nix build, nix flake, forge build, hardhat compile, solc",
    ),
    (
        Kind::Build,
        Documents,
        "hugo, jekyll build, mkdocs build, sphinx-build, latexmk, pdflatex, xelatex, typst, pandoc",
    ),
    (Kind::Run, Rust, "cargo run"),
    (Kind::Run, Go, "go run"),
    (Kind::Run, Swift, "swift run"),
    (Kind::Run, DotNet, "dotnet run"),
    (
        Kind::Run,
        Jvm,
        "gradle run, gradlew run, mvn exec:java, sbt run, lein run, scala-cli run",
    ),
    (
        Kind::Run,
        Haskell,
        "cabal run, stack run, runghc, runhaskell",
    ),
    (Kind::Run, Zig, "zig run, zig build run"),
    (Kind::Run, OCaml, "dune exec"),
    (Kind::Run, Beam, "mix run"),
    (
        Kind::Serve,
        Other,
        "vite, vite dev, vite preview, next dev, next start, nuxt dev, astro dev, ng serve, webpack serve, npm start, npm run dev, \
         npm run serve, npm run start, uvicorn, gunicorn, flask run, rails server, rails s, air, nodemon, http-server, serve, \
         live-server, php -S, gradle bootRun, gradlew bootRun, mvn spring-boot:run, streamlit run, fastapi, vercel dev, \
         wrangler dev, tilt up, trunk serve",
    ),
    (
        Kind::Lint,
        Other,
        "eslint, biome, prettier, ruff, black, isort, flake8, pylint, gofmt, gofumpt, goimports, golangci-lint, rustfmt, cargo fmt, \
         stylelint, oxlint, rubocop, standardrb, php-cs-fixer, ktlint, detekt, swiftlint, swiftformat, clang-format, clang-tidy, \
         shellcheck, shfmt, hadolint, yamllint, markdownlint, codespell, typos, mix format, mix credo, dart format, dotnet format, \
         next lint, deno lint, deno fmt, dprint, pre-commit, lefthook, cspell, knip, py_compile, compileall, \
         hlint, ormolu, fourmolu, tflint, terraform fmt, tofu fmt, zig fmt, scalafmt, scalafix, google-java-format, phpcs, phpcbf, \
         cppcheck, cpplint, luacheck, stylua, ocamlformat, erlfmt",
    ),
];

/// Patterns of commands by their program.
type ByProgram = HashMap<String, Vec<(Kind, Family, Pattern)>>;

/// The patterns by their program.
static PATTERNS: LazyLock<ByProgram> = LazyLock::new(|| {
    let mut found = ByProgram::new();
    for (kind, family, texts) in TABLE {
        for pattern in texts
            .split(',')
            .filter_map(|text| Pattern::read(text.trim()))
        {
            let program = pattern.program().to_owned();
            found
                .entry(program)
                .or_default()
                .push((*kind, *family, pattern));
        }
    }
    found
});

/// Returns what a command does, and to which language; `None` if it is not known.
pub(super) fn kind_of(simple: &Simple) -> Option<(Kind, Family)> {
    let program = crate::shell::canonical_name(simple.words.first()?);
    if let Some(found) = by_operands(simple) {
        return Some(found);
    }
    let scripts = simple
        .words
        .iter()
        .skip(1)
        .map(|word| crate::shell::canonical_name(word));
    // `vendor/bin/phpunit` and `php vendor/bin/phpunit`, `bash gradlew test`.
    let candidates = PATTERNS
        .get(program)
        .into_iter()
        .chain(scripts.take(1).filter_map(|script| PATTERNS.get(script)));
    let fitting = candidates
        .flatten()
        .filter(|(_, _, pattern)| pattern.fits(simple));
    let best = fitting
        .map(|(kind, family, _)| (*kind, *family))
        .max_by_key(|(kind, _)| *kind)?;
    Some(match simple.words.get(1).map(String::as_str) {
        // `make clean` builds nothing.
        Some("clean" | "fmt" | "format" | "lint" | "help") if program == "make" => {
            (Kind::Lint, Other)
        }
        _ => best,
    })
}

/// Returns whether a command that builds or checks says nothing when all is well.
pub(super) fn is_silent(simple: &Simple) -> bool {
    const SILENT: [&str; 17] = [
        "tsc",
        "vue-tsc",
        "tsgo",
        "gcc",
        "g++",
        "clang",
        "clang++",
        "cc",
        "c++",
        "javac",
        "scalac",
        "kotlinc",
        "rustc",
        "swiftc",
        "zig",
        "dune",
        "staticcheck",
    ];
    let Some(program) = simple
        .words
        .first()
        .map(|word| crate::shell::canonical_name(word))
    else {
        return false;
    };
    let has = |words: &[&str]| {
        simple
            .words
            .iter()
            .skip(1)
            .any(|word| words.contains(&word.as_str()))
    };
    if has(&["-w", "--watch"]) {
        return false;
    }
    let goes_quietly = program == "go" && has(&["build", "vet", "install"]);
    let is_told = || {
        ["cargo", "mvn", "mvnw", "gradle", "gradlew", "msbuild"].contains(&program)
            && has(&["-q", "--quiet", "--silent"])
    };
    SILENT.contains(&program) || goes_quietly || is_told()
}

/// Returns what a command does whose operands alone say it: names of tasks or sessions, or a test that an interpreter runs.
fn by_operands(simple: &Simple) -> Option<(Kind, Family)> {
    let (program, rest) = simple.words.split_first()?;
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    // `bash gradlew test`.
    let (program, rest) = match rest.split_first() {
        Some((script, rest)) if crate::project::file_name(script) == "gradlew" => ("gradlew", rest),
        _ => (crate::shell::canonical_name(program), rest.as_slice()),
    };
    match program {
        "gradle" | "gradlew" => {
            let tasks = tasks_of_gradle(rest).into_iter();
            let kind = tasks.filter_map(kind_of_gradle).max()?;
            let skips = rest.windows(2).any(|pair| {
                matches!(pair[0], "-x" | "--exclude-task")
                    && kind_of_gradle(pair[1]) == Some(Kind::Tests)
            });
            Some((if skips { kind.min(Kind::Build) } else { kind }, Jvm))
        }
        "mvn" | "mvnw" => {
            let skips = |word: &&str| {
                let value = ["-DskipTests", "-Dmaven.test.skip"]
                    .iter()
                    .find_map(|option| word.strip_prefix(option));
                value.is_some_and(|value| value != "=false")
            };
            rest.iter().any(skips).then_some((Kind::Build, Jvm))
        }
        "make" => {
            let targets = rest
                .iter()
                .filter(|word| !word.starts_with('-') && !word.contains('='));
            let mut kinds = targets.filter_map(|target| kind_of_name(target));
            kinds.find(|(kind, _)| *kind == Kind::Tests)
        }
        "nox" | "tox" => {
            let mut kinds = chosen_sessions(program, rest)
                .into_iter()
                .map(kind_of_session);
            let first = kinds.next()?;
            kinds.fold(first, Ord::max).map(|kind| (kind, Python))
        }
        _ if is_interpreter(program) => {
            let script = rest.iter().find(|word| !word.starts_with('-'))?;
            crate::project::is_test(script).then(|| (Kind::Tests, family(script)))
        }
        _ => None,
    }
}

fn kind_of_gradle(task: &str) -> Option<Kind> {
    let compiles = ["compile", "assemble", "bundle", "link", "install", "ksp"];
    let makes = ["classes", "Classes", "Jar", "jar", "Dist"];
    let checks_style = ["ktlint", "detekt", "spotless", "lint", "checkstyle", "pmd"];
    if checks_style.iter().any(|begin| task.starts_with(begin)) {
        Some(Kind::Lint)
    } else if compiles.iter().any(|begin| task.starts_with(begin))
        || makes.iter().any(|end| task.ends_with(end))
    {
        Some(Kind::Build)
    } else if ["test", "check", "build", "connectedCheck"].contains(&task)
        || ["Test", "Tests"].iter().any(|end| task.ends_with(end))
        || (task.starts_with("test") && !task.starts_with("testFixtures"))
    {
        Some(Kind::Tests)
    } else {
        None
    }
}

/// `tests-3.12`, `py312-django4`, `lint`.
fn kind_of_session(name: &str) -> Option<Kind> {
    let is_python = name.strip_prefix("py").is_some_and(|rest| {
        let rest = rest.trim_start_matches("py");
        rest.is_empty() || rest.starts_with(|first: char| first.is_ascii_digit())
    });
    if is_python {
        return Some(Kind::Tests);
    }
    let checks = ["mypy", "pyright", "typing", "typecheck", "types"];
    if name
        .split(['-', '_', '('])
        .any(|part| checks.contains(&part))
    {
        return Some(Kind::Build);
    }
    kind_of_name(name).map(|(kind, _)| kind)
}

fn is_interpreter(program: &str) -> bool {
    [
        "python", "ruby", "php", "perl", "lua", "julia", "Rscript", "elixir", "dart", "bash", "sh",
        "zsh", "node", "tsx", "ts-node",
    ]
    .contains(&program)
}
