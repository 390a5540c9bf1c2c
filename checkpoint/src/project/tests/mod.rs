//! Task files of every form, packages, and the tests that cover a file.

use super::*;

mod covering;

fn tasks_of(path: &str, text: &str) -> String {
    let file = ProjectFile {
        path: path.into(),
        text: text.into(),
    };
    let sources = Sources {
        listed: &[],
        complete: true,
        beginning: &|_| None,
        rust_tests_in: &|_| false,
    };
    let workspace = workspace(&[file], &[], &sources);
    let lines = workspace.tasks.iter().map(|task| {
        format!(
            "{} {:?} {}: {}",
            task.runner,
            task.folder,
            task.name,
            task.text.replace('\n', " ; ")
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn tasks_of_scripts_and_recipes() {
    let table = [
        (
            "web/package.json",
            r#"{"packageManager": "pnpm@9.1.0", "scripts": {"pretest": "tsc", "test": "vitest run", "ci": "npm run lint && npm test"}}"#,
        ),
        ("package.json", r#"{"scripts": {"build": "vite build"}}"#),
        (
            "deno.json",
            r#"{"tasks": {"test": "deno test -A", "ci": {"command": "deno lint", "dependencies": ["test"]}}}"#,
        ),
        (
            "composer.json",
            r#"{"scripts": {"test": ["@putenv A=1", "@php vendor/bin/phpunit", "App\\X::run"], "ci": "@test"}}"#,
        ),
        (
            "Makefile",
            "GO ?= go\nFLAGS := -race\n.PHONY: test\nall: build test\ntest: build out.o ## runs them\n\t@$(GO) test ${FLAGS} \\\n\t  ./...\nbuild:\n\t-cargo build # fast\nx: ; $(MAKE) -C sub test\nout.o: a.c\n\tcc a.c\n%.o: %.c\n\tcc $<\n",
        ),
        (
            "justfile",
            "cargo := \"cargo\"\nalias t := test\nset shell := [\"bash\"]\n[private]\ntest filter=\"a:b\" *args: build (lint \"x\")\n    @{{cargo}} nextest run {{filter}}\nbuild:\n    {{cargo}} build\n",
        ),
    ];
    let shown = table.map(|(path, text)| format!("{path}\n{}", tasks_of(path, text)));
    insta::assert_snapshot!(shown.join("\n"), @r#"
    web/package.json
    pnpm "web" pretest: tsc
    pnpm "web" test: tsc && vitest run
    pnpm "web" ci: npm run lint && npm test
    package.json
    npm "" build: vite build
    deno.json
    deno "" test: deno test -A
    deno "" ci: deno task test && deno lint
    composer.json
    composer "" test: php vendor/bin/phpunit
    composer "" ci: composer test
    Makefile
    make "" all: make build ; make test
    make "" test: make build ; make out.o ; go test -race  	  ./...
    make "" build: cargo build # fast
    make "" x: make -C sub test
    make "" out.o: cc a.c
    justfile
    just "" t: just test
    just "" test: just build ; just lint ; just "x" ; cargo nextest run {{filter}}
    just "" build: cargo build
    "#);
}

#[test]
fn tasks_of_settings_files() {
    let table = [
        (
            "Taskfile.yml",
            "version: '3'\ntasks:\n  lint: golangci-lint run\n  test:\n    deps: [lint, {task: gen}]\n    dir: api\n    cmds:\n      - go test ./...\n      - cmd: echo done\n      - task: report\n  gen:\n    - go generate\n",
        ),
        (
            "mise.toml",
            "[tasks]\nfmt = 'gofmt -w .'\n[tasks.\"test:ci\"]\ndepends = ['fmt']\nrun = ['go vet ./...', 'go test -race ./...']\ndir = 'srv'\n",
        ),
        ("mise-tasks/test/unit", "#!/usr/bin/env bash\npytest -q\n"),
        (
            ".cargo/config.toml",
            "[alias]\nxt = 'nextest run'\nci = ['test', '--workspace']\n",
        ),
        ("Makefile", "\u{0}\u{1}not a makefile"),
        ("mise.toml", "[[[broken"),
        ("Taskfile.yml", "tasks: [1, {a: *b}]"),
        ("package.json", "{\"scripts\": 3}"),
    ];
    let shown = table.map(|(path, text)| format!("{path}\n{}", tasks_of(path, text)));
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Taskfile.yml
    task "" lint: golangci-lint run
    task "" test: task lint ; task gen ; cd api ; go test ./... ; echo done ; task report
    task "" gen: go generate
    mise.toml
    mise "" fmt: gofmt -w .
    mise "" test:ci: mise run fmt ; cd srv ; go vet ./... ; go test -race ./...
    mise-tasks/test/unit
    mise "" test:unit: #!/usr/bin/env bash ; pytest -q ; 
    .cargo/config.toml
    cargo "" xt: cargo nextest run
    cargo "" ci: cargo test --workspace
    Makefile

    mise.toml

    Taskfile.yml

    package.json
    "#);
}

#[test]
fn a_lock_file_above_names_the_package_manager() {
    let file = |path: &str| ProjectFile {
        path: path.into(),
        text: if path.ends_with(".json") {
            r#"{"scripts":{"test":"x"}}"#.into()
        } else {
            String::new()
        },
    };
    let table = [
        "package.json",
        "package.json yarn.lock",
        "packages/a/package.json pnpm-lock.yaml",
        "packages/a/package.json packages/a/bun.lockb pnpm-lock.yaml",
    ]
    .map(|paths| {
        let files: Vec<ProjectFile> = paths.split(' ').map(file).collect();
        format!("{paths}: {}", package_json::runner(&files[0], &files))
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    package.json: npm
    package.json yarn.lock: yarn
    packages/a/package.json pnpm-lock.yaml: pnpm
    packages/a/package.json packages/a/bun.lockb pnpm-lock.yaml: bun
    "#);
}

#[test]
fn everything_is_bounded() {
    let many = format!("{}: ;\n", "target ".repeat(500));
    let long = format!("test:\n\t{}\n", "é".repeat(10_000));
    assert_eq!(tasks_of("Makefile", &many).lines().count(), 1);
    assert!(tasks_of("Makefile", &long).len() < commands::BYTES_MAX + 100);
    let targets: String = (0..500)
        .map(|index| format!("t{index}:\n\ttrue\n"))
        .collect();
    assert_eq!(tasks_of("Makefile", &targets).lines().count(), TASKS_MAX);
    let deep = ChangedFile {
        path: "a/".repeat(200) + "x.rs",
        hash: Some(1),
    };
    assert_eq!(folders(&[deep]).len(), FOLDERS_MAX);
    let looped = "a = $(a)$(a)\n".to_owned() + &"b := $(b)$(b)$(b)x\n".repeat(40) + "t:\n\t$(b)\n";
    assert!(tasks_of("Makefile", &looped).len() < 1_000);
}

/// What a file of few bytes per line would grow to: a reader that builds all of it would not end, or would fill the memory.
#[test]
fn nothing_is_built_that_is_not_kept() {
    let many = |word: &str, between: &str| {
        let words: Vec<String> = (0..100_000).map(|index| format!("{word}{index}")).collect();
        words.join(between)
    };
    let value = "x".repeat(8_100);
    let hostile = [
        // Each target would be searched for each need, and each of these among all targets.
        (
            "Makefile",
            format!("{}: {}\n", many("t", " "), many("n", " ")),
            TASKS_MAX,
        ),
        // Each value would be longer than the one before by all of `A`.
        (
            "Makefile",
            format!(
                "A = {value}\n{}t:\n\t$(B)\n",
                "B := $(A)$(B)\n".repeat(30_000)
            ),
            1,
        ),
        (
            "Makefile",
            format!("A = {value}\nt:\n{}", "\t$(A)\n".repeat(1_000_000)),
            1,
        ),
        (
            "justfile",
            format!("a := {value}\nt:\n{}", " {{a}}\n".repeat(1_000_000)),
            1,
        ),
    ];
    for (path, text, tasks) in hostile {
        let found = tasks_of(path, &text);
        assert_eq!(found.lines().count(), tasks, "{path}");
        assert!(found.len() < tasks * 600, "{path}");
    }
}

/// A glob that is too large to be compiled chooses no folder.
#[test]
fn members_of_a_workspace_are_bounded() {
    let file = |path: &str, text: String| ProjectFile {
        path: path.into(),
        text,
    };
    let members = |globs: String| {
        let files = [
            file("pnpm-workspace.yaml", format!("packages:\n{globs}")),
            file("libs/a/package.json", "{}".into()),
            file("libs/b/package.json", "{}".into()),
        ];
        let packages = manifests::packages(&files);
        let packages = packages.iter().map(|package| &*package.member_of);
        packages.collect::<Vec<_>>().join(",")
    };
    assert_eq!(members("- 'libs/*'\n- '!libs/b'\n".into()), ",pnpm,");
    assert_eq!(members(format!("- '{}'\n", "*?".repeat(60_000))), ",,");
}
