//! Links the hook client statically on Linux with glibc if the static C library is installed: a
//! dynamic client takes 50 % longer to start, and it starts at every tool call of an agent.
//!
//! The flags must apply to this one binary only (`+crt-static` in rustflags would apply to proc
//! macros, which cannot be built with it). They are linker arguments, so rustc still asks for the
//! shared libraries. A folder of ours comes first in the search path; in it each library is a
//! linker script that names the static one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The libraries that rustc links a program with on this platform.
const LIBRARIES: [&str; 7] = ["c", "m", "rt", "pthread", "util", "dl", "gcc_s"];
const CLIENT: &str = "checkpointd-hook";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    let is_native = var("TARGET") == var("HOST");
    if var("CARGO_CFG_TARGET_OS") != "linux" || var("CARGO_CFG_TARGET_ENV") != "gnu" || !is_native {
        return;
    }
    let folder = PathBuf::from(var("OUT_DIR")).join("static");
    if !write_scripts(&folder) || !links(&folder) {
        println!(
            "cargo::warning=no static C library: {CLIENT} is linked dynamically and starts more slowly"
        );
        return;
    }
    for argument in ["-static", "-no-pie", &format!("-L{}", folder.display())] {
        println!("cargo::rustc-link-arg-bin={CLIENT}={argument}");
    }
}

/// Writes a script for each library. Returns whether all of them exist as static libraries.
fn write_scripts(folder: &Path) -> bool {
    std::fs::create_dir_all(folder).is_ok()
        && LIBRARIES.iter().all(|name| {
            let members = match *name {
                // The compiler's support library and the C library depend on each other.
                "gcc_s" => vec!["gcc_eh", "gcc", "c"],
                name => vec![name],
            };
            let Some(members) = members.into_iter().map(find).collect::<Option<Vec<_>>>() else {
                return false;
            };
            std::fs::write(
                folder.join(format!("lib{name}.so")),
                format!("GROUP({})\n", members.join(" ")),
            )
            .is_ok()
        })
}

/// Asks the compiler that rustc links with for the path of a static library.
fn find(name: &str) -> Option<String> {
    let output = Command::new("cc")
        .arg(format!("-print-file-name=lib{name}.a"))
        .output()
        .ok()?;
    let path = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    // The compiler prints the bare name if it does not find the library.
    Path::new(&path)
        .is_absolute()
        .then(|| format!("\"{path}\""))
}

/// Returns whether a small C program can be linked this way.
fn links(folder: &Path) -> bool {
    let source = folder.join("trial.c");
    if std::fs::write(&source, "int main(void) { return 0; }\n").is_err() {
        return false;
    }
    let mut trial = Command::new("cc");
    trial
        .args(["-static", "-no-pie", "-Wl,-Bdynamic", "-lgcc_s", "-lc"])
        .arg(format!("-L{}", folder.display()));
    trial
        .arg(&source)
        .arg("-o")
        .arg(folder.join("trial"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    trial.status().is_ok_and(|status| status.success())
}
