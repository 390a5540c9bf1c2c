//! What a command does to verify code: it runs tests, builds, checks types, or runs the program.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::kind::Kind;
use super::names::{called, kind_of_name};
use crate::project::covering::{Family, family, is_test_project};
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
         cypress run, ng test, karma start, wdio run, deno test, qunit, web-test-runner, uvu, storybook test, wtr, lerna *test, rush *test, lage *test, testcafe, nightwatch, \
         codeceptjs run, detox test, maestro test, cucumber-js, jasmine, newman run, stryker run, ng e2e, tsd",
    ),
    (
        Kind::Tests,
        Python,
        "pytest, tox, nox, unittest, nose2, hatch test, django-admin test, behave, green, python *manage.py test, python *setup.py test, ward, trial, stestr run, robot, pabot, avocado run, ptw, \
         molecule test",
    ),
    (
        Kind::Tests,
        Rust,
        "cargo test, cargo nextest, cargo llvm-cov, cargo tarpaulin, cargo insta test, cargo miri test, cargo mutants, trybuild, cargo hack *test, cargo careful test, cross test, wasm-pack test, cargo make *test, cargo kani",
    ),
    (
        Kind::Tests,
        Go,
        "go test, gotestsum, ginkgo, mage *test, richgo test, gotest",
    ),
    (
        Kind::Tests,
        Jvm,
        "mvn test, mvn verify, mvn package, mvn install, mvnw test, mvnw verify, mvnw package, mvnw install, sbt *test, lein test, \
         clojure *test, clj *test, bb *test, kaocha, mill *test, scala-cli test, ant *test, bloop test, amper test, \
         mvnd test, mvnd verify, mvnd package, mvnd install",
    ),
    (
        Kind::Tests,
        DotNet,
        "dotnet test, vstest, dotnet *Tests.dll, dotnet *Test.dll, nunit3-console, xunit.console",
    ),
    (
        Kind::Tests,
        Swift,
        "swift test, xcodebuild test, xcodebuild test-without-building, fastlane *test, fastlane scan, tuist test, xcrun xctest",
    ),
    (
        Kind::Tests,
        Native,
        "ctest, meson test, ninja test, ninja check, cmake --build --target test, cmake --build --target check, pio test, platformio test, west twister, twister, dub test, \
         fpm test, ceedling *test, xmake test, scons *test, alr test",
    ),
    (
        Kind::Tests,
        Ruby,
        "rspec, rake *test, rake *spec, rails *test, rails *spec, minitest, cucumber, parallel_test, parallel_rspec, m",
    ),
    (
        Kind::Tests,
        Php,
        "phpunit, pest, composer *test, paratest, artisan test, php *artisan test, codecept run, phpspec run, behat, kahlan, simple-phpunit, sail test, \
         sail *phpunit, sail *pest",
    ),
    (
        Kind::Tests,
        Beam,
        "mix test, mix espec, rebar3 eunit, rebar3 ct, rebar3 proper, gleam test, mix coveralls",
    ),
    (
        Kind::Tests,
        Dart,
        "flutter test, dart test, melos *test, very_good test, patrol test, flutter drive",
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
         crystal spec, elm-test, forge test, hardhat test, pants test, moon *test, colcon test, catkin run_tests, anchor test, earthly *test, \
         eldev test, eask test, zunit, hurl *--test, please test, plz test",
    ),
    (
        Kind::Tests,
        Documents,
        "truffle test, brownie test, ape test, snforge test, scarb test, sui move test, aptos move test, aiken check, forc test, \
         nargo test, raco test, lake test, spago test, v test, odin test, roc test, mojo test, hare test, dbt test, dbt build, \
         pg_prove, opa test, conftest verify, promtool test, container-structure-test, inspec exec, kitchen test, \
         helm unittest, themis, vusted",
    ),
    (
        Kind::Build,
        Script,
        "tsc, vue-tsc, svelte-check, vite build, next build, nuxt build, nuxi build, astro build, astro check, ng build, webpack, \
         rollup, rolldown, esbuild, parcel build, tsup, swc, rspack, rsbuild build, remix build, react-router build, gatsby build, \
         react-scripts build, expo export, vitepress build, docusaurus build, storybook build, bun build, deno check, \
         deno compile, electron-vite build, electron-builder, wrangler deploy, ncc build, unbuild, tsdown, flow check, \
         vercel build, eleventy, tsgo, npm pack, stencil build, ember build, wxt build, plasmo build, tauri build, farm build, \
         rspress build, vinxi build, nitropack build, web-ext build, shadow-cljs release, shadow-cljs compile",
    ),
    (
        Kind::Build,
        Python,
        "mypy, dmypy, pyright, basedpyright, pytype, pyre, ty check, pyrefly check, mypyc",
    ),
    (
        Kind::Build,
        Rust,
        "cargo build, cargo check, cargo clippy, cargo doc, cargo install, cargo bench, rustc, wasm-pack build, trunk build, \
         maturin, cross build, cross check, cargo zigbuild, cargo ndk, cargo tauri build, cargo leptos build, cargo lambda build, \
         cargo component build, cargo build-sbf, cargo contract build, cargo hack, cargo espflash, cargo embed, dx build, dx check, \
         spin build",
    ),
    (
        Kind::Build,
        Go,
        "go build, go vet, go install, go generate, goreleaser build, goreleaser release, tinygo build, staticcheck, wails build, ko build, gomobile build, mage *build, encore check",
    ),
    (
        Kind::Build,
        Jvm,
        "mvn compile, mvn test-compile, mvnw compile, mvnw test-compile, javac, kotlinc, scalac, sbt *compile, lein compile, \
         mill *compile, scala-cli compile, ant, bloop compile, amper build, mvnd compile, mvnd test-compile, lein uberjar",
    ),
    (
        Kind::Build,
        DotNet,
        "dotnet build, dotnet publish, dotnet pack, dotnet ef migrations, dotnet ef database, msbuild, csc",
    ),
    (Kind::Build, Swift, "swift build, swiftc, xcodebuild"),
    (
        Kind::Build,
        Native,
        "gcc, g++, clang, clang++, cc, c++, cmake --build, ninja, meson compile, nvcc, gfortran, emcc, em++, pio run, platformio run, \
         arduino-cli compile, west build, idf.py build, scons, xmake, bear, dub build, fpm build, gprbuild, alr build, verilator",
    ),
    (Kind::Build, Php, "phpstan, psalm, phan, larastan"),
    (Kind::Build, Ruby, "sorbet, srb tc, steep check"),
    (
        Kind::Build,
        Beam,
        "mix compile, mix dialyzer, rebar3 compile, rebar3 dialyzer",
    ),
    (
        Kind::Build,
        Dart,
        "flutter build, flutter analyze, dart analyze, dart compile, melos *analyze, melos *build",
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
         nix build, nix flake, nix-build, nixos-rebuild, home-manager, forge build, hardhat compile, solc, colcon build, catkin build, \
         catkin_make, anchor build, buck2 build, please build, plz build, pants check, guix build, earthly",
    ),
    (
        Kind::Build,
        Documents,
        "truffle compile, brownie compile, ape compile, scarb build, sui move build, aptos move compile, aiken build, \
         forc build, nargo compile, nargo check, circom, vyper, raco make, lake build, idris2, coqc, dafny, purs compile, \
         spago build, rescript, roc build, roc check, odin build, odin check, mojo build, hare build, nimble build, gleam check, \
         hugo, jekyll build, mkdocs build, sphinx-build, latexmk, pdflatex, xelatex, lualatex, tectonic, typst, pandoc, zola build, zola check, \
         mdbook build, mdbook test, quarto render, asciidoctor, antora, hexo generate, helm template, helm lint, helm install, \
         helm upgrade, kustomize build, kubectl apply, kubectl diff, kubeconform, kubeval, skaffold build, ansible-playbook, \
         packer validate, packer build, pulumi preview, pulumi up, cdk synth, cdk diff, cdk deploy, sam build, sam validate, \
         serverless package, serverless deploy, sls package, sls deploy, bicep build, az bicep, cfn-lint, cue vet, jsonnet, \
         buf build, buf generate, protoc, thrift, flatc, graphql-codegen, prisma validate, prisma generate, prisma migrate, \
         prisma db, drizzle-kit generate, drizzle-kit migrate, drizzle-kit push, drizzle-kit check, sqlc, atlas migrate, \
         atlas schema, flyway, liquibase, alembic upgrade, supabase db, supabase migration, supabase start, dbmate, goose, \
         migrate *up, sqitch deploy, dbt run, dbt compile, sqlfluff lint, nginx -t, caddy validate, haproxy -c, promtool check, \
         esphome config, esphome compile, systemd-analyze verify, nft -c",
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
    (Kind::Run, Dart, "flutter run, dart run"),
    (
        Kind::Serve,
        Other,
        "vite, vite dev, vite preview, next dev, next start, nuxt dev, astro dev, ng serve, webpack serve, npm start, npm run dev, \
         npm run serve, npm run start, uvicorn, gunicorn, flask run, rails server, rails s, air, nodemon, http-server, serve, \
         live-server, php -S, gradle bootRun, gradlew bootRun, mvn spring-boot:run, streamlit run, fastapi, vercel dev, \
         wrangler dev, tilt up, trunk serve, expo start, tauri dev, dx serve, cargo leptos watch, hugo server, jekyll serve, \
         mkdocs serve, zola serve, mdbook serve, quarto preview, docusaurus start, storybook dev, daphne, hypercorn, granian, \
         waitress-serve, mix phx.server, artisan serve, php *artisan serve, symfony serve, functions start, sam local, skaffold dev",
    ),
    (
        Kind::Lint,
        Other,
        "eslint, biome, prettier, ruff, black, isort, flake8, pylint, gofmt, gofumpt, goimports, golangci-lint, rustfmt, cargo fmt, \
         stylelint, oxlint, rubocop, standardrb, php-cs-fixer, ktlint, detekt, swiftlint, swiftformat, clang-format, clang-tidy, \
         shellcheck, shfmt, hadolint, yamllint, markdownlint, codespell, typos, mix format, mix credo, dart format, dotnet format, \
         next lint, deno lint, deno fmt, dprint, pre-commit, lefthook, cspell, knip, py_compile, compileall, \
         hlint, ormolu, fourmolu, tflint, terraform fmt, tofu fmt, zig fmt, scalafmt, scalafix, google-java-format, phpcs, phpcbf, \
         cppcheck, cpplint, luacheck, stylua, ocamlformat, erlfmt, pint, ecs, standard, xo, selene, ansible-lint, buf lint, regal, \
         vale, sqlfluff fix, taplo, nixfmt, alejandra, gdformat, gdlint, buildifier, cljfmt, clj-kondo, styler, lintr",
    ),
];

/// Patterns of commands by their program.
type ByProgram = HashMap<String, Vec<(Kind, Family, Pattern)>>;

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

pub(in crate::findings) fn is_tests(simple: &Simple) -> bool {
    known(simple) == Some(Kind::Tests)
}

/// Returns whether a command checks the style or the form.
pub(in crate::findings) fn is_lint(simple: &Simple) -> bool {
    known(simple) == Some(Kind::Lint)
}

/// Returns whether a command starts a server.
pub(in crate::findings) fn is_server(simple: &Simple) -> bool {
    known(simple) == Some(Kind::Serve)
}

fn known(simple: &Simple) -> Option<Kind> {
    let known = kind_of(simple).or_else(|| called(simple));
    known.map(|(kind, _)| kind)
}

/// Returns whether the table knows a program.
pub(in crate::findings) fn is_known_tool(program: &str) -> bool {
    PATTERNS.contains_key(crate::shell::canonical_name(program))
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

/// Returns what a command does if only its operands say so: names of tasks or sessions, or a test that an interpreter
/// runs.
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
        "dotnet" if rest.first() == Some(&"run") => rest
            .iter()
            .take_while(|word| **word != "--")
            .any(|word| is_test_project(word))
            .then_some((Kind::Tests, DotNet)),
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
