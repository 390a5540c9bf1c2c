//! What verifies a turn's changes.

use super::*;

#[test]
fn a_task_is_what_it_runs() {
    let shop = project(
        ". npm verify: npm run lint && npm run unit
         . npm lint: eslint .
         . npm unit: vitest run
         . npm check: prettier --check .
         . npm slow: ./slow.sh
         . make ci: make lint ;; go vet ./... ;; go test ./...
         . make lint: golangci-lint run
         . mise test:all: mise run test:all
         . just t: pytest -q
         cart.ts < cart.test.ts
         pay.go < pay_test.go
         tax.py < test_tax.py",
    );
    let table = [
        asked(&shop, &["edit cart.ts", "$ npm run verify"]),
        asked(&shop, &["edit cart.ts", "$ CI=1 pnpm verify"]),
        asked(&shop, &["edit cart.ts", "$ npm run check"]),
        asked(&shop, &["edit cart.ts", "$ npm run slow"]),
        asked(&shop, &["edit cart.ts", "! npm run verify"]),
        asked(&shop, &["$ npm run verify", "edit cart.ts"]),
        asked(&shop, &["edit pay.go", "$ make ci"]),
        asked(&shop, &["edit pay.go", "$ make lint"]),
        asked(&shop, &["edit pay.go", "$ mise run test:all"]),
        asked(&shop, &["edit tax.py", "$ just t"]),
        asked(&shop, &["edit tax.py", "$ make ci"]),
        asked(&shop, &["edit tax.py", "$ nox -s integration"]),
    ];
    insta::assert_snapshot!(table.join("\n"), @r#"
    edit cart.ts ; $ npm run verify
        -
    edit cart.ts ; $ CI=1 pnpm verify
        -
    edit cart.ts ; $ npm run check
        Run the tests that cover the changed code (`npm run unit`)
    edit cart.ts ; $ npm run slow
        Run the tests that cover the changed code (`npm run unit`)
    edit cart.ts ; ! npm run verify
        Run the tests that cover the changed code (`npm run unit`)
    $ npm run verify ; edit cart.ts
        Run the tests that cover the changed code (`npm run unit`)
    edit pay.go ; $ make ci
        -
    edit pay.go ; $ make lint
        Run the tests that cover the changed Go code (`make ci`)
    edit pay.go ; $ mise run test:all
        -
    edit tax.py ; $ just t
        -
    edit tax.py ; $ make ci
        Run the tests that cover the changed Python code (`mise run test:all`)
    edit tax.py ; $ nox -s integration
        -
    "#);
}

#[test]
fn a_build_or_a_run_is_enough_without_a_test() {
    let site = project(
        "api: api
         . npm build: vite build
         . npm lint: eslint src
         src/cart.ts < src/cart.test.ts",
    );
    let table: Vec<String> = [
        &["edit src/page.ts"][..],
        &["edit src/page.ts", "$ npm run build"],
        &["edit src/page.ts", "$ npm run lint"],
        &["edit src/page.ts", "$ npx tsc --noEmit"],
        &["edit src/page.ts", "$ npm run build", "edit src/page.ts"],
        &["edit src/page.ts", "edit src/site.css", "$ npm run build"],
        &["edit src/page.ts", "$ cargo build"],
        &["edit src/page.ts", "$ npm test"],
        &[
            "edit src/page.ts",
            "tool mcp__playwright__browser_take_screenshot",
        ],
        &[
            "edit src/page.ts",
            "$ npm run dev &",
            "$ curl -s localhost:5173",
        ],
        &["edit src/page.ts", "$ curl -s https://example.org/"],
        &[
            "edit src/page.ts",
            "$ ./deploy.sh && ssh host systemctl restart app",
            "$ curl -s https://example.org/",
        ],
        &["edit src/cart.ts", "$ npm run build"],
        &["edit src/cart.ts", "edit src/page.ts", "$ npx vitest run"],
        &["edit cmd/a/main.go", "$ go vet ./..."],
        &["edit api/x.py", "$ python -m py_compile api/x.py"],
        &["edit api/x.py", "$ mypy api"],
        &["edit lib/x.kt", "$ ./gradlew compileKotlin"],
        &["gone src/old.ts"],
        &["empty src/new.py"],
    ]
    .map(|lines| asked(&site, lines))
    .to_vec();
    insta::assert_snapshot!(table.join("\n"), @r#"
    edit src/page.ts
        Build or run the changed code: no test covers it (`npm run build`)
    edit src/page.ts ; $ npm run build
        -
    edit src/page.ts ; $ npm run lint
        Build or run the changed code: no test covers it (`npm run build`)
    edit src/page.ts ; $ npx tsc --noEmit
        -
    edit src/page.ts ; $ npm run build ; edit src/page.ts
        Build or run the changed code: no test covers it (`npm run build`)
    edit src/page.ts ; edit src/site.css ; $ npm run build
        -
    edit src/page.ts ; $ cargo build
        Build or run the changed code: no test covers it (`npm run build`)
    edit src/page.ts ; $ npm test
        -
    edit src/page.ts ; tool mcp__playwright__browser_take_screenshot
        -
    edit src/page.ts ; $ npm run dev & ; $ curl -s localhost:5173
        -
    edit src/page.ts ; $ curl -s https://example.org/
        Build or run the changed code: no test covers it (`npm run build`)
    edit src/page.ts ; $ ./deploy.sh && ssh host systemctl restart app ; $ curl -s https://example.org/
        -
    edit src/cart.ts ; $ npm run build
        Run the tests that cover the changed code (`npm test` or the project's own runner)
    edit src/cart.ts ; edit src/page.ts ; $ npx vitest run
        -
    edit cmd/a/main.go ; $ go vet ./...
        -
    edit api/x.py ; $ python -m py_compile api/x.py
        Build or run the changed code: no test covers it
    edit api/x.py ; $ mypy api
        -
    edit lib/x.kt ; $ ./gradlew compileKotlin
        -
    gone src/old.ts
        -
    empty src/new.py
        -
    "#);
}

#[test]
fn the_changed_program_was_run() {
    let tools = project("tools: tools");
    let table: Vec<String> = [
        &[
            "edit tools/report.py",
            "$ python3 tools/report.py --month 3",
        ][..],
        &["edit tools/report.py", "$ cd tools && python report.py"],
        &[
            "edit tools/report.py",
            "! python3 tools/report.py -> Traceback",
        ],
        &[
            "edit tools/report.py",
            "! python3 tools/report.py -> Command timed out after 5s",
        ],
        &[
            "edit tools/report.py",
            "$ python3 tools/report.py",
            "edit tools/report.py",
        ],
        &["edit tools/lib/rows.py", "$ python tools/main.py"],
        &["edit tools/lib/rows.py", "$ python other/main.py"],
        &["edit tools/lib/rows.py", "$ python -m tools.lib.rows"],
        &[
            "edit tools/lib/rows.py",
            "$ python -c 'from tools.lib.rows import load; print(load(3))'",
        ],
        &[
            "edit tools/lib/rows.py",
            "$ python -c 'import tools.lib.rows; print(1)'",
        ],
        &[
            "edit tools/lib/rows.py",
            "$ python - <<'EOF'\nfrom lib import rows\nassert rows.load()\nEOF",
        ],
        &["edit tools/lib/rows.py", "$ python -c 'print(1)'"],
        &[
            "edit web/tool.mjs",
            "$ node -e \"require('./web/tool.mjs').run()\"",
        ],
        &["edit web/tool.mjs", "$ node --check web/tool.mjs"],
        &["edit bin/sync.sh", "$ ./bin/sync.sh"],
        &["edit bin/sync.sh", "$ bash bin/sync.sh --all"],
        &["edit bin/sync.sh", "$ bash -n bin/sync.sh"],
        &["edit bin/sync.sh", "$ chmod +x bin/sync.sh"],
        &["edit cmd/x/main.go", "$ go run ./cmd/x"],
        &["edit cmd/x/main.go", "$ go run ./cmd/y"],
        &["edit src/main.rs", "$ cargo run -- --version"],
        &["edit code\\x.py", "$ python code\\x.py"],
    ]
    .map(|lines| asked(&tools, lines))
    .to_vec();
    insta::assert_snapshot!(table.join("\n"), @r#"
    edit tools/report.py ; $ python3 tools/report.py --month 3
        -
    edit tools/report.py ; $ cd tools && python report.py
        -
    edit tools/report.py ; ! python3 tools/report.py -> Traceback
        Build or run the changed code: no test covers it
    edit tools/report.py ; ! python3 tools/report.py -> Command timed out after 5s
        -
    edit tools/report.py ; $ python3 tools/report.py ; edit tools/report.py
        Build or run the changed code: no test covers it
    edit tools/lib/rows.py ; $ python tools/main.py
        -
    edit tools/lib/rows.py ; $ python other/main.py
        Build or run the changed code: no test covers it
    edit tools/lib/rows.py ; $ python -m tools.lib.rows
        -
    edit tools/lib/rows.py ; $ python -c 'from tools.lib.rows import load; print(load(3))'
        -
    edit tools/lib/rows.py ; $ python -c 'import tools.lib.rows; print(1)'
        Build or run the changed code: no test covers it
    edit tools/lib/rows.py ; $ python - <<'EOF'
        -
    edit tools/lib/rows.py ; $ python -c 'print(1)'
        Build or run the changed code: no test covers it
    edit web/tool.mjs ; $ node -e "require('./web/tool.mjs').run()"
        -
    edit web/tool.mjs ; $ node --check web/tool.mjs
        Build or run the changed code: no test covers it
    edit bin/sync.sh ; $ ./bin/sync.sh
        -
    edit bin/sync.sh ; $ bash bin/sync.sh --all
        -
    edit bin/sync.sh ; $ bash -n bin/sync.sh
        Build or run the changed code: no test covers it
    edit bin/sync.sh ; $ chmod +x bin/sync.sh
        Build or run the changed code: no test covers it
    edit cmd/x/main.go ; $ go run ./cmd/x
        -
    edit cmd/x/main.go ; $ go run ./cmd/y
        Build or run the changed code: no test covers it (`go build ./...`)
    edit src/main.rs ; $ cargo run -- --version
        -
    edit code\x.py ; $ python code\x.py
        -
    "#);
}

#[test]
fn evidence_belongs_to_its_package() {
    let mono = project(
        "apps/web: @acme/web
         crates/api: api
         srv: example.org/srv
         py: py
         . npm test: turbo run test
         apps/web npm test: vitest run
         apps/web/src/a.ts < apps/web/src/a.test.ts
         crates/api/src/lib.rs < crates/api/tests/all.rs
         srv/pay/pay.go < srv/pay/pay_test.go
         py/app/user.py < py/tests/test_user.py",
    );
    let web = "edit apps/web/src/a.ts";
    let api = "edit crates/api/src/lib.rs";
    let pay = "edit srv/pay/pay.go";
    let user = "edit py/app/user.py";
    let table: Vec<String> = [
        [web, "$ npm test"],
        [web, "$ pnpm --filter @acme/web test"],
        [web, "$ pnpm --filter web run test"],
        [web, "$ pnpm --filter admin test"],
        [web, "$ cd apps/web && npx vitest run"],
        [web, "$ cd /home/me/app/apps/web/src && npx vitest run"],
        [web, "$ cd apps/admin && npx vitest run"],
        [web, "$ npx vitest run src/a.test.ts"],
        [web, "$ npx vitest run src/b/other.test.ts"],
        [web, "$ npx nx test web"],
        [api, "$ cargo test"],
        [api, "$ cargo test -p api user"],
        [api, "$ cargo test -p worker"],
        [api, "$ cargo test --manifest-path crates/api/Cargo.toml"],
        [api, "$ cd crates/worker && cargo test"],
        [pay, "$ cd srv && go test ./..."],
        [pay, "$ go test ./srv/pay -run TestPay"],
        [pay, "$ go test example.org/srv/pay/..."],
        [pay, "$ go test ./srv/tax/..."],
        [user, "$ cd py && pytest"],
        [user, "$ pytest py/tests"],
        [user, "$ pytest py/tests/test_user.py::test_name -q"],
        [user, "$ pytest py/tests/test_order.py"],
        [user, "$ pytest -k order"],
    ]
    .map(|lines| asked(&mono, &lines))
    .to_vec();
    insta::assert_snapshot!(table.join("\n"), @r#"
    edit apps/web/src/a.ts ; $ npm test
        -
    edit apps/web/src/a.ts ; $ pnpm --filter @acme/web test
        -
    edit apps/web/src/a.ts ; $ pnpm --filter web run test
        -
    edit apps/web/src/a.ts ; $ pnpm --filter admin test
        Run the tests that cover the changed code (`cd apps/web && npm test`)
    edit apps/web/src/a.ts ; $ cd apps/web && npx vitest run
        -
    edit apps/web/src/a.ts ; $ cd /home/me/app/apps/web/src && npx vitest run
        -
    edit apps/web/src/a.ts ; $ cd apps/admin && npx vitest run
        Run the tests that cover the changed code (`cd apps/web && npm test`)
    edit apps/web/src/a.ts ; $ npx vitest run src/a.test.ts
        -
    edit apps/web/src/a.ts ; $ npx vitest run src/b/other.test.ts
        Run the tests that cover the changed code (`cd apps/web && npm test`)
    edit apps/web/src/a.ts ; $ npx nx test web
        -
    edit crates/api/src/lib.rs ; $ cargo test
        -
    edit crates/api/src/lib.rs ; $ cargo test -p api user
        -
    edit crates/api/src/lib.rs ; $ cargo test -p worker
        Run the tests that cover the changed Rust code (`cargo test`)
    edit crates/api/src/lib.rs ; $ cargo test --manifest-path crates/api/Cargo.toml
        -
    edit crates/api/src/lib.rs ; $ cd crates/worker && cargo test
        Run the tests that cover the changed Rust code (`cargo test`)
    edit srv/pay/pay.go ; $ cd srv && go test ./...
        -
    edit srv/pay/pay.go ; $ go test ./srv/pay -run TestPay
        -
    edit srv/pay/pay.go ; $ go test example.org/srv/pay/...
        -
    edit srv/pay/pay.go ; $ go test ./srv/tax/...
        Run the tests that cover the changed Go code (`go test ./...`)
    edit py/app/user.py ; $ cd py && pytest
        -
    edit py/app/user.py ; $ pytest py/tests
        -
    edit py/app/user.py ; $ pytest py/tests/test_user.py::test_name -q
        -
    edit py/app/user.py ; $ pytest py/tests/test_order.py
        Run the tests that cover the changed Python code (`pytest`)
    edit py/app/user.py ; $ pytest -k order
        -
    "#);
}

#[test]
fn each_key_gives_the_old_judgment() {
    let shop = project(
        "web: web
         . npm verify: vitest run
         web/a.ts < web/a.test.ts",
    );
    let mut listed = policy();
    listed.verify.commands = Commands::Listed;
    let mut tests = policy();
    tests.verify.uncovered = Uncovered::Tests;
    let mut anywhere = policy();
    anywhere.verify.scope = VerifiedCode::Anywhere;
    let table = [
        asked_by(&listed, &shop, &["edit web/a.ts", "$ npm run verify"]),
        asked_by(&policy(), &shop, &["edit web/a.ts", "$ npm run verify"]),
        asked_by(&tests, &shop, &["edit web/b.ts", "$ npx tsc"]),
        asked_by(&policy(), &shop, &["edit web/b.ts", "$ npx tsc"]),
        asked_by(
            &anywhere,
            &shop,
            &["edit web/a.ts", "$ cd api && npx vitest"],
        ),
        asked_by(
            &policy(),
            &shop,
            &["edit web/a.ts", "$ cd api && npx vitest"],
        ),
    ];
    insta::assert_snapshot!(table.join("\n"), @r#"
    edit web/a.ts ; $ npm run verify
        Run the tests that cover the changed code (`npm test` or the project's own runner)
    edit web/a.ts ; $ npm run verify
        -
    edit web/b.ts ; $ npx tsc
        Run the tests that cover the changed code (`npm run verify`)
    edit web/b.ts ; $ npx tsc
        -
    edit web/a.ts ; $ cd api && npx vitest
        -
    edit web/a.ts ; $ cd api && npx vitest
        Run the tests that cover the changed code (`npm run verify`)
    "#);
}

/// Decisions that were made with other values stay as they were.
#[test]
fn each_scope_judges_as_it_did() {
    let shop = project(
        "tests/test_b.py < tests/test_b.py
         test/cart_test.rb < test/cart_test.rb
         src/pager.c < src/pager_test.c
         src/test/java/AppTest.java < src/test/java/AppTest.java",
    );
    let (mut package, mut files) = (policy(), policy());
    package.verify.scope = VerifiedCode::Package;
    files.verify.scope = VerifiedCode::Files;
    let is_enough = |policy: &Policy, edited: &str, command: &str| {
        asked_by(policy, &shop, &[edited, command]).ends_with("\n    -")
    };
    for (edited, command) in [
        ("edit tests/test_b.py", "$ pytest -q tests/test_a.py"),
        ("edit test/cart_test.rb", "$ ruby test/user_test.rb"),
    ] {
        assert!(is_enough(&package, edited, command), "{command}");
        assert!(!is_enough(&files, edited, command), "{command}");
        assert!(!is_enough(&policy(), edited, command), "{command}");
    }
    let (edited, command) = (
        "edit src/test/java/AppTest.java",
        "$ mvn test -Dtest=ShopTest",
    );
    assert!(is_enough(&files, edited, command), "{command}");
    assert!(!is_enough(&policy(), edited, command), "{command}");
    let (edited, command) = (
        "edit app/server/wiring.py",
        "$ pytest -q tests/unit/server/test_routes.py",
    );
    assert!(!is_enough(&files, edited, command), "{command}");
    assert!(is_enough(&policy(), edited, command), "{command}");
    let (edited, command) = ("edit src/pager.c", "$ ./build/pager_test");
    assert!(!is_enough(&package, edited, command), "{command}");
    assert!(is_enough(&files, edited, command), "{command}");
    assert!(is_enough(&policy(), edited, command), "{command}");
}
