//! Which failures are answers, and what settles the others (spec HYG-10, HYG-11).

use super::*;

/// By the rules before HYG-16.
fn is_open(lines: &[&str]) -> bool {
    let mut policy = policy("");
    policy.hygiene.errors = Errors::Broken;
    found("notes.md", lines, &policy).unresolved
}

const ANSWERS: &[&str] = &[
    // Questions to programs.
    "! git config --get user.signingkey -> Exit code 1",
    "! git show HEAD:docs/old.md -> Exit code 128\nfatal: path 'docs/old.md' does not exist in 'HEAD'",
    "! git rev-parse --verify feature -> Exit code 128\nfatal: Needed a single revision",
    "! git merge-base --is-ancestor a b -> Exit code 1",
    "! git diff --quiet HEAD -> Exit code 1",
    "! command -v deno -> Process exited with code 1\nOutput:\n",
    "! which go && go version -> Exit code 1",
    "! terraform --version -> Exit code 127\nbash: terraform: command not found",
    "! ls dist -> Exit code 2\nls: cannot access 'dist': No such file or directory",
    "! cd app && cat notes.txt -> cat: notes.txt: No such file or directory",
    "! sed -n 1,20p x.py -> sed: can't read x.py",
    "! diff a b -> Exit code 2",
    "! [ -f x ] -> Exit code 1",
    "! pgrep -f vite -> Exit code 1",
    "! kill -0 4242 -> Exit code 1",
    "! pkill -f 'node server.js' -> Error",
    "! gh pr checks 12 -> Exit code 8\nbuild pending",
    "! gh run view 77 --log-failed -> Exit code 1",
    "! systemctl is-active nginx -> Exit code 3\ninactive",
    "! ssh box 'systemctl status api --no-pager' -> Exit code 3",
    "! docker compose ps -> Exit code 1\nno configuration file provided",
    "! npm ls react -> Exit code 1\n└── (empty)",
    "! npm audit -> Exit code 1\n3 vulnerabilities",
    "! curl -fsS http://localhost:8080/health -> Exit code 22\ncurl: (22) 404",
    "! kubectl get pod api-0 -> Exit code 1\nNotFound",
    "! Get-ChildItem -Recurse build | Select-Object Name -> Exit code: 1\nOutput:\nPathNotFound",
    "! Test-Path x; Get-Content -Raw src\\x.cs -> Exit code: 1\nOutput:\n",
    "! mkdir build -> mkdir: cannot create directory 'build': File exists",
    "! acli info x -> Exit code 2\nError: No such command 'info'.",
    // There was nothing to do.
    "! git commit -m x -> Exit code 1\nOn branch main\nnothing to commit, working tree clean",
    "! git diff HEAD -- a.rs | git apply - -> Exit code 128\nerror: No valid patches in input",
    "! git stash pop -> Exit code 1\nNo stash entries found.",
    // Servers and watchers that were stopped.
    "! npm run dev -> Exit code 143",
    "! npm start -> Command timed out after 10s\nServer listening on 3000",
    "! timeout 5 python app.py -> Exit code 124\n * Running on http://127.0.0.1:5000",
    "! node server.js -> Process exited with code 130\nOutput:\n^C",
    "!other write_stdin -> Process exited with code 130\nOutput:\n",
    "!other write_stdin -> Process exited with code 1\nOutput:\n^C",
    // Calls that never ran.
    "! cargo test -> <tool_use_error>Sibling tool call errored</tool_use_error>",
    "! git push -> The user doesn't want to proceed with this tool use.",
    "! cd .. && make -> cd to '/home' was blocked. For security, the agent may only change to child directories",
    "!other mcp__db__migrate -> Error: No such tool available: mcp__db__migrate",
    // Tools that look.
    "!read src/missing.py -> File does not exist.",
    "!read src -> EISDIR: illegal operation on a directory",
    "!other WebFetch -> Request failed with status code 404",
    "!other google_web_search -> quota",
    "!other mcp__docs__get_page -> not found",
    // Files that are not the project's.
    "!edit /home/me/.agent/memory/MEMORY.md -> String to replace not found",
    // Gemini says that nothing was wrong.
    "! npm run seed -> Output: done\nError: (none)\nExit Code: 0",
];

#[test]
fn failures_that_are_answers() {
    for line in ANSWERS.iter().copied() {
        assert!(!is_open(&[line]), "{line}");
        // Another call does not make it one.
        assert!(!is_open(&[line, "$ git status"]), "{line}");
    }
}

