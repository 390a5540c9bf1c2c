//! What counts as verified in a turn of the past, by the tests that the project has.

use std::fs;

use super::Did::{Edited, Ran, Read};
use super::{User, days_ago, git};

/// Returns what would have been asked at the end of a turn that edits a source file and builds it.
fn asked_after_a_build(prepare: impl Fn(&User)) -> String {
    let user = User::new();
    let project = user.project();
    user.put_session(
        &project,
        "gggg",
        days_ago(2),
        &[&[Read("src/shop.py"), Edited("src/shop.py"), Ran("mypy src")]],
    );
    prepare(&user);
    let answer = user.json(&["lookback", "--json"]);
    assert_eq!(answer["total"]["code_changed"], 1, "{answer:#}");
    answer["worth"][0]["asked"].to_string()
}

#[test]
fn a_build_is_enough_unless_the_project_has_a_test_for_the_file() {
    let commit_test = |user: &User, name: &str| {
        let project = user.folder("shop");
        fs::create_dir_all(project.join("tests")).expect("a folder");
        fs::write(project.join("tests").join(name), "import shop\n").expect("written");
        git(&project, &["add", "-A"]);
    };
    let covered = asked_after_a_build(|user| commit_test(user, "test_shop.py"));
    assert!(
        covered.contains("Run the tests of `src/shop.py`"),
        "{covered}"
    );
    let other = asked_after_a_build(|_| ());
    assert!(!other.contains("Run the tests"), "{other}");
    // Nothing says that a project that is gone had tests.
    let gone = asked_after_a_build(|user| {
        fs::remove_dir_all(user.folder("shop")).expect("removed");
    });
    assert!(!gone.contains("Run the tests"), "{gone}");
}
