//! Cost of redaction: an ordinary payload, one with secrets, and texts of growing size made of what the rules look for.
//!
//! `cargo bench --bench redact`

use std::hint::black_box;
use std::time::{Duration, Instant};

use checkpoint::redact::{built_in, prepare};
use serde_json::{Value, json};

const CODE: &str = "fn read_call(shared: &Shared, headers: &HookHeaders) -> Result<Normal, Refusal> {\n    let config = shared.config();\n    let reading = Reading {\n        prefix: &config.settings.prefix.0,\n        redactor: &config.redactor,\n    };\n    // A token of the parser; see the key in `hooks.rs`.\n    match normal {\n        Ok(normal) => Ok(normal),\n        Err(problem) => reject(problem),\n    }\n}\n";
/// How often a payload is redacted; the shortest time counts, since other programs run too.
const ROUNDS: usize = 20_000;
/// Sizes of the larger texts, in bytes.
const SIZES: [usize; 3] = [100_000, 1_000_000, 10_000_000];

fn payload(command: &str) -> Value {
    let mut output = CODE.to_owned();
    output.push_str(&CODE[..140]);
    json!({
        "session_id": "594047f2-1c3d-4e5f-8a9b-0c1d2e3f4a5b", "cwd": "/home/me/work", "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_use_id": "toolu_01A09q90qw90lq917835lq9",
        "tool_input": { "command": command, "description": "Run the tests of one crate" },
        "tool_response": { "stdout": output, "stderr": "", "interrupted": false },
    })
}

fn shortest(rounds: usize, mut work: impl FnMut() -> Duration) -> Duration {
    (0..rounds).map(|_| work()).min().unwrap_or_default()
}

fn main() {
    prepare();
    for command in [
        "cargo test -p checkpointd-checkpoint redact",
        "PGPASSWORD=hunter2 psql -h db -c 'select 1'",
    ] {
        let given = payload(command);
        let raw = given.to_string();
        let time = shortest(ROUNDS, || {
            let mut payload = given.clone();
            let began = Instant::now();
            black_box(built_in().payload(&mut payload, black_box(&raw)));
            began.elapsed()
        });
        println!("{:>9} bytes of a payload, `{command}`: {time:?}", raw.len());
    }
    for piece in ["password=", "password is ", "sk-", "\\n", CODE] {
        for size in SIZES {
            let text = piece.repeat(size / piece.len());
            let time = shortest(1, || {
                let began = Instant::now();
                black_box(built_in().text(black_box(&text)));
                began.elapsed()
            });
            println!(
                "{size:>9} bytes of {:?}: {time:?}",
                &piece[..piece.len().min(16)]
            );
        }
    }
}