#[test]
fn failures_that_say_that_something_is_broken() {
    for line in [
        "! python app/main.py -> Exit code 1\nModuleNotFoundError: No module named 'torch'",
        "! npm run build -> Exit code 1\nerror TS2322",
        "! ls src; echo ==; npm test 2>&1 | tail -3 -> Exit code 1\nsrc\n(eval):1: = not found",
        "! cargo test 2>&1 | tail -3 -> Exit code 2\nbash: -c: line 1: syntax error near unexpected token `|'",
        "! git commit -m x -> Exit code 1\nThe following paths are ignored",
        "! git add x && git diff --quiet -> Exit code 128\nfatal: pathspec 'x'",
        "! git config user.name -x y -> Exit code 1",
        "! git branch -d feature -> Exit code 1\nerror: not fully merged",
        "! cargo test -> Exit code 101\ntest result: FAILED. 1 failed",
        "! cargo test 2>&1 -> Command timed out after 120s",
        "! timeout 60 npm test -> Exit code 124",
        "! curl -o data.zip https://example.org/data.zip -> Exit code 6",
        "! curl -X POST http://localhost/api -> Exit code 7",
        "! grep -rn token src/missing -> Exit code 2\ngrep: src/missing: No such file or directory",
        "! ssh box 'cd /srv && make deploy' -> Exit code 2",
        "! dotnet ef database update -> Exit code 1",
        "! docker build . -> Exit code 1",
        "! npm ls react && npm run build -> Exit code 1",
        "! Copy-Item a b -> Exit code: 1\nOutput:\n",
        "! Get-Content a.cs | Set-Content b.cs -> Exit code: 1\nOutput:\n",
        "!edit src/a.rs -> String to replace not found in file.",
        "!other mcp__db__migrate -> syntax error at or near",
        "!other write_stdin -> Process exited with code 1\nOutput:\n1 failed",
    ] {
        assert!(is_open(&[line]), "{line}");
        // To read what it names does not repair it, and neither does a record of it.
        for look in [
            "read src/a.rs",
            "read app/main.py",
            "$ cat app/main.py src/a.rs",
            "$ Get-Content -Raw app\\main.py",
            "$ git stash push app/main.py",
            "$ git status --short",
        ] {
            let is_search = line.starts_with("! grep");
            assert!(is_search || is_open(&[line, look]), "{line} {look}");
        }
    }
}

/// A failure, and what settles it.
const SETTLED: &[[&str; 2]] = &[
    // The same again, with other options, from elsewhere, by another program of the kind.
    [
        "! python3 tools/gen.py -> Exit code 127\ncommand not found",
        "$ python tools/gen.py --force",
    ],
    [
        "! cd web && npm run build -> Exit code 1",
        "$ npm run build",
    ],
    [
        "! go build ./go/cmd/api -> Exit code 127",
        "$ cd go && /usr/local/go/bin/go build ./cmd/api",
    ],
    ["! strip bin/api -> no such file", "$ strip api"],
    [
        "! npm run lint -> Missing script: \"lint\"",
        "$ npx eslint .",
    ],
    ["! npm run test:unit -> Exit code 1", "$ npx vitest run"],
    ["! pytest -q -> Exit code 1\n1 failed", "$ mise run test"],
    [
        "! pip install rich -> Exit code 1\nexternally-managed",
        "$ uv pip install --system rich",
    ],
    [
        "! brew install jq -> Exit code 1\nError: no bottle",
        "$ sudo apt-get install -y jq",
    ],
    [
        "! conda install -c conda-forge gdal==3.9 -> Exit code 1",
        "$ pip install 'gdal<3.9'",
    ],
    ["! rmdir out -> Exit code 1\nnot empty", "$ rm -rf out"],
    [
        "! conda run -n ml python train.py -> Exit code 1\nTraceback",
        "$ conda run -n ml python train.py",
    ],
    [
        "! python -c 'print(open(\"a/report.pdf\"))' -> Exit code 1\nFileNotFoundError",
        "$ python - <<'EOF'\nopen('/tmp/report.pdf')\nEOF",
    ],
    // A change of what the message names.
    [
        "! pytest -> File \"/home/me/app/pkg/a.py\", line 3",
        "edit pkg/a.py",
    ],
    [
        "! npx tsc -> src\\a.ts(3,1): error",
        "$ sed -i s/x/y/ src/a.ts",
    ],
    [
        "! python code\\data.py -> Exit code: 1\nTraceback",
        "$ $t = Get-Content code\\data.py\nSet-Content code\\data.py $t",
    ],
    ["!edit pkg/a.py -> String not found", "edit pkg/a.py"],
    ["!edit pkg/a.py -> String not found", "write ./pkg/a.py"],
    // Work on what was tested, built or run: the tests are due again after it.
    [
        "! python check_carts.py -> Exit code 1\nno such column",
        "edit models/cart.py",
    ],
    ["! npm test -> Exit code 1\n1 failed", "edit src/cart.ts"],
    ["! ./gradlew build -> FAILURE", "write src/main/Cart.kt"],
    ["! make -> Exit code 2", "edit src/cart.c"],
    ["!other apply_changes -> conflict", "other apply_changes"],
    // A search that found its way.
    [
        "! rg token src/missing -> rg: src/missing: No such file or directory (os error 2)",
        "$ rg token src",
    ],
    [
        "! grep -rn token lib -> Exit code 2\ngrep: lib: No such file or directory",
        "$ find . -name '*.rs'",
    ],
];

