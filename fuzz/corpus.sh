#!/bin/sh
# Fills a fuzz target's corpus with recordings: fuzz/corpus.sh TARGET
set -eu
cd "$(dirname "$0")/.."
target=${1:?which target?}
corpus=fuzz/corpus/$target
data=tests/data
mkdir -p "$corpus"

# Puts every line of stdin into a file of its own.
lines() { split --lines=1 --suffix-length=5 --additional-suffix=".$1" - "$corpus/seed-"; }
payloads() { find "$data/fixtures" -name '*.ndjson' -exec sed -n 's/.*"payload": \({.*}\)}$/\1/p' {} +; }

case $target in
    hook) payloads | lines json ;;
    transcript) find "$data/fixtures" -path '*.transcripts/*' -type f -exec cp {} "$corpus" \; ;;
    shell) payloads | sed -n 's/.*"command": "\(\([^"\\]\|\\.\)*\)".*/\1/p' | sort -u | lines sh ;;
    config) cp config.yml "$corpus" && sed -n '/^```yaml$/,/^```$/{/^```/d;p}' README.md >"$corpus/readme.yml" ;;
    frames) cp "$data"/journals/*/intake/*.log "$data"/spool/*/* "$corpus" ;;
    reply)
        printf 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}' >"$corpus/length"
        printf 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n' >"$corpus/chunks"
        printf 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\n{}' >"$corpus/interim"
        ;;
    codec)
        cat "$data"/journals/*/export.ndjson | lines json
        # The records of the intake log: what lies behind each frame's header of 16 bytes.
        for log in "$data"/journals/*/intake/*.log; do
            LC_ALL=C grep --only-matching --byte-offset --text --perl-regexp '\xC5\x4B\x9D\x1E' "$log" | cut -d: -f1 |
                while read -r offset; do
                    tail -c "+$((offset + 17))" "$log" | head -c 4096 >"$corpus/record-$offset"
                done
        done
        ;;
    redaction) { payloads; printf 'api_key=%s\n' '"abcdef0123456789abcdef"' 'Bearer abcdef0123456789abcdef'; } | lines txt ;;
    screen)
        for screen in tests/data/fixtures/*/screens/*.txt; do
            agent=$(basename "$(dirname "$(dirname "$screen")")")
            cp "$screen" "$corpus/$agent-$(basename "$screen")"
        done
        ;;
    *) echo "error: no target $target: see fuzz/fuzz_targets" >&2; exit 2 ;;
esac
