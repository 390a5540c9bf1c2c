//! Wrappers, dry runs, and the match with a wanted command.

use super::super::{Pattern, Simple, is_dry, read, shortened};
use super::check;

/// Lines that all run `x --y z`.
const WRAPPED: &[&str] = &[
    "sudo x --y z",
    "sudo -E -u me --preserve-env=A A=1 /usr/bin/x --y z",
    "doas -u me x --y z",
    "time x --y z",
    "/usr/bin/time -f %e x --y z",
    "timeout 30 x --y z",
    "timeout -k 5 --signal=KILL 30s x --y z",
    "nice -n 5 x --y z",
    "nice -n5 x --y z",
    "nice -5 x --y z",
    "ionice -c 3 x --y z",
    "nohup x --y z",
    "stdbuf -oL -e 0 x --y z",
    "setsid -w x --y z",
    "exec -a name x --y z",
    "command x --y z",
    "builtin x --y z",
    "env x --y z",
    "env -i -u X A=b x --y z",
    "uv run x --y z",
    "uv run --with a -p 3.12 --frozen -- x --y z",
    "uv run -m x --y z",
    "uvx x@1.2 --y z",
    "uv tool run x --y z",
    "poetry run x --y z",
    "pdm run x --y z",
    "pipenv run x --y z",
    "hatch run dev:x --y z",
    "hatch -e dev run x --y z",
    "rye run x --y z",
    "pixi run x --y z",
    "conda run -n env x --y z",
    "npx x --y z",
    "npx -y x@latest --y z",
    "npx --package p -- x --y z",
    "bunx x --y z",
    "bun x x --y z",
    "pnpm exec x --y z",
    "pnpm dlx x --y z",
    "pnpm -C . --filter p exec x --y z",
    "yarn exec x --y z",
    "npm exec -- x --y z",
    "bundle exec x --y z",
    "coverage run -m x --y z",
    "python -m x --y z",
    "python3 -u -W ignore -m x --y z",
    "python3.11 -m x --y z",
    "py -3.11 -mx --y z",
    ".venv/bin/python -Im x --y z",
    "bash -c 'x --y z'",
    "sh -lc 'x --y z'",
    "zsh -c 'x --y z' name arg",
    "bash -o pipefail -ec 'x --y z'",
    "bash --norc -c 'x --y z'",
    "eval \"x --y\" z",
    "eval 'x --y z'",
    "bash <<EOF\nx --y z\nEOF",
    "bash -s arg <<'EOF'\nx --y z\nEOF",
    "sh <<< 'x --y z'",
    "docker compose exec svc x --y z",
    "docker compose -f c.yml exec -T -e A=1 svc x --y z",
    "docker-compose exec svc x --y z",
    "docker exec -it -u me c x --y z",
    "podman exec c x --y z",
    "direnv exec . x --y z",
    "nix develop -c x --y z",
    "nix develop .#dev --command x --y z",
    "nix-shell --run 'x --y z'",
    "mise exec -- x --y z",
    "mise x node@20 -- x --y z",
    "flock /tmp/l x --y z",
    "flock -w 5 /tmp/l -c 'x --y z'",
    "su me -c 'x --y z'",
    "kubectl exec -it pod -- x --y z",
    "sudo env A=1 nohup timeout 5 nice bash -lc 'exec uv run python -m x --y z'",
];

#[test]
fn wrappers() {
    for line in WRAPPED {
        let found: Vec<Simple> = read(line).commands;
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert_eq!(found[0].words, ["x", "--y", "z"], "{line}");
        assert!(found[0].certain && found[0].decides, "{line}");
    }
}