#[test]
fn what_settles_a_failure() {
    for lines in SETTLED {
        assert!(is_open(&lines[..1]), "{lines:?}");
        assert!(!is_open(lines), "{lines:?}");
        // Not if it came before.
        assert!(is_open(&[lines[1], lines[0]]), "{lines:?}");
    }
}

#[test]
fn what_settles_nothing() {
    for lines in [
        ["! make lint -> error", "$ make build"],
        ["! npm run lint -> error", "$ npm run build"],
        ["! docker compose up -d -> error", "$ docker compose down"],
        ["! gh pr create --fill -> error", "$ gh pr view"],
        [
            "! pytest tests/a.py -> Exit code 1\n1 failed",
            "$ npm install",
        ],
        ["! python tools/gen.py -> error", "$ python tools/other.py"],
        ["! python -c 'import a' -> error", "$ python -m venv x"],
        ["!edit pkg/a.py -> String not found", "edit pkg/b.py"],
        // Work on something else.
        ["! npm test -> Exit code 1\n1 failed", "edit notes.md"],
        ["! npm test -> Exit code 1\n1 failed", "edit app/cart.py"],
        ["! npm test -> Exit code 1\n1 failed", "!edit src/cart.ts"],
        ["! npm install -> Exit code 1", "edit src/cart.ts"],
        ["! brew install jq -> Exit code 1", "$ apt-get install yq"],
        ["! docker compose up -d -> error", "edit src/cart.ts"],
        ["! terraform apply -> error", "edit src/cart.ts"],
        [
            "! cargo test -> Exit code 101",
            "! cargo test -> Exit code 101",
        ],
    ] {
        assert!(is_open(&lines), "{lines:?}");
    }
}

#[test]
fn a_tool_that_is_not_there_says_nothing_of_the_code() {
    let missing = [
        "! acme-gen init -> Exit code 127\nbash: acme-gen: command not found",
        "! npx acme init -p -> npm error could not determine executable to run",
        "! ./node_modules/acme/cli.js init -> bash: line 1: ./node_modules/acme/cli.js: No such file or directory",
        "! python -m acme -> /usr/bin/python: No module named acme",
        "! acme -> 'acme' is not recognized as an internal or external command,",
        "! uv run acme -> error: Failed to spawn: `acme`\n  Caused by: No such file or directory (os error 2)",
    ];
    for line in missing {
        assert!(is_open(&[line]), "{line}");
        assert!(!is_open(&[line, "edit acme.config.js"]), "{line}");
        assert!(!is_open(&[line, "$ other-gen init"]), "{line}");
        assert!(is_open(&[line, "$ ls"]), "{line}");
        assert!(
            is_open(&[line, "! other-gen init -> Exit code 1\nno"]),
            "{line}"
        );
    }
    // A program that is there and fails is another matter.
    let broken = "! python app.py -> Traceback (most recent call last):\nModuleNotFoundError: No module named 'acme'";
    assert!(is_open(&[broken, "edit notes.txt"]));
}

/// By HYG-16.
fn is_left(lines: &[&str]) -> bool {
    found("notes.md", lines, &policy("")).unresolved
}

