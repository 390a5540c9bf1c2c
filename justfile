# Print this list
default:
    @just --list

# Run exactly what CI runs
check:
    bash .ci/run

# Run all tests, or those that match
test *filter:
    cargo test --workspace {{ filter }}

# Run the real agents, from npm, against scripted models; all, or those that match
agents *filter:
    tests/agents/run.sh {{ filter }}

# Look at the web page in a real browser: all, or what matches
web *filter:
    tests/web/run.sh {{ filter }}

# Take the README's pictures anew
pictures:
    CHECKPOINTD_SCREENSHOTS=docs/images tests/web/run.sh pictures

# Format, and mend what lints can mend
fix:
    cargo fmt --all
    cargo clippy --workspace --all-targets --fix --allow-dirty

# Kill daemon and clients at random under load, that many rounds
kill-rounds rounds="200":
    CHECKPOINTD_KILL_ROUNDS={{ rounds }} cargo test --test it kills:: -- --nocapture

# Damage every kind of file of a journal, that many random positions of each
damage rounds="2000":
    CHECKPOINTD_DAMAGE_ROUNDS={{ rounds }} cargo test --test it damage:: -- --nocapture

# Let every system call of daemon and client fail in turn (needs strace; an hour or two), or those that match
faults *calls:
    CHECKPOINTD_FAULTS=all CHECKPOINTD_FAULTS_ONLY="{{ calls }}" cargo test --test it syscalls:: -- --nocapture --test-threads 1

# Cut the power at that many moments of a run, in four ways each (needs strace)
power-loss cuts="300":
    CHECKPOINTD_POWER_CUTS={{ cuts }} cargo test --test it power:: -- --nocapture --test-threads 1

# Wedge and flood the daemon at full size
overload:
    CHECKPOINTD_OVERLOAD=full cargo test --test it overload:: -- --nocapture --test-threads 1

# Simulate that many seeded runs of the actors on a paused clock, from the given seed on
simulate seeds="10000" first="1":
    CHECKPOINTD_SIMULATE_SEEDS={{ seeds }} CHECKPOINTD_SIMULATE_FIRST={{ first }} cargo test --workspace --test simulation -- --nocapture

# Play recorded sessions through the real thing
demo:
    cargo run --release -- demo

# Measure, each against a named peer in the same run
bench:
    cargo bench

# Measure what grows with a journal, up to a million events: the table of docs/performance.md
growth:
    cargo bench --bench growth

# Without a sanitizer: those look for what only unsafe code does, and ours has none.
# Let libFuzzer look for what breaks a parser, one of fuzz/fuzz_targets (needs cargo-fuzz and a nightly toolchain)
fuzz target seconds="60":
    fuzz/corpus.sh {{ target }}
    cargo +nightly fuzz run --sanitizer none {{ target }} -- -max_total_time={{ seconds }} -max_len=65536 -timeout=10

# Make a Debian package (needs cargo-deb)
deb:
    cargo build --release --locked
    packaging/deb.sh

# Type-check everything for macOS, on another system
macos:
    tests/macos.sh --all-targets

# Check licences, sources and advisories
deny:
    cargo deny check

# Open the documentation of the code
docs:
    cargo doc --workspace --no-deps --open