#[test]
fn what_wrappers_do_not_hide() {
    check("xargs -n 1 -I{} make {}", &["?make {}"]);
    check("find . | xargs -0 pytest", &["~find .", "?pytest"]);
    check(
        "cat <<EOF | bash\nmake restart\nEOF",
        &["~cat", "make restart"],
    );
    check(
        "echo 'make restart' | sh",
        &["~echo make restart", "make restart"],
    );
    check("echo 'make restart' | cat", &["~echo make restart", "cat"]);
    check("bash x.sh -c y", &["bash x.sh -c y"]);
    check("bash -n -c 'make restart'", &["bash -n -c make restart"]);
    check("bash -c 'a; b' | tee x", &["~a", "~b", "tee x"]);
    check("bash -c 'a; b' || true", &["~a", "~b", "?true"]);
    check("bash -ec 'a; b'", &["a", "b"]);
    check("bash", &[]);
    check("python x.py -m make", &["python x.py -m make"]);
    check(
        "python -c 'import x' -m make",
        &["python -c import x -m make"],
    );
    check("sudo -l make restart", &["sudo -l make restart"]);
    check("command -v make", &["command -v make"]);
    check("uv run --help pytest", &["uv run --help pytest"]);
    check("uv pip install -e .", &["uv pip install -e ."]);
    check("uv sync", &["uv sync"]);
    check("docker compose up svc", &["docker compose up svc"]);
    check("watch make restart", &["?make restart"]);
    check("ssh host make restart", &["ssh host make restart"]);
    check(
        ". .venv/bin/activate && pytest",
        &[". .venv/bin/activate", "pytest"],
    );
    check("sudo", &["sudo"]);
    check(".venv/bin/pytest -q", &["pytest -q"]);
    check("./scripts/x.sh", &["x.sh"]);
}

#[track_caller]
fn dry(line: &str, expected: bool) {
    let found = read(line).commands;
    assert_eq!(
        found.last().map(is_dry),
        Some(expected),
        "{line}: {found:?}"
    );
}

#[test]
fn dry_runs() {
    let pretending = [
        "make -n restart",
        "make -nB restart",
        "make restart --dry-run",
        "make --just-print restart",
        "make --recon restart",
        "make -C x -n restart",
        "make --help",
        "make -q restart",
        "pytest --collect-only",
        "pytest --co -q",
        "pytest -h",
        "pytest --version",
        "pip install --dry-run -e .",
        "cargo test --no-run",
        "cargo test -- --list",
        "cargo help test",
        "npm publish --dry-run",
        "kubectl apply --dry-run=client -f x",
        "go test -list . ./...",
        "telec -h",
        "telec init --help",
        "telec --version",
        "just -n build",
        "kill -l USR2",
    ];
    let real = [
        "make restart",
        "make -f n restart",
        "make -j4 restart",
        "pytest -n 4",
        "pytest -q tests -k help",
        "grep -n x y",
        "tail -n 5 x",
        "nice -n 5 make restart",
        "sed -n 1p x",
        "cargo install x --version 1.2",
        "kubectl apply --dry-run=none",
        "git commit -m '--help me'",
        "cargo test -p x",
        "git log -n 3",
        "df -h x",
    ];
    pretending.iter().for_each(|line| dry(line, true));
    real.iter().for_each(|line| dry(line, false));
}

#[track_caller]
fn matched(line: &str, wanted: &str, expected: bool) {
    let pattern = Pattern::read(wanted).expect("a command");
    let found = read(line)
        .commands
        .iter()
        .any(|simple| pattern.fits(simple));
    assert_eq!(found, expected, "{line} as {wanted}");
}

/// Commands that a rule asks for, and lines that run them.
const WANTED: &[(&str, &[&str])] = &[
    (
        "make restart",
        &[
            "make restart",
            "make -C DIR restart",
            "make -j4 restart",
            "make -j 4 restart status",
        ],
    ),
    (
        "make restart",
        &[
            "gmake restart VAR=1",
            "/usr/bin/make -f x restart",
            "make -- restart",
        ],
    ),
    (
        "pip install -e .",
        &[
            "pip --quiet install -e .",
            "pip3 install -e . -q",
            "python -m pip install --upgrade -e .",
        ],
    ),
    (
        "python -m pip install",
        &["pip install x", "python3.12 -m pip install -e ."],
    ),
    (
        "cargo test",
        &[
            "cargo +nightly test --workspace",
            "cargo t",
            "cargo --manifest-path x/Cargo.toml test",
        ],
    ),
    (
        "npm test",
        &[
            "npm run test",
            "npm run -s test",
            "npm t",
            "npm --prefix web test -- -t x",
            "npm run-script test",
        ],
    ),
    ("npm run test", &["npm test", "npm run test"]),
    ("npm run build", &["npm run build", "npm -w web run build"]),
    (
        "kill -USR2",
        &[
            "kill -USR2 12",
            "kill -SIGUSR2 12",
            "kill -s USR2 12",
            "kill -s SIGUSR2 12",
            "kill --signal=USR2 1",
        ],
    ),
    (
        "pkill -SIGUSR2",
        &[
            "pkill -SIGUSR2 -f telec",
            "pkill -USR2 x",
            "pkill -f -USR2 x",
            "pkill --signal USR2 x",
        ],
    ),
    (
        "pkill -SIGUSR2",
        &["pkill -s USR2 telec", "pkill -SIGUSR2 -f 'telec tui'"],
    ),
    (
        "curl *agent-restart",
        &[
            "curl -X POST http://localhost/sessions/1/agent-restart",
            "curl -s 'http://x/agent-restart?x'",
        ],
    ),
    (
        "pytest",
        &[
            "uv run pytest -q",
            "py.test",
            "python -m pytest",
            ".venv/bin/pytest tests",
        ],
    ),
    ("uv run pytest", &["pytest", "uv run pytest"]),
    ("x.sh up", &["bash scripts/x.sh up", "./scripts/x.sh up"]),
    ("./x.sh", &["bash -e scripts/x.sh"]),
    ("telec init", &["telec init", "python bin/telec init"]),
    ("git commit -a", &["git commit -am x"]),
];

