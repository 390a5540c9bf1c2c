//! The tests that cover a file.

use std::collections::BTreeMap;

use super::*;

#[test]
fn what_is_a_test_by_its_name() {
    let table = [
        "src/test_user.py src/user_test.go tests/conftest.py tests/api/helpers.py src/contest.py",
        "a/user.test.ts a/__tests__/user.ts a/user.spec.jsx cypress/login.cy.js a/latest.ts a/attest.ts",
        "src/test/java/UserIT.java src/main/java/EDIT.java src/main/UserTest.kt",
        "spec/user_spec.rb tests/UserTest.php App.Tests/UserTests.cs Tests/AppTests/UserTests.swift test/user_test.exs",
        "crates/a/tests/all.rs crates/a/src/tests.rs crates/a/src/user_test.rs crates/a/src/attests.rs",
        "src/VoiceTest.tsx web/LoadSpec.js src/voice-test.ts test/VoiceTest.ts",
        "test/tool.go tests/data.json testdata/a_test.py node_modules/x/a.test.js tests/run.bats scripts/test-all.sh",
    ]
    .map(|paths| {
        let shown = paths.split(' ').map(|path| if is_test(path) { path.to_owned() } else { format!("({path})") });
        shown.collect::<Vec<_>>().join(" ")
    });
    insta::assert_snapshot!(table.join("\n"), @r#"
    src/test_user.py src/user_test.go (tests/conftest.py) tests/api/helpers.py (src/contest.py)
    a/user.test.ts a/__tests__/user.ts a/user.spec.jsx cypress/login.cy.js (a/latest.ts) (a/attest.ts)
    src/test/java/UserIT.java (src/main/java/EDIT.java) src/main/UserTest.kt
    spec/user_spec.rb tests/UserTest.php App.Tests/UserTests.cs Tests/AppTests/UserTests.swift test/user_test.exs
    crates/a/tests/all.rs crates/a/src/tests.rs crates/a/src/user_test.rs (crates/a/src/attests.rs)
    (src/VoiceTest.tsx) (web/LoadSpec.js) src/voice-test.ts test/VoiceTest.ts
    (test/tool.go) (tests/data.json) (testdata/a_test.py) (node_modules/x/a.test.js) tests/run.bats scripts/test-all.sh
    "#);
}

fn covering(changed: &str, packages: &str, listed: &str, texts: &[(&str, &str)]) -> String {
    let hash = |path: &str| (!path.starts_with('-')).then_some(1);
    let changed: Vec<ChangedFile> = changed
        .split_whitespace()
        .map(|path| ChangedFile {
            path: path.trim_start_matches('-').into(),
            hash: hash(path),
        })
        .collect();
    let files: Vec<ProjectFile> = packages
        .split_whitespace()
        .map(|path| ProjectFile {
            path: path.into(),
            text: String::new(),
        })
        .collect();
    let listed: Vec<String> = listed.split_whitespace().map(String::from).collect();
    let texts: BTreeMap<&str, &str> = texts.iter().copied().collect();
    let sources = Sources {
        listed: &listed,
        complete: true,
        beginning: &|path| texts.get(path).map(|text| (*text).to_owned()),
        rust_tests_in: &|folder| folder == "inline",
    };
    let found = workspace(&files, &changed, &sources).covered;
    let lines = found
        .iter()
        .map(|(file, tests)| format!("  {file}: {}", tests.join(" ")));
    let lines: Vec<String> = lines.collect();
    let names: Vec<&str> = changed.iter().map(|file| file.path.as_str()).collect();
    format!("{}\n{}", names.join(" "), lines.join("\n"))
}

#[test]
fn tests_cover_a_file_by_name_place_or_import() {
    let table = [
        covering(
            "app/user.py app/order.py",
            "pyproject.toml",
            "tests/unit/test_user.py tests/test_pay.py",
            &[],
        ),
        covering(
            "app/order.py app/money.py app/mon.py",
            "pyproject.toml",
            "tests/test_pay.py",
            &[(
                "tests/test_pay.py",
                "import os\nfrom app.money import cents\n# order\n",
            )],
        ),
        covering(
            "web/src/cart.ts web/src/index.ts web/src/api/index.ts",
            "web/package.json",
            "web/test/shop.test.ts web/test/api.test.ts",
            &[(
                "web/test/shop.test.ts",
                "import { total } from '../src/cart.js'\n",
            )],
        ),
        covering(
            "a/src/x.ts b/src/x.ts",
            "a/package.json b/package.json",
            "a/src/x.spec.ts",
            &[],
        ),
        covering(
            "a/ui/Button.tsx a/ui/Card.tsx a/ui/card.css",
            "package.json",
            "a/ui/Button.test.tsx",
            &[],
        ),
        covering("pkg/a/a.go pkg/b/b.go", "go.mod", "pkg/a/z_test.go", &[]),
        covering(
            "one/src/lib.rs two/src/lib.rs inline/src/x.rs",
            "one/Cargo.toml two/Cargo.toml inline/Cargo.toml",
            "one/tests/all.rs",
            &[],
        ),
        covering(
            "app/src/main/java/A.java lib/src/main/java/B.java",
            "app/pom.xml lib/pom.xml",
            "app/src/test/java/XTest.java",
            &[],
        ),
        covering(
            "tests/test_a.py -tests/test_b.py src/b.py -src/c.py",
            "setup.py",
            "tests/test_b.py tests/test_c.py",
            &[],
        ),
        covering(
            "lib/user.rb app/user_list.dart",
            "Gemfile",
            "spec/lib/user_spec.rb app/userList_test.dart",
            &[],
        ),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    app/user.py app/order.py
      app/user.py: tests/unit/test_user.py
    app/order.py app/money.py app/mon.py
      app/money.py: tests/test_pay.py
    web/src/cart.ts web/src/index.ts web/src/api/index.ts
      web/src/cart.ts: web/test/shop.test.ts
      web/src/api/index.ts: web/test/api.test.ts
    a/src/x.ts b/src/x.ts
      a/src/x.ts: a/src/x.spec.ts
    a/ui/Button.tsx a/ui/Card.tsx a/ui/card.css
      a/ui/Button.tsx: a/ui/Button.test.tsx
      a/ui/Card.tsx: a/ui/Button.test.tsx
    pkg/a/a.go pkg/b/b.go
      pkg/a/a.go: pkg/a/z_test.go
    one/src/lib.rs two/src/lib.rs inline/src/x.rs
      one/src/lib.rs: one/tests/all.rs
      inline/src/x.rs: inline/src/x.rs
    app/src/main/java/A.java lib/src/main/java/B.java
      app/src/main/java/A.java: app/src/test/java/XTest.java
    tests/test_a.py tests/test_b.py src/b.py src/c.py
      tests/test_a.py: tests/test_a.py
    lib/user.rb app/user_list.dart
      lib/user.rb: spec/lib/user_spec.rb
      app/user_list.dart: app/userList_test.dart
    ");
}

#[test]
fn tests_of_a_part_cover_a_file() {
    let part = covering(
        "Shop/Cart.cs Shop/App.cs src/parser.ts src/pay.ts src/Order.php",
        "",
        "Shop.Tests/CartDiscountTests.cs Shop.Tests/ApplicationTests.cs test/parser.errors.test.ts test/payment.test.ts \
             tests/OrderTotalTest.php",
        &[],
    );
    insta::assert_snapshot!(part, @"
    Shop/Cart.cs Shop/App.cs src/parser.ts src/pay.ts src/Order.php
      Shop/Cart.cs: Shop.Tests/CartDiscountTests.cs
      src/parser.ts: test/parser.errors.test.ts
      src/Order.php: tests/OrderTotalTest.php
    ");
}
