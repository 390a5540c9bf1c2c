#!/usr/bin/env bash
# Checks the verification record of a commit and says what is in it. Needs checkpointd, git, jq and, for a forge, curl.
#
#   RECORD_COMMIT           the commit (HEAD)
#   RECORD_BASE             what it is for, of which nothing since may be left out (origin/$GITHUB_BASE_REF, if there is one)
#   RECORD_ALLOWED_SIGNERS  who may sign, or RECORD_KEY: the one public key that counts
#   RECORD_REQUIRE          nothing, record or tests: what makes it fail (nothing)
#   GITHUB_STEP_SUMMARY     the file that the table is added to (else it is printed)
#   GITHUB_API_URL, GITHUB_REPOSITORY, GITHUB_TOKEN: the forge, for a check; with RECORD_PULL also for a comment
set -uo pipefail # no -e: a failure is a line of the report, and only what is required makes it fail

require=${RECORD_REQUIRE:-nothing}
case $require in nothing | record | tests) ;; *) echo "error: RECORD_REQUIRE is nothing, record or tests" >&2; exit 2 ;; esac
scratch=$(mktemp -d)
trap 'cat "$scratch/said" >&3; rm -rf "$scratch"' EXIT
exec 3>&2 2>"$scratch/said"
commit=${RECORD_COMMIT:-HEAD}
commit=$(git rev-parse --verify --quiet --end-of-options "$commit^{commit}" || printf '%s' "$commit")
base=${RECORD_BASE:-${GITHUB_BASE_REF:+origin/$GITHUB_BASE_REF}}
mark='<!-- checkpointd-record -->'

# The notes of this clone may hold records that are not shared yet, so those of others have a place beside them. A pattern
# that matches nothing is no failure.
notes=refs/notes/checkpointd
if git remote get-url origin >/dev/null 2>&1; then
    git fetch --quiet --prune origin "+$notes*:refs/notes/origin/checkpointd*"
    notes=refs/notes/origin/checkpointd
fi
# A pull request could add a key of its own: who may sign is read from the branch that it is for.
named=${RECORD_KEY:-${RECORD_ALLOWED_SIGNERS:-}}
if [ -n "$named" ]; then
    if [ -n "$base" ]; then git show "$base:$named"; else cat "$named"; fi >"$scratch/trusted"
fi
options=(--notes-ref "$notes")
[ -z "$base" ] || options+=(--base "$base")
[ -z "${RECORD_ALLOWED_SIGNERS:-}" ] || options+=(--allowed-signers "$scratch/trusted")
[ -z "${RECORD_KEY:-}" ] || options+=(--key "$scratch/trusted")
checked=$(checkpointd record verify "$commit" --json "${options[@]}")

# What a record says comes from another machine: no markup of it counts.
read -r -d '' table <<'JQ' || true
def code: (. // "") | gsub("`"; "'") | gsub("[|[:cntrl:]]"; " ") | .[0:200] | if . == "" then "" else "`" + . + "`" end;
def unit: (.content.gitBlob // .was.gitBlob) as $blob | (.file // $blob | code)
  + if .content.gitCommit then " submodule " + ([.was.gitCommit, .content.gitCommit] | map((. // "")[0:12] | code) | join(" to "))
    elif .content == {} then " removed" else "" end;
def words: gsub("[^A-Za-z0-9 ,-]"; " ");
def row: "| " + join(" | ") + " |";
if length == 0 then "No record of this commit was checked." else
  .[] | if .accepted then
    (.statement.predicate as $it | $it.totals as $sum
    | "Changed files: \($sum.units) (\($sum.done) done, \($sum.unknown) unknown, \($sum.open) open)."
      + " Checkpoints: \($sum.demands) (\($sum.met) met)."
      + " Switched off: \($sum.switches) (\([$it.switches[] | select(.by == "agent")] | length) by the agent).", "",
    (["answer", "file", "what ran", "result"] | row), (["---", "---", "---", "---"] | row),
    ($it.units[0:200][] | (if .run == null then null else $it.runs[.run] end) as $run
      | [.answer, unit,
         (if $run == null then "" else ($run.command | code) + " at " + ($run.at[0:19] | sub("T"; " ")) + " UTC" end),
         (.row | words) + (if ($run | type) == "object" and $run.passed != null
           then ": \($run.passed) passed, \($run.failed // 0) failed" else "" end)
           + if .doubts then ", doubtful: " + (.doubts | join(", ") | code) else "" end] | row))
  else "**Refused**", (.refusals[] | "- \(.check): \(.text | code)") end
end,
($said | split("\n") | map(select(. != "" and (startswith("hint: ") | not))) | if length > 0 then "" else empty end, (.[] | "- " + code))
JQ
accepted=$(jq -s 'length > 0 and all(.[]; .accepted)' <<<"$checked")
settled=$(jq -s 'length > 0 and all(.[]; .accepted and .statement.predicate.totals.open == 0
    and .statement.predicate.totals.unknown == 0
    and all(.statement.predicate.switches[]; .by != "agent"))' <<<"$checked")

failed=false
[ "$require" = nothing ] || [ "$accepted" = true ] || failed=true
[ "$require" != tests ] || [ "$settled" = true ] || failed=true
report() {
    printf '%s\n### Verification record of %s\n\n%s\n' "$mark" "${commit:0:12}" "$(jq -rs --rawfile said "$scratch/said" "$table" <<<"$checked")"
}

ask() { # METHOD PATH [BODY]
    curl --silent --show-error --fail --max-time 30 --request "$1" "$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/$2" \
        --header @- ${3:+--data "$3"} <<<"Authorization: Bearer $GITHUB_TOKEN" ||
        echo "error: $GITHUB_API_URL did not take this: $1 $2" >&2
}

body=$(report)
if [ -n "${GITHUB_TOKEN:-}" ] && [ -n "${GITHUB_API_URL:-}" ]; then
    conclusion=neutral
    [ "$require" = nothing ] || conclusion=success
    [ "$failed" = false ] || conclusion=failure
    ask POST check-runs "$(jq -n --arg sha "$commit" --arg conclusion "$conclusion" --arg text "$body" '{name: "verification record",
        head_sha: $sha, status: "completed", conclusion: $conclusion, output: {title: "Verification record", summary: $text}}')" >/dev/null
    if [ -n "${RECORD_PULL:-}" ]; then
        known=$(ask GET "issues/$RECORD_PULL/comments?per_page=100" |
            jq -r --arg mark "$mark" '[.[] | select(.body | startswith($mark)) | .id][0] // empty')
        comment=$(jq -n --arg body "$body" '{body: $body}')
        if [ -n "$known" ]; then ask PATCH "issues/comments/$known" "$comment"; else ask POST "issues/$RECORD_PULL/comments" "$comment"; fi >/dev/null
    fi
fi
report >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
[ "$failed" = false ]
