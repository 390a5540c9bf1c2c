//! What a command does to verify code: it runs tests, builds, checks types, or runs the program.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::project::covering::Family;
use crate::shell::{Pattern, Simple};

/// What a command does, the strongest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// It checks the style or the form. That verifies nothing, but a task that does only this is known.
    Lint,
    /// It starts a server. Only what asks that server verifies something.
    Serve,
    /// It runs the program.
    Run,
    /// It compiles, bundles, or checks types.
    Build,
    /// It runs tests.
    Tests,
}

use Family::{Beam, Dart, DotNet, Go, Jvm, Native, Other, Php, Python, Ruby, Rust, Script, Swift};

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
        "mvn test, mvn verify, mvn package, mvn install, gradle *test, gradle check, gradle build, gradlew *test, gradlew check, \
         gradlew build, mvnw test, mvnw verify, mvnw package, mvnw install, sbt *test, lein test, clojure *test, mill *test, \
         scala-cli test",
    ),
    (Kind::Tests, DotNet, "dotnet test, vstest"),
    (Kind::Tests, Swift, "swift test, xcodebuild test"),
    (Kind::Tests, Native, "ctest, meson test, ninja test"),
    (
        Kind::Tests,
        Ruby,
        "rspec, rake test, rake spec, rails test, minitest, cucumber",
    ),
    (
        Kind::Tests,
        Php,
        "phpunit, pest, composer test, paratest, artisan test, php *artisan test, codecept run",
    ),
    (Kind::Tests, Beam, "mix test, rebar3 eunit, rebar3 ct"),
    (Kind::Tests, Dart, "flutter test, dart test"),
    (
        Kind::Tests,
        Other,
        "nx *test, turbo *test, bats, zig test, zig build test, bazel test, buck2 test, cabal test, stack test, busted, prove, \
         gleam test, dune test, dune runtest, nimble test, crystal spec, elm-test, forge test, hardhat test, pants test, moon *test",
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
        "mvn compile, mvn test-compile, mvnw compile, gradle assemble, gradle *compile, gradle *classes, gradle *assemble, \
         gradlew assemble, gradlew *compile, gradlew *classes, gradlew *assemble, gradle bootJar, gradlew bootJar, javac, kotlinc, \
         scalac, sbt compile, lein compile, mill *compile",
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
        Other,
        "make, nx *build, turbo *build, nx *typecheck, turbo *typecheck, bazel build, buck2 build, zig build, cabal build, \
         stack build, ghc, dune build, nim, crystal build, elm make, gleam build, hugo, jekyll build, mkdocs build, docker build, \
         docker buildx, docker compose build, docker compose up, docker-compose build, docker-compose up, podman build, buildah, \
         nix build, nix flake, terraform plan, terraform validate, forge build, hardhat compile, solc, latexmk, pdflatex, typst",
    ),
    (Kind::Run, Rust, "cargo run"),
    (Kind::Run, Go, "go run"),
    (Kind::Run, Swift, "swift run"),
    (Kind::Run, DotNet, "dotnet run"),
    (
        Kind::Run,
        Jvm,
        "gradle run, gradlew run, mvn exec:java, sbt run, lein run",
    ),
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
         next lint, deno lint, deno fmt, dprint, pre-commit, lefthook, cspell, knip, py_compile, compileall",
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

/// Returns what a task does by its name, for want of anything better.
pub(super) fn kind_of_name(name: &str) -> Option<(Kind, Family)> {
    let has = |words: &[&str]| {
        name.split([':', '.', '-', '_', '/'])
            .any(|part| words.contains(&part))
    };
    if has(&["lint", "fmt", "format", "clean", "setup", "install"]) {
        Some((Kind::Lint, Other))
    } else if has(&[
        "test",
        "tests",
        "spec",
        "e2e",
        "unit",
        "integration",
        "pytest",
        "vitest",
        "jest",
    ]) {
        Some((Kind::Tests, Other))
    } else if has(&["build", "compile", "typecheck", "types", "tsc", "bundle"])
        || name.contains("type-check")
        || name == "check-types"
    {
        Some((Kind::Build, Other))
    } else if has(&["dev", "serve", "start", "preview", "watch"]) {
        Some((Kind::Serve, Other))
    } else {
        None
    }
}
