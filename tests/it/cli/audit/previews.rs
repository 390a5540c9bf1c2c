//! What people see of the rules that hold in a project, and of what they would ask for there.

use super::answers::write;
use super::recorded;
use super::screens::{screen, screen_by, show};

#[test]
fn rules_and_previews() {
    let home = recorded();
    write(&home, "shop/Cargo.toml", "");
    write(
        &home,
        "shop/.checkpointd.yml",
        "rules: [{name: database schema, include: ['migrations/**'], actions: [{text: Run the migration against a copy of the database that nobody else uses (`make migrate-test`)}]}]\nscope: worktree\n",
    );
    home.trust(&home.path().join("shop"));
    insta::assert_snapshot!(screen(&home, &["rules", "--project", "shop"]), @"
    packs: rust, generic
    .checkpointd.yml is trusted

    PACK     RULE               KIND      ASKS FOR         FILES
    own      database schema    code      database schema  migrations/**
    rust     Rust code          code      tests            **/*.rs
    rust     tests only         tests     tests            **/tests/**/*.rs **/test…
    rust     dependencies       settings  install          **/Cargo.toml **/Cargo.l…
    generic  container image    settings  image            **/Dockerfile **/Dockerf…
    generic  compose file       settings  compose          **/docker-compose*.{yml,…
    generic  no code changes    docs      -                {docs,doc,todos,ideas}/*…
    generic  generated files    data      -                **/*.{pb,pb.gw}.go **/*_…
    generic  settings and data  data      -                **/*.{json,jsonc,json5,j…
    generic  linter settings    data      -                **/.{eslintrc,prettierrc…
    generic  tests only         tests     tests            **/{test,tests,spec,spec…
    generic  code               code      tests            **
    == at 140 columns
    rust     tests only         tests     tests            **/tests/**/*.rs **/test.rs **/tests.rs **/*_test.rs **/*_tests.rs **/test_*.rs
    rust     dependencies       settings  install          **/Cargo.toml **/Cargo.lock
    generic  container image    settings  image            **/Dockerfile **/Dockerfile.* **/*.Dockerfile **/Containerfile **/.dockerignore
    generic  compose file       settings  compose          **/docker-compose*.{yml,yaml} **/compose*.{yml,yaml}
    generic  no code changes    docs      -                {docs,doc,todos,ideas}/** **/*.{md,mdx,markdown,rst,adoc,asciidoc,org,txt} **/{LICEN…
    generic  generated files    data      -                **/*.{pb,pb.gw}.go **/*_pb2{,_grpc}.{py,pyi} **/*_pb.{js,ts,d.ts} **/*.{pb.h,pb.cc,p…
    generic  settings and data  data      -                **/*.{json,jsonc,json5,jsonl,ndjson,geojson,webmanifest,yml,yaml,toml,ini,cfg,conf,p…
    generic  linter settings    data      -                **/.{eslintrc,prettierrc,stylelintrc,lintstagedrc,commitlintrc,releaserc,huskyrc}.{j…
    generic  tests only         tests     tests            **/{test,tests,spec,specs,testdata,__tests__}/** **/*_test.* **/*_spec.* **/*.test.*…
    == colors
    ^1mPACK     RULE               KIND      ASKS FOR         FILES^0m
    ");
    insta::assert_snapshot!(screen(&home, &["rules", "match", "--project", "shop", "src/main.rs", "migrations/1.sql"]), @r#"
    src/main.rs
      Rust code (rust, code)
        tests      Run the tests that cover the changed Rust code (`cargo test`)
    migrations/1.sql
      database schema (own, code)
        database schema Run the migration against a copy of the database that nobody
                        else uses (`make migrate-test`) (asked for by the project's
                        .checkpointd.yml)
    == at 140 columns
        database schema Run the migration against a copy of the database that nobody else uses (`make migrate-test`) (asked for by the project's
    == colors
    ^1msrc/main.rs^0m
    ^1mmigrations/1.sql^0m
    "#);
    for file in ["src/main.rs", "migrations/1.sql"] {
        write(&home, &format!("shop/{file}"), "");
    }
    let mut git = std::process::Command::new("git");
    assert!(
        git.args(["init", "-q"])
            .current_dir(home.path().join("shop"))
            .status()
            .expect("git")
            .success()
    );
    let preview = |elapsed| {
        let arguments = [
            "rules",
            "preview",
            "--agent",
            "claude",
            "--project",
            "shop",
            "--elapsed",
            elapsed,
        ];
        screen_by(&arguments, |columns, colors| {
            // The last paragraph names a path of this run.
            let text = show(&home, &arguments, columns, colors);
            let end = text.find("Last resort").unwrap_or(text.len());
            format!("{}\n", text[..end].trim_end())
        })
    };
    insta::assert_snapshot!(preview("90s"), @"
    sent: work is open  (turn of 1m30s, claude)

    changed files
      database schema          migrations/1.sql
      settings and data        .checkpointd.yml
      (no rule)                Cargo.toml src/main.rs

    what the agent did
      0 calls, 0 failed; neither transcript nor journal has any calls, so nothing
      counts as done

    rules
      database schema (own)    migrations/1.sql
        to do  Run the migration against a copy of the database that nobody else
               uses (`make migrate-test`) (asked for by the project's
               .checkpointd.yml)
               looked for  nothing: no command shows that it was done
      settings and data (generic) .checkpointd.yml

    message
      [checkpointd] Not verified yet

      Run the migration against a copy of the database that nobody else uses (`make
      migrate-test`) (asked for by the project's .checkpointd.yml).

      Fix what fails. If the user asked you not to, or it cannot be done here, say
      what is unverified and why.
    == at 140 columns
      0 calls, 0 failed; neither transcript nor journal has any calls, so nothing counts as done
        to do  Run the migration against a copy of the database that nobody else uses (`make migrate-test`) (asked for by the project's
      Run the migration against a copy of the database that nobody else uses (`make migrate-test`) (asked for by the project's
      .checkpointd.yml).
      Fix what fails. If the user asked you not to, or it cannot be done here, say what is unverified and why.
    == colors
    ^32msent^0m: work is open  (turn of 1m30s, claude)
    ^1mchanged files^0m
    ^1mwhat the agent did^0m
    ^1mrules^0m
        ^33mto do^0m  Run the migration against a copy of the database that nobody else
    ^1mmessage^0m
    ");
    let short = preview("9s");
    assert!(
        short.contains("changed files") && !short.contains("message\n"),
        "{short}"
    );
    insta::assert_snapshot!(short.lines().take(2).collect::<Vec<_>>().join("\n"), @"
    let through: the turn was short (elapsed: 9000 ms, threshold: 30000 ms)  (turn
                 of 9.0s, claude)
    ");
}
