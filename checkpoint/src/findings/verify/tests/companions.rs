//! What was run besides the usual commands: suites, scripts that changed together with a file, files of tasks, scripts of
//! databases.

use super::*;

/// What a turn asks for, without its lines: whether it asks.
fn asks(workspace: &Workspace, lines: &[&str]) -> String {
    let asked = asked(workspace, lines);
    let verdict = if asked.ends_with("    -") {
        "enough"
    } else {
        "asks"
    };
    format!("{verdict:6} {}", asked.lines().next().unwrap_or_default())
}

#[test]
fn a_script_named_for_no_file_runs_all_tests_around_it() {
    let native = project("src/lexer.c < tests/lexer_test.c");
    let web = project("web: web\n web/src/a.ts < web/tests/a.test.ts");
    let table = [
        asks(&native, &["edit src/lexer.c", "$ bash tests/run_all.sh"]),
        asks(&native, &["edit src/lexer.c", "$ sh ./tests/run-tests.sh"]),
        asks(
            &native,
            &["edit src/lexer.c", "$ bash tests/parser_test.sh"],
        ),
        asks(&native, &["edit src/lexer.c", "$ bash tests/lexer_test.sh"]),
        asks(
            &native,
            &["edit src/lexer.c", "! bash tests/run_all.sh -> Exit code 1"],
        ),
        asks(&native, &["$ bash tests/run_all.sh", "edit src/lexer.c"]),
        asks(&web, &["edit web/src/a.ts", "$ node web/tests/run.js"]),
        asks(
            &web,
            &["edit web/src/a.ts", "$ cd web && node tests/all.js"],
        ),
        asks(&web, &["edit web/src/a.ts", "$ node api/tests/run.js"]),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
        enough edit src/lexer.c ; $ bash tests/run_all.sh
        enough edit src/lexer.c ; $ sh ./tests/run-tests.sh
        asks   edit src/lexer.c ; $ bash tests/parser_test.sh
        asks   edit src/lexer.c ; $ bash tests/lexer_test.sh
        asks   edit src/lexer.c ; ! bash tests/run_all.sh -> Exit code 1
        asks   $ bash tests/run_all.sh ; edit src/lexer.c
        enough edit web/src/a.ts ; $ node web/tests/run.js
        enough edit web/src/a.ts ; $ cd web && node tests/all.js
        asks   edit web/src/a.ts ; $ node api/tests/run.js
        ");
}

#[test]
fn a_script_that_changed_with_a_file_uses_it() {
    let plain = project("x: x");
    let tested = project("shop/db.py < tests/test_db.py");
    let apart = project("a: a\n b: b");
    let both = ["edit shop/db.py", "edit scripts/load.py"];
    let with = |workspace: &Workspace, more: &[&str]| asks(workspace, &[&both[..], more].concat());
    let table = [
        with(&plain, &["$ python scripts/load.py"]),
        with(&plain, &["$ uv run scripts/load.py --all"]),
        with(&plain, &["$ python -m py_compile scripts/load.py"]),
        with(
            &plain,
            &["! python scripts/load.py -> Exit code 1\nValueError"],
        ),
        with(&plain, &["$ python scripts/load.py", "edit shop/db.py"]),
        // A script that did not change is believed to use it (spec EVID-29).
        asks(&plain, &["edit shop/db.py", "$ python scripts/load.py"]),
        asks(
            &plain,
            &[
                "edit shop/db.ts",
                "edit scripts/load.py",
                "$ python scripts/load.py",
            ],
        ),
        // A program without an ending.
        asks(
            &plain,
            &["edit lib/shop.rb", "edit bin/shop", "$ ruby bin/shop load"],
        ),
        asks(
            &plain,
            &["edit lib/shop.rb", "edit bin/shop", "$ ./bin/shop load"],
        ),
        asks(&plain, &["edit lib/shop.rb", "$ bin/rails runner 1"]),
        // What a test covers is for that test.
        with(&tested, &["$ python scripts/load.py"]),
        asks(
            &apart,
            &["edit a/db.py", "edit b/load.py", "$ python b/load.py"],
        ),
        asks(
            &plain,
            &[
                "edit models/cart.py",
                "edit check_cart.py",
                "$ python check_cart.py",
            ],
        ),
        asks(
            &plain,
            &[
                "edit models/cart.py",
                "edit test_cart_models.py",
                "$ python test_cart_models.py",
            ],
        ),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    enough edit shop/db.py ; edit scripts/load.py ; $ python scripts/load.py
    enough edit shop/db.py ; edit scripts/load.py ; $ uv run scripts/load.py --all
    asks   edit shop/db.py ; edit scripts/load.py ; $ python -m py_compile scripts/load.py
    asks   edit shop/db.py ; edit scripts/load.py ; ! python scripts/load.py -> Exit code 1
    asks   edit shop/db.py ; edit scripts/load.py ; $ python scripts/load.py ; edit shop/db.py
    enough edit shop/db.py ; $ python scripts/load.py
    asks   edit shop/db.ts ; edit scripts/load.py ; $ python scripts/load.py
    enough edit lib/shop.rb ; edit bin/shop ; $ ruby bin/shop load
    asks   edit lib/shop.rb ; edit bin/shop ; $ ./bin/shop load
    asks   edit lib/shop.rb ; $ bin/rails runner 1
    asks   edit shop/db.py ; edit scripts/load.py ; $ python scripts/load.py
    asks   edit a/db.py ; edit b/load.py ; $ python b/load.py
    enough edit models/cart.py ; edit check_cart.py ; $ python check_cart.py
    enough edit models/cart.py ; edit test_cart_models.py ; $ python test_cart_models.py
    ");
}

#[test]
fn tasks_run_the_file_that_holds_them() {
    let plain = project("x: x");
    let table = [
        asks(&plain, &["edit tasks.py", "$ invoke start"]),
        asks(&plain, &["edit tasks.py", "$ inv release --dry"]),
        asks(&plain, &["edit fabfile.py", "$ fab deploy"]),
        asks(&plain, &["edit gulpfile.js", "$ npx gulp styles"]),
        asks(&plain, &["edit Rakefile", "$ bundle exec rake stats"]),
        asks(&plain, &["edit tasks.py", "$ invoke --help"]),
        asks(&plain, &["edit lib.py", "$ invoke start"]),
        asks(
            &plain,
            &["edit tasks.py", "! invoke start -> Exit code 1\nKeyError"],
        ),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    enough edit tasks.py ; $ invoke start
    enough edit tasks.py ; $ inv release --dry
    enough edit fabfile.py ; $ fab deploy
    enough edit gulpfile.js ; $ npx gulp styles
    enough edit Rakefile ; $ bundle exec rake stats
    asks   edit tasks.py ; $ invoke --help
    asks   edit lib.py ; $ invoke start
    asks   edit tasks.py ; ! invoke start -> Exit code 1
    ");
}

#[test]
fn databases_run_scripts() {
    let plain = project("x: x");
    let file = "edit db/migrations/004_carts.sql";
    let table = [
        asks(
            &plain,
            &[
                file,
                "$ psql postgresql://me@db.example/shop -f db/migrations/004_carts.sql",
            ],
        ),
        asks(
            &plain,
            &[
                file,
                "$ sqlite3 shop.sqlite '.read db/migrations/004_carts.sql'",
            ],
        ),
        asks(&plain, &[file, "$ psql -c 'select 1'"]),
        asks(&plain, &[file, "$ psql -f db/migrations/003_users.sql"]),
        asks(&plain, &[file, "$ supabase db reset"]),
        asks(&plain, &["edit src/cart.ts", "$ supabase db reset"]),
        asks(&plain, &["edit src/cart.ts", "$ npx prisma migrate dev"]),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    enough edit db/migrations/004_carts.sql ; $ psql postgresql://me@db.example/shop -f db/migrations/004_carts.sql
    enough edit db/migrations/004_carts.sql ; $ sqlite3 shop.sqlite '.read db/migrations/004_carts.sql'
    asks   edit db/migrations/004_carts.sql ; $ psql -c 'select 1'
    asks   edit db/migrations/004_carts.sql ; $ psql -f db/migrations/003_users.sql
    enough edit db/migrations/004_carts.sql ; $ supabase db reset
    asks   edit src/cart.ts ; $ supabase db reset
    asks   edit src/cart.ts ; $ npx prisma migrate dev
    ");
}

#[test]
fn migration_tools_run_migrations() {
    let known = project("x: x");
    let table = [
        asks(
            &known,
            &["edit db/migrate/1_carts.rb", "$ bin/rails db:migrate"],
        ),
        asks(
            &known,
            &[
                "edit db/migrate/1_carts.rb",
                "$ bin/rails db:migrate:status",
            ],
        ),
        asks(&known, &["edit app/a.rb", "$ bin/rails db:migrate"]),
        asks(
            &known,
            &["edit migrations/1.php", "$ php artisan migrate --force"],
        ),
        asks(
            &known,
            &[
                "edit migrations/1.php",
                "! php artisan migrate -> Exit code 1",
            ],
        ),
        asks(
            &known,
            &["edit migrations/versions/1.py", "$ alembic upgrade head"],
        ),
        asks(
            &known,
            &["edit migrations/versions/1.py", "$ alembic history"],
        ),
        asks(
            &known,
            &["edit priv/repo/migrations/1.exs", "$ mix ecto.migrate"],
        ),
        asks(&known, &["edit migrations/1.sql", "$ sqlx migrate run"]),
        asks(
            &known,
            &["edit migrations/1.sql", "$ sqlx migrate add carts"],
        ),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    enough edit db/migrate/1_carts.rb ; $ bin/rails db:migrate
    asks   edit db/migrate/1_carts.rb ; $ bin/rails db:migrate:status
    asks   edit app/a.rb ; $ bin/rails db:migrate
    enough edit migrations/1.php ; $ php artisan migrate --force
    asks   edit migrations/1.php ; ! php artisan migrate -> Exit code 1
    enough edit migrations/versions/1.py ; $ alembic upgrade head
    asks   edit migrations/versions/1.py ; $ alembic history
    enough edit priv/repo/migrations/1.exs ; $ mix ecto.migrate
    enough edit migrations/1.sql ; $ sqlx migrate run
    asks   edit migrations/1.sql ; $ sqlx migrate add carts
    ");
}

#[test]
fn more_programs_run_scripts() {
    let known = project("x: x");
    let table = [
        asks(
            &known,
            &["edit train.py", "$ torchrun --nproc-per-node 2 train.py"],
        ),
        asks(&known, &["edit app.py", "$ streamlit run app.py"]),
        asks(&known, &["edit plot.gp", "$ gnuplot plot.gp"]),
        asks(
            &known,
            &[
                "edit a.ipynb",
                "$ jupyter nbconvert --to notebook --execute a.ipynb",
            ],
        ),
        asks(
            &known,
            &["edit a.ipynb", "$ jupyter nbconvert --to html a.ipynb"],
        ),
        asks(&known, &["edit a.ipynb", "$ papermill a.ipynb out.ipynb"]),
        asks(&known, &["edit load.js", "$ k6 run load.js"]),
    ];
    insta::assert_snapshot!(table.join("\n"), @"
    enough edit train.py ; $ torchrun --nproc-per-node 2 train.py
    enough edit app.py ; $ streamlit run app.py
    enough edit plot.gp ; $ gnuplot plot.gp
    enough edit a.ipynb ; $ jupyter nbconvert --to notebook --execute a.ipynb
    asks   edit a.ipynb ; $ jupyter nbconvert --to html a.ipynb
    enough edit a.ipynb ; $ papermill a.ipynb out.ipynb
    enough edit load.js ; $ k6 run load.js
    ");
}

/// A file, whether a test covers it, commands that are enough, and commands that are not.
const TOOLS: [(&str, bool, &[&str], &[&str]); 16] = [
    (
        "src/drive/node.py",
        false,
        &["colcon build --packages-select drive", "catkin build"],
        &["colcon list"],
    ),
    (
        "src/drive.cpp",
        true,
        &["colcon test", "pio test -e native"],
        &["colcon build", "pio run"],
    ),
    (
        "src/main.cpp",
        false,
        &[
            "pio run",
            "west build -b nrf52",
            "idf.py build",
            "arduino-cli compile x",
        ],
        &["pio device list"],
    ),
    (
        "programs/shop/src/lib.rs",
        true,
        &["anchor test", "cargo hack test"],
        &["anchor build", "cargo build-sbf"],
    ),
    (
        "programs/shop/src/lib.rs",
        false,
        &["anchor build", "cargo zigbuild", "dx build"],
        &["anchor keys list"],
    ),
    (
        "contracts/Shop.sol",
        false,
        &["forge build", "npx hardhat compile", "scarb build"],
        &["npx hardhat clean"],
    ),
    (
        "Shop/Cart.cs",
        true,
        &[
            "dotnet bin/Debug/net10.0/Shop.Tests.dll",
            "dotnet run --project Shop.Tests",
        ],
        &["dotnet run --project Shop", "dotnet bin/Shop.dll"],
    ),
    (
        "Shop/Cart.cs",
        false,
        &["dotnet ef migrations add Carts", "dotnet pack"],
        &["dotnet restore", "dotnet --info"],
    ),
    (
        "app/cart.py",
        true,
        &["ward", "python setup.py test", "robot tests", "c8 pytest"],
        &["dmypy run", "pyrefly check"],
    ),
    (
        "app/cart.py",
        false,
        &["pyrefly check", "dmypy run"],
        &["dbt test", "helm template x", "ansible-playbook site.yml"],
    ),
    (
        "src/cart.ts",
        true,
        &["lerna run test", "npx testcafe chrome", "npx c8 vitest run"],
        &["npx prisma generate", "buf build"],
    ),
    (
        "models/carts.sql",
        false,
        &["dbt build", "dbt run -s carts", "sqlfluff lint models"],
        &["dbt deps"],
    ),
    (
        "prisma/schema.prisma",
        false,
        &["npx prisma validate", "npx prisma migrate dev"],
        &["npx prisma studio"],
    ),
    (
        "charts/shop/templates/web.tpl",
        false,
        &["helm template charts/shop", "helm lint charts/shop"],
        &["helm list"],
    ),
    (
        "api/shop.proto",
        false,
        &["buf build", "protoc --go_out=. api/shop.proto"],
        &["buf mod update"],
    ),
    (
        "src/Cart.elm",
        false,
        &["elm make src/Main.elm", "nix-build"],
        &["elm init"],
    ),
];

#[test]
fn tools_of_more_ecosystems() {
    let mut wrong = Vec::new();
    for (file, covered, enough, not) in TOOLS {
        let known = if covered {
            project(&format!("{file} < tests/x_test.ts"))
        } else {
            project("x: x")
        };
        let edit = format!("edit {file}");
        for (command, wanted) in enough
            .iter()
            .map(|one| (one, "enough"))
            .chain(not.iter().map(|one| (one, "asks")))
        {
            let got = asks(&known, &[&edit, &format!("$ {command}")]);
            if !got.starts_with(wanted) {
                wrong.push(format!("{wanted}, not: {got}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
