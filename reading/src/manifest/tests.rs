//! What is a change of dependencies, in each form of manifest.

use super::*;

/// A manifest's name, its text, and texts that name the same dependencies (`=`) or others (`!`).
type Case = (&'static str, &'static str, &'static [(char, &'static str)]);

const CASES: &[Case] = &[
    (
        "web/package.json",
        r#"{"name": "a", "version": "1.0.0", "scripts": {"dev": "x"}, "dependencies": {"b": "1", "c": "2"}}"#,
        &[
            (
                '=',
                r#"{"license": "MIT", "version": "2.0.0", "dependencies": {"c": "2", "b": "1"}, "devDependencies": {}}"#,
            ),
            ('!', r#"{"dependencies": {"b": "1", "c": "3"}}"#),
            (
                '!',
                r#"{"dependencies": {"b": "1", "c": "2"}, "overrides": {"d": "1"}}"#,
            ),
            (
                '!',
                r#"{"dependencies": {"b": "1"}, "devDependencies": {"c": "2"}}"#,
            ),
            ('!', "not json"),
        ],
    ),
    (
        "Cargo.toml",
        "[package]\nname = 'a'\nversion = '1.0.0'\n[dependencies]\nb = \"1\" # why\nc = { version = '2', features = ['x'] }\n",
        &[
            (
                '=',
                "[package]\nversion = '2.0.0'\nlicense = 'MIT'\n[profile.dev]\ndebug = 1\n[dependencies.c]\nfeatures = [ 'x' ]\nversion = '2'\n[dependencies]\nb = '1'\n",
            ),
            (
                '!',
                "[dependencies]\nb = '1'\nc = { version = '2', features = ['y'] }\n",
            ),
            (
                '!',
                "[dependencies]\nb = '1'\nc = { version = '2', features = ['x'] }\n[target.'cfg(unix)'.dependencies]\nd = '1'\n",
            ),
            (
                '!',
                "[dependencies]\nb = '1'\nc = { version = '2', features = ['x'] }\n[workspace.dependencies]\nd = '1'\n",
            ),
            ('!', "[dependencies"),
        ],
    ),
    (
        "pyproject.toml",
        "[project]\nversion = '1'\ndependencies = ['b>=1', 'c']\n[tool.ruff]\nline-length = 80\n",
        &[
            (
                '=',
                "[project]\nversion = '2'\ndependencies = [\n  'c', # last\n  'b>=1',\n]\n[tool.ruff]\nline-length = 100\n",
            ),
            ('!', "[project]\ndependencies = ['b>=2', 'c']\n"),
            (
                '!',
                "[project]\ndependencies = ['b>=1', 'c']\n[dependency-groups]\ndev = ['d']\n",
            ),
            (
                '!',
                "[project]\ndependencies = ['b>=1', 'c']\n[tool.poetry.group.dev.dependencies]\nd = '1'\n",
            ),
            (
                '!',
                "[project]\ndependencies = ['b>=1', 'c']\n[build-system]\nrequires = ['hatchling']\n",
            ),
        ],
    ),
    (
        "Pipfile",
        "[packages]\nb = '*'\n",
        &[
            (
                '=',
                "[packages]\nb = \"*\"\n[requires]\npython_version = '3.12'\n",
            ),
            ('!', "[packages]\nb = '1'\n"),
        ],
    ),
    (
        "gradle/libs.versions.toml",
        "[versions]\nb = '1'\n",
        &[
            ('=', "# c\n[versions]\nb = \"1\"\n"),
            ('!', "[versions]\nb = '2'\n"),
        ],
    ),
    (
        "composer.json",
        r#"{"version": "1", "require": {"b": "1"}}"#,
        &[
            ('=', r#"{"version": "2", "require": {"b": "1"}}"#),
            ('!', r#"{"require": {"b": "1"}, "require-dev": {"c": "1"}}"#),
        ],
    ),
    (
        "app/pubspec.yaml",
        "name: a\nversion: 1.0.0\ndependencies:\n  b: ^1\n",
        &[
            ('=', "version: 2.0.0\ndependencies: {b: ^1}\n"),
            ('!', "dependencies:\n  b: ^2\n"),
        ],
    ),
    (
        "environment.yml",
        "name: a\ndependencies:\n  - b=1\n",
        &[
            ('=', "name: z\ndependencies: [b=1]\n"),
            ('!', "dependencies:\n  - b=2\n"),
        ],
    ),
    (
        "requirements-dev.txt",
        "b==1\nc\n",
        &[('=', "# new\nc  # last\n\nb==1\n"), ('!', "b==2\nc\n")],
    ),
    ("requirements/base.txt", "b\n", &[('=', "b\n\n"), ('!', "")]),
    (
        "go.mod",
        "module a\n\ngo 1.21\n\nrequire (\n\tb v1.0.0\n\tc v1.0.0 // indirect\n)\n",
        &[
            (
                '=',
                "module z\n\ngo 1.22\n\nrequire b v1.0.0\nrequire c v1.0.0\n",
            ),
            ('!', "require (\n\tb v1.0.1\n\tc v1.0.0\n)\n"),
            (
                '!',
                "require (\n\tb v1.0.0\n\tc v1.0.0\n)\nreplace b => ../b\n",
            ),
        ],
    ),
    (
        "Gemfile",
        "source 'x'\nruby '3.2'\ngem 'b'\n",
        &[
            ('=', "source 'x'\n# c\nruby '3.3'\ngem  'b'\n"),
            ('!', "source 'x'\ngem 'b', '~> 1'\n"),
        ],
    ),
    (
        "pom.xml",
        "<project><version>1</version><properties>\n<b.version>1</b.version>\n</properties><dependencies><dependency>\n<artifactId>b</artifactId>\n</dependency></dependencies></project>",
        &[
            (
                '=',
                "<project><!-- <dependency>c</dependency> --><version>2</version><name>n</name><properties>\n  <b.version>1</b.version>\n</properties><dependencies><dependency> <artifactId>b</artifactId> </dependency></dependencies></project>",
            ),
            (
                '!',
                "<properties>\n<b.version>2</b.version>\n</properties><dependency>\n<artifactId>b</artifactId>\n</dependency>",
            ),
            (
                '!',
                "<properties>\n<b.version>1</b.version>\n</properties><dependency><artifactId>c</artifactId></dependency>",
            ),
        ],
    ),
];

#[test]
fn the_same_and_other_dependencies() {
    for (path, text, others) in CASES {
        let format = format(path).expect(path);
        assert!(names_the_same(format, Some(text), text), "{path}");
        assert!(!names_the_same(format, None, text), "{path} is new");
        for (sign, other) in *others {
            let is_same = *sign == '=';
            assert_eq!(
                names_the_same(format, Some(text), other),
                is_same,
                "{path}: {other}"
            );
            // What cannot be read is like nothing, in either direction.
            assert_eq!(
                names_the_same(format, Some(other), text),
                is_same,
                "{path}: {other}"
            );
        }
    }
}

#[test]
fn a_new_manifest_without_dependencies_asks_for_nothing() {
    for (path, text) in [
        ("package.json", ""),
        ("package.json", r#"{"name": "a", "dependencies": {}}"#),
        ("requirements.txt", "\n# none yet\n"),
        ("Cargo.toml", "[package]\nname = 'a'\n[dependencies]\n"),
        ("go.mod", "module a\ngo 1.22\n"),
    ] {
        let format = format(path).expect(path);
        assert!(names_the_same(format, None, text), "{path}: {text}");
    }
}

#[test]
fn names_of_manifests_and_lock_files() {
    for path in [
        "Package.json",
        "tests/data.txt",
        "docs/requirements.md",
        "a.toml",
        "setup.py",
    ] {
        assert_eq!(format(path), None, "{path}");
    }
    for (path, expected) in [
        ("Cargo.lock", true),
        ("web/yarn.lock", true),
        ("go.sum", true),
        ("gradle.lockfile", true),
        ("lock.json", false),
        ("src/lock.rs", false),
    ] {
        assert_eq!(is_lock(path), expected, "{path}");
    }
    assert!(may_lock("web/package.json", "package-lock.json"));
    assert!(may_lock("web/package.json", "web/yarn.lock"));
    assert!(!may_lock("website/package.json", "web/yarn.lock"));
    assert!(!may_lock("package.json", "web/yarn.lock"));
}
