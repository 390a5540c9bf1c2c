# List the recipes
default:
    @just --list --unsorted

# Run everything that CI runs
[group('everyday')]
check:
    bash .ci/run

# Run all tests, or those whose name contains a word
[group('everyday')]
test *filter:
    cargo test --workspace --all-features {{ filter }}

# Format the code and apply the fixes that lints suggest
[group('everyday')]
fix:
    cargo fmt --all
    cargo clippy --workspace --all-features --all-targets --fix --allow-dirty

# Check the English of the documentation, or of the given files
[group('everyday')]
prose *files:
    tests/prose.sh {{ files }}

# Replay recorded sessions through the real client and daemon
[group('everyday')]
demo:
    cargo run -- demo

# Build and open the API documentation
[group('everyday')]
docs:
    cargo doc --workspace --all-features --no-deps --open

# Build the book of docs/ into target/book (needs mdbook)
[group('everyday')]
book:
    mdbook build docs

# Run the real agents, from npm and PyPI, against scripted models
[group('other programs')]
agents *filter:
    CHECKPOINTD_AGENTS_ALL=1 tests/agents/run.sh {{ filter }}

# Test the web page in a real browser
[group('other programs')]
web *filter:
    tests/web/run.sh {{ filter }}

# Test a fleet with real NATS servers, in the long form
[group('other programs')]
fleet *filter:
    CHECKPOINTD_FLEET=full tests/fleet/run.sh {{ filter }}

# Take the screenshots of the documentation again
[group('other programs')]
pictures:
    CHECKPOINTD_SCREENSHOTS=docs/images tests/web/run.sh pictures

# Type-check everything for macOS on another system
[group('other programs')]
macos:
    tests/macos.sh --all-features --all-targets

# Run the attacks that SECURITY.md names; `--release` for optimized binaries
[group('faults')]
attack *options:
    tests/attack.sh {{ options }}

# Kill daemon and clients at random times under load
[group('faults')]
kill-rounds rounds="200":
    CHECKPOINTD_KILL_ROUNDS={{ rounds }} cargo test --all-features --test it kills:: -- --nocapture

# Damage every kind of journal file at random positions
[group('faults')]
damage rounds="2000":
    CHECKPOINTD_DAMAGE_ROUNDS={{ rounds }} cargo test --all-features --test it damage:: -- --nocapture

# Make every system call of daemon and client fail in turn, or the given calls (needs strace; one to two hours)
[group('faults')]
faults *calls:
    CHECKPOINTD_FAULTS=all CHECKPOINTD_FAULTS_ONLY="{{ calls }}" cargo test --all-features --test it syscalls:: -- --nocapture --test-threads 1

# Simulate power failures at many moments of a run, four kinds each (needs strace)
[group('faults')]
power-loss cuts="300":
    CHECKPOINTD_POWER_CUTS={{ cuts }} cargo test --all-features --test it power:: -- --nocapture --test-threads 1

# Block and flood the daemon at full size
[group('faults')]
overload:
    CHECKPOINTD_OVERLOAD=full cargo test --all-features --test it overload:: -- --nocapture --test-threads 1

# Simulate seeded runs of the actors on a paused clock
[group('faults')]
simulate seeds="10000" first="1":
    CHECKPOINTD_SIMULATE_SEEDS={{ seeds }} CHECKPOINTD_SIMULATE_FIRST={{ first }} cargo test --workspace --all-features --test simulation -- --nocapture

# Sanitizers look for errors that only unsafe code can have, and this project has none.
# Fuzz one parser of fuzz/fuzz_targets with libFuzzer (needs cargo-fuzz and a nightly toolchain)
[group('faults')]
fuzz target seconds="60":
    fuzz/corpus.sh {{ target }}
    cargo +nightly fuzz run --sanitizer none {{ target }} -- -max_total_time={{ seconds }} -max_len=65536 -timeout=10

# Run all benchmarks, each against a named peer in the same run
[group('performance')]
bench:
    cargo bench --all-features --profile dist

# Measure growth up to a million events, for the table in docs/performance.md
[group('performance')]
growth:
    cargo bench --all-features --profile dist --bench growth

# Build a Debian package (needs cargo-deb)
[group('release')]
deb:
    cargo build --profile dist --all-features --locked --package checkpointd --package checkpointd-fleet
    packaging/deb.sh

# Install a folder of archives by npm, PyPI, and install.sh, and a Debian package, in empty Debians (needs root and mmdebstrap)
[group('release')]
minute archives *package:
    tests/minute.sh {{ archives }} {{ package }}

# Build an RPM package (needs cargo-generate-rpm)
[group('release')]
rpm:
    cargo build --profile dist --all-features --locked --package checkpointd --package checkpointd-fleet
    packaging/rpm.sh

# Build the archive of a release for a target (needs the target; for another system cargo-zigbuild and zig)
[group('release')]
archive target:
    cargo {{ if target =~ "linux" { "zigbuild" } else { "build" } }} --profile dist --all-features --locked --package checkpointd --package checkpointd-fleet --target {{ target }}
    packaging/archive.sh {{ target }} target/{{ target }}/dist

# Install the archive of a release and work with it, also one for another processor (needs qemu-user-static for that)
[group('release')]
try-archive archive:
    tests/archive.sh {{ archive }}

# Check licenses, sources, and advisories of dependencies (needs cargo-deny)
[group('release')]
deny:
    cargo deny check