#[test]
fn wanted_commands() {
    for (wanted, lines) in WANTED {
        lines.iter().for_each(|line| matched(line, wanted, true));
    }
}

#[test]
fn unwanted_commands() {
    let table = [
        (
            "make restart",
            &[
                "make -f restart",
                "make -C restart",
                "make status",
                "echo make restart",
                "makes restart",
            ][..],
        ),
        (
            "make restart",
            &[
                "make restart-all",
                "make MSG=restart",
                "make test # restart",
                "git commit -m 'make restart'",
            ],
        ),
        (
            "pip install -e .",
            &["pip install .", "pip install -e other ."],
        ),
        (
            "cargo test",
            &[
                "cargo build --test test",
                "cargo run -- test",
                "cargo nextest run",
            ],
        ),
        (
            "npm test",
            &[
                "npm run build",
                "npm -w test run build",
                "npm run build -- test",
            ],
        ),
        (
            "kill -USR2",
            &["kill -USR1 12", "kill 12", "kill -9 12", "pkill -USR2 x"],
        ),
        ("pkill -SIGUSR2", &["pkill telec", "pkill -f SIGUSR2"]),
        (
            "curl *agent-restart",
            &["curl http://x/restart", "wget http://x/agent-restart"],
        ),
        (
            "pytest",
            &["grep pytest x", "pip install pytest", "python pytest_x.py"],
        ),
        ("git push", &["git -c push status", "git log --grep push-x"]),
    ];
    for (wanted, lines) in table {
        lines.iter().for_each(|line| matched(line, wanted, false));
    }
    let simple = &read("make restart").commands[0];
    assert!(Pattern::read("").is_none_or(|nothing| !nothing.fits(simple)));
}

#[test]
fn a_long_line_keeps_its_commands() {
    const BYTES_MAX: usize = 8 * 1024;
    let file = "some = \"text\"\nit's one more line\n".repeat(400);
    let words = file.replace(['"', '\''], "");
    for (line, expected) in [
        (
            format!("cat > a.py <<'EOF'\n{file}EOF\npytest -q"),
            &["~cat", "pytest -q"][..],
        ),
        (
            format!("cat > a.py <<EOF && pytest -q\n{words}EOF\n"),
            &["cat", "pytest -q"],
        ),
        (
            format!("cd a && cat > b <<'A' > c <<'B'\n{file}A\n{file}B\npytest"),
            &["~cd a", "~cat @a", "pytest @a"],
        ),
        // What is left of a script says nothing about the rest of it, nor does the beginning of a line.
        (format!("bash <<'EOF'\npytest -q\n{words}EOF\n"), &["[..]"]),
        (
            format!("bash -c 'pytest -q\n{words}' && make"),
            &["[..]", "make"],
        ),
        ("pytest -q && ".repeat(700), &["[..]"]),
    ] {
        let short = shortened(&line, BYTES_MAX);
        assert!(line.len() > BYTES_MAX && short.len() <= BYTES_MAX);
        check(&short, expected);
    }
    let line =
        format!("git commit -m 'one\n{words}'; python - <<E\nimport a\n{words}import z\nE\n");
    let commands = read(&shortened(&line, BYTES_MAX)).commands;
    let [commit, python] = &commands[..] else {
        panic!("{commands:?}");
    };
    assert!(commit.words[3].starts_with("one\n"));
    let input = python.input.as_deref().unwrap_or_default();
    assert!(input.starts_with("import a\n") && input.ends_with("\nimport z\n"));
    assert_eq!(shortened("make", 4), "make");
}
