//! Sessions and environments, workflows as a hint, and packages of a workspace: what is asked for, and what is enough.

use super::ecosystems::{Case, check};

const CASES: &[Case] = &[
    Case {
        files: &[(
            "noxfile.py",
            "import nox\n\n@nox.session(python=[\"3.11\", \"3.12\"])\ndef tests(session):\n    session.install(\".\")\n    session.run(\n        \"pytest\",\n        \"-q\",\n        *session.posargs,\n    )\n\n@nox.session\ndef docs(session):\n    session.run(\"mkdocs\", \"build\")\n\n@nox.session(name=\"style\")\ndef _style(session):\n    session.run(\"ruff\", \"check\")\n",
        )],
        changed: "shop/cart.py",
        asks: ["nox -s tests", ""],
        tests: &[
            "nox -s tests",
            "nox",
            "nox -s tests-3.12",
            "nox -s style tests",
        ],
        builds: &["mypy shop"],
        neither: &["nox -s style", "nox --list"],
    },
    Case {
        files: &[(
            "tox.ini",
            "[tox]\nenvlist = py{311,312}, lint\n\n[testenv]\ncommands =\n    pytest {posargs:tests}\n\n[testenv:lint]\ncommands = ruff check\n\n[testenv:typing]\ncommands = mypy shop\n",
        )],
        changed: "shop/cart.py",
        asks: ["tox", "tox -e typing"],
        tests: &["tox", "tox -e py312", "tox run -e py311,lint"],
        builds: &["tox -e typing"],
        neither: &["tox -e lint", "tox --list"],
    },
    Case {
        files: &[(
            "pyproject.toml",
            "[tool.tox]\nenv_list = [\"py312\"]\n[tool.tox.env_run_base]\ncommands = [[\"pytest\", \"tests\"]]\n[tool.poe.tasks]\ntypes = \"mypy shop\"\n",
        )],
        changed: "shop/cart.py",
        asks: ["tox", "poe types"],
        tests: &["tox -e py312"],
        builds: &["poe types"],
        neither: &[],
    },
    Case {
        files: &[(
            ".github/workflows/ci.yml",
            "jobs:\n  build:\n    steps:\n      - uses: actions/checkout@v4\n      - run: |\n          pip install -e .\n          python -m pytest -q tests\n      - run: mypy shop && echo ${{ secrets.X }}\n",
        )],
        changed: "shop/cart.py",
        asks: ["python -m pytest -q tests", ""],
        tests: &["pytest"],
        builds: &[],
        neither: &["pip install -e ."],
    },
    Case {
        files: &[
            (
                ".gitlab-ci.yml",
                "test:\n  script:\n    - bundle exec cucumber\n",
            ),
            ("Gemfile", ""),
        ],
        changed: "lib/cart.rb",
        asks: ["bundle exec cucumber", ""],
        tests: &["cucumber features"],
        builds: &[],
        neither: &[],
    },
    Case {
        files: &[
            (
                "package.json",
                r#"{"workspaces": ["apps/*"], "scripts": {"lint": "eslint ."}}"#,
            ),
            ("package-lock.json", ""),
            (
                "apps/web/package.json",
                r#"{"name": "@acme/web", "scripts": {"test": "vitest run", "build": "vite build"}}"#,
            ),
        ],
        changed: "apps/web/src/cart.ts",
        asks: ["npm -w @acme/web test", "npm -w @acme/web run build"],
        tests: &[
            "npm test -w @acme/web",
            "npm -w @acme/web run test",
            "cd apps/web && npm test",
        ],
        builds: &["npm run build --workspace=@acme/web"],
        neither: &["npm run lint", "npm test -w @acme/api"],
    },
    Case {
        files: &[
            ("package.json", "{}"),
            ("pnpm-lock.yaml", ""),
            (
                "pnpm-workspace.yaml",
                "packages:\n  - apps/*\n  - '!apps/old'\n",
            ),
            (
                "apps/web/package.json",
                r#"{"name": "@acme/web", "scripts": {"test": "vitest run"}}"#,
            ),
        ],
        changed: "apps/web/src/cart.ts",
        asks: ["pnpm --filter @acme/web test", ""],
        tests: &["pnpm --filter @acme/web test", "pnpm -r test"],
        builds: &["pnpm --filter @acme/web exec tsc"],
        neither: &["pnpm --filter @acme/api test"],
    },
    Case {
        files: &[
            (
                "package.json",
                r#"{"packageManager": "yarn@4.1.0", "workspaces": {"packages": ["packages/**"]}}"#,
            ),
            (
                "turbo.json",
                r#"{"tasks": {"test": {"dependsOn": ["^build"]}, "build": {}}}"#,
            ),
            (
                "packages/ui/core/package.json",
                r#"{"name": "core", "scripts": {"test": "jest", "types": "tsc"}}"#,
            ),
        ],
        changed: "packages/ui/core/src/cart.ts",
        asks: [
            "yarn turbo run test --filter=core",
            "yarn workspace core run types",
        ],
        tests: &[
            "turbo run test --filter=core",
            "npx turbo test",
            "yarn workspace core test",
        ],
        builds: &["turbo run types --filter=core"],
        neither: &["turbo run lint", "turbo run test --filter=api"],
    },
    Case {
        files: &[
            ("package.json", "{}"),
            (
                "apps/web/project.json",
                r#"{"name": "web", "targets": {"test": {"executor": "@nx/vite:test"}, "e2e": {"command": "playwright test"}, "types": {"executor": "nx:run-commands", "options": {"commands": ["tsc --noEmit"]}}}}"#,
            ),
        ],
        changed: "apps/web/src/cart.ts",
        asks: ["npx nx run web:test", "npx nx run web:types"],
        tests: &[
            "nx test web",
            "npx nx run web:test",
            "nx run-many -t test lint",
            "nx affected --target=test",
        ],
        builds: &["nx run web:types"],
        neither: &["nx lint web", "nx test api"],
    },
    Case {
        files: &[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\n"),
            (
                "crates/cart/Cargo.toml",
                "[package]\nname = \"shop-cart\"\n",
            ),
        ],
        changed: "crates/cart/src/lib.rs",
        asks: ["cargo test -p shop-cart", "cargo build -p shop-cart"],
        tests: &["cargo test -p shop-cart", "cargo nextest run --workspace"],
        builds: &["cargo check -p shop-cart"],
        neither: &["cargo fmt", "cargo test -p shop-pay"],
    },
    Case {
        files: &[
            ("go.work", "go 1.22\n\nuse (\n\t./srv\n\t./lib\n)\n"),
            ("srv/go.mod", "module example.org/srv\n"),
        ],
        changed: "srv/pay/pay.go",
        asks: ["go test ./srv/...", "go build ./srv/..."],
        tests: &["go test ./srv/...", "cd srv && go test ./..."],
        builds: &["cd srv && go vet ./..."],
        neither: &["gofmt -l .", "go test ./lib/..."],
    },
];

#[test]
fn tasks_of_python_and_packages_of_workspaces() {
    check(CASES);
}