#[test]
fn failures_that_say_something_of_the_project() {
    for line in [
        "! python app/main.py -> Exit code 1\nKeyError",
        "! npm run build -> Exit code 1\nerror TS2322",
        "! cargo test -> Exit code 101\ntest result: FAILED. 1 failed",
        "! npm install -> Exit code 1",
        "! docker compose up -d -> Exit code 1",
        "! sudo systemctl restart shop -> Exit code 1",
        "! ssh box 'cd /srv && make deploy' -> Exit code 2",
        "! psql -f db/seed.sql -> Exit code 3",
        "! git commit -m x -> Exit code 1\nhook failed",
        "! gh pr create --fill -> Exit code 1\nNot Found",
        "! curl -X POST http://localhost:3000/api -> Exit code 7",
        "! git stash pop -> Exit code 1\nCONFLICT (content): Merge conflict in a.md",
        "! acme-gen init -> Exit code 127\nbash: acme-gen: command not found",
        "!edit src/a.rs -> String to replace not found in file.",
        "!other mcp__github__create_pull_request -> 403",
        "!other mcp__db__migrate -> syntax error at or near",
    ] {
        assert!(is_left(&[line]), "{line}");
        assert!(is_left(&[line, "$ git status --short"]), "{line}");
    }
    for line in [
        "! convert a.svg a.png -> Exit code 1\nno delegate",
        "! cp src/a.ts /mnt/x -> Exit code 1",
        "! docker rm -f shop -> Exit code 1\nNo such container",
        "! docker network create shop -> Exit code 1\nnetwork with name shop already exists",
        "! git branch -d feature -> Exit code 1\nerror: not fully merged",
        "! gh issue comment 3 -b ok -> Exit code 1",
        "! python3 -c 'import json; print(json.load(open(\"x\"))[0])' -> Traceback (most recent call last):\n  File \"<string>\", line 1\nKeyError: 0",
        "!other mcp__browser__click -> Timeout",
    ] {
        assert!(!is_left(&[line]), "{line}");
    }
}

/// A failure, and what is about the same.
const SAME: &[[&str; 2]] = &[
    [
        "! node tools/import-orders.ts -> SyntaxError",
        "$ npx tsx tools/import-orders.ts",
    ],
    [
        "! ./deploy.sh web -> unbound variable",
        "$ gcloud run deploy web --source .",
    ],
    [
        "! python tools/load.py -> Exit code 1",
        "$ docker compose exec web python tools/load.py",
    ],
    [
        "! git pull -> Exit code 128\nfatal: Not possible to fast-forward",
        "$ git rebase origin/main",
    ],
    [
        "! git add x.md -> Exit code 128\nfatal: pathspec 'x.md'",
        "$ git commit -am x",
    ],
    [
        "! gh pr create --fill -> Exit code 1",
        "other mcp__github__create_pull_request",
    ],
    ["!edit pkg/a.py -> String not found", "read pkg/a.py"],
    [
        "!edit pkg/a.py -> String not found",
        "$ sed -n 1,20p pkg/a.py",
    ],
    [
        "! flask run -> Exit code 1",
        "$ (python -m shop.web &) ; sleep 1",
    ],
];

/// A failure, and what is about something else.
const OTHERS: &[[&str; 2]] = &[
    // Nothing in common, or only what many commands have.
    [
        "! node tools/import-orders.ts -> SyntaxError",
        "$ node tools/export-carts.ts",
    ],
    [
        "! python tools/build.py -> Exit code 1",
        "$ python docs/build_index.py",
    ],
    [
        "! docker compose up -d -> Exit code 1",
        "$ docker compose down",
    ],
    // The other one failed too, or its end is not known.
    [
        "! node tools/import-orders.ts -> SyntaxError",
        "! npx tsx tools/import-orders.ts -> Exit code 1",
    ],
    [
        "! node tools/import-orders.ts -> SyntaxError",
        "$ echo import-orders",
    ],
    // Another thing that lasts.
    [
        "! npm publish -w orders -> Exit code 1",
        "$ npm pack -w orders",
    ],
    [
        "! git push origin guide -> Exit code 1",
        "$ git commit -qam guide",
    ],
    [
        "! git commit -m x -> Exit code 1\nhook failed",
        "$ git add -A",
    ],
    ["!edit pkg/a.py -> String not found", "read pkg/b.py"],
];

#[test]
fn what_is_about_the_same() {
    for lines in SAME {
        assert!(is_left(&lines[..1]), "{lines:?}");
        assert!(!is_left(lines), "{lines:?}");
        assert!(is_left(&[lines[1], lines[0]]), "{lines:?}");
    }
    for lines in OTHERS {
        assert!(is_left(lines), "{lines:?}");
    }
}
