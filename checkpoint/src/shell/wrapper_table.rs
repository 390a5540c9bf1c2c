//! The tables of programs that run another command.

use super::options::{Spec, spec};

/// A wrapper of the plain kind: options, then some operands, then the command.
pub(super) struct Wrapper {
    pub(super) names: &'static [&'static str],
    pub(super) spec: Spec,
    pub(super) operands: usize,
    /// Options with which it does not run the command.
    pub(super) inert: &'static [&'static str],
}

/// A wrapper that is a subcommand.
pub(super) struct Runner {
    pub(super) program: &'static [&'static str],
    pub(super) verbs: &'static [&'static str],
    pub(super) spec: Spec,
    pub(super) operands: usize,
}

const fn plain(
    names: &'static [&'static str],
    shorts: &'static str,
    longs: &'static str,
) -> Wrapper {
    Wrapper {
        names,
        spec: spec(shorts, longs),
        operands: 0,
        inert: &[],
    }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        inert: &["-l", "-v", "-e", "-ll", "--list", "--validate", "--edit"],
        ..plain(
            &["sudo"],
            "ughpCrtTUDR",
            "user group host prompt close-from role type command-timeout other-user chdir chroot",
        )
    },
    plain(&["doas"], "uCa", ""),
    plain(&["time"], "fo", "format output"),
    Wrapper {
        operands: 1,
        ..plain(&["timeout", "gtimeout"], "sk", "signal kill-after")
    },
    plain(&["nice", "gnice"], "n", "adjustment"),
    Wrapper {
        inert: &["-p", "-P", "-u", "--pid"],
        ..plain(&["ionice"], "cn", "class classdata")
    },
    plain(
        &[
            "nohup",
            "setsid",
            "builtin",
            "noglob",
            "nocorrect",
            "chronic",
            "unbuffer",
            "fakeroot",
            "c8",
            "nyc",
            "ddtrace-run",
            "opentelemetry-instrument",
            "dumb-init",
            "winpty",
            "proxychains",
            "proxychains4",
        ],
        "",
        "",
    ),
    plain(&["stdbuf", "gstdbuf"], "ioe", "input output error"),
    plain(&["exec"], "a", ""),
    Wrapper {
        inert: &["-v", "-V"],
        ..plain(&["command"], "", "")
    },
    plain(&["caffeinate"], "tw", ""),
    plain(
        &["xargs", "gxargs"],
        "adEILnPs",
        "arg-file delimiter replace max-lines max-args max-procs max-chars process-slot-var",
    ),
    plain(&["env", "genv"], "uCS", "unset chdir split-string"),
    Wrapper {
        operands: 1,
        ..plain(&["taskset"], "", "")
    },
    plain(
        &["uvx"],
        "pcw",
        "from with with-editable with-requirements python index-url index directory project",
    ),
    plain(&["npx", "bunx", "pnpx"], "pw", "package workspace"),
    // Of version managers, proxies, and displays.
    plain(&["rtk", "fvm", "cross-env", "cross-env-shell"], "", ""),
    plain(&["dotenv"], "efvp", "file override"),
    plain(
        &["xvfb-run"],
        "enfspw",
        "server-num error-file auth-file server-args xauth-protocol wait",
    ),
];

const UV_RUN: Spec = spec(
    "pwPcCif",
    "with with-editable with-requirements python project directory extra no-extra group no-group only-group env-file \
     package index-url extra-index-url index default-index find-links color config-file config-setting upgrade-package",
);

pub(super) const RUNNERS: &[Runner] = &[
    runner(&["uv", "rye"], &["run"], UV_RUN, 0),
    runner(
        &["poetry", "pipenv"],
        &["run"],
        spec("CP", "directory project"),
        0,
    ),
    runner(&["pdm"], &["run"], spec("p", "project venv"), 0),
    runner(&["hatch"], &["run"], spec("e", "env"), 0),
    runner(
        &["pixi"],
        &["run"],
        spec("e", "environment manifest-path"),
        0,
    ),
    runner(
        &["conda", "mamba", "micromamba"],
        &["run"],
        spec("np", "name prefix cwd"),
        0,
    ),
    runner(&["pipx"], &["run"], spec("", "spec python pip-args"), 0),
    runner(
        &["coverage"],
        &["run"],
        spec(
            "",
            "source include omit rcfile data-file concurrency context",
        ),
        0,
    ),
    runner(
        &["bundle", "asdf", "rbenv", "pyenv", "opam"],
        &["exec"],
        spec("", "switch"),
        0,
    ),
    runner(
        &["pnpm", "yarn", "npm"],
        &["exec", "dlx", "x"],
        spec("pwCFc", "package workspace filter"),
        0,
    ),
    runner(&["bun"], &["x"], spec("", ""), 0),
    runner(&["direnv"], &["exec"], spec("", ""), 1),
    runner(&["devbox"], &["run"], spec("ce", "config env env-file"), 0),
    runner(
        &["ddev", "sail", "lando"],
        &["exec"],
        spec("sd", "service dir"),
        0,
    ),
    runner(&["uv"], &["tool run"], spec("pw", "from with python"), 0),
    runner(
        &[
            "docker-compose",
            "docker compose",
            "podman-compose",
            "podman compose",
        ],
        &["exec", "run"],
        spec(
            "euwv",
            "env user workdir index name entrypoint volume publish",
        ),
        1,
    ),
    runner(
        &["docker", "podman"],
        &["exec"],
        spec("euw", "env user workdir env-file detach-keys"),
        1,
    ),
    runner(
        &["docker", "podman"],
        &["run"],
        spec(
            "evwuplhmc",
            "env volume workdir user publish label hostname memory name network entrypoint mount platform env-file cpus \
             add-host device tmpfs ulimit shm-size pull restart",
        ),
        1,
    ),
];

const fn runner(
    program: &'static [&'static str],
    verbs: &'static [&'static str],
    spec: Spec,
    operands: usize,
) -> Runner {
    Runner {
        program,
        verbs,
        spec,
        operands,
    }
}
