//! Screens of what led to a decision.

use super::*;

#[test]
fn explain_in_short() {
    insta::assert_snapshot!(screen(&recorded(), &["explain", "33"]), @"
    decision 33: sent, 2026-11-20 09:07:30, gemini 8c4e2d10, turn 1, ~/inventory
    asked   Run the tests that cover the changed Python code (`pytest`)
    asked   Python code was modified but a test run (`pytest`) was not observed this
            turn
    asked   Files were edited without being read first this turn — verify changes
            are correct
    why     work is open
    then    not done: 1 of 1
    change  `checkpointd wrong 33` if it was not warranted; `checkpointd mute
            8c4e2d10` for silence
    `-v` shows all that it was based on
    == at 140 columns
    asked   Python code was modified but a test run (`pytest`) was not observed this turn
    asked   Files were edited without being read first this turn — verify changes are correct
    change  `checkpointd wrong 33` if it was not warranted; `checkpointd mute 8c4e2d10` for silence
    == colors
    ^1mdecision 33: sent, 2026-11-20 09:07:30, gemini 8c4e2d10, turn 1, ~/inventory^0m
    ");
    insta::assert_snapshot!(screen(&recorded(), &["explain", "37"]), @"
    decision 37: let through, 2026-11-20 09:07:50, gemini 8c4e2d10, turn 1,
    ~/inventory
    why     already asked in this turn (it was decided by an earlier version of
            checkpointd)
    change  `checkpointd config set max_blocks_per_turn 2`
    `-v` shows all that it was based on
    == at 140 columns
    decision 37: let through, 2026-11-20 09:07:50, gemini 8c4e2d10, turn 1, ~/inventory
    why     already asked in this turn (it was decided by an earlier version of checkpointd)
    == colors
    ^1mdecision 37: let through, 2026-11-20 09:07:50, gemini 8c4e2d10, turn 1,^0m
    ");
}

#[test]
fn explain() {
    insta::assert_snapshot!(screen(&recorded(), &["explain", "33", "-v"]), @r#"
    decision 33: sent, 2026-11-20 09:07:30, gemini 8c4e2d10, turn 1, ~/inventory
    asked   Run the tests that cover the changed Python code (`pytest`)
    asked   Python code was modified but a test run (`pytest`) was not observed this
            turn
    asked   Files were edited without being read first this turn — verify changes
            are correct
    why     work is open
    then    not done: 1 of 1
    change  `checkpointd wrong 33` if it was not warranted; `checkpointd mute
            8c4e2d10` for silence

    decision 33: sent, work is open
    gemini session 8c4e2d10, turn 1, 2026-11-20 09:07:30
      the turn's other stop, 20.0s later: let through, already asked in this turn
      (`checkpointd explain 37`)

    what happened
      09:07:30.000      31  gemini 8c4e2d10  agent stopped

    the session at the stop
      project                /home/ada/inventory
      last message           2026-11-20 09:06:41
      last checkpoint        -
      last tool call         2026-11-20 09:06:50
      asked in this turn     0

    what git and the transcript said
      changed files          stock/reorder.py
      tool calls             1, from: journal
          1 replace stock/reorder.py 300ms

    what could have let it through, in order
      this  work is open                        it was decided by an earlier versio…

    actions: 1 of 1 were not done afterward
      validate   Run the tests that cover the changed Python code (`pytest`)
                 (Python code)

    observations
      Python code was modified but a test run (`pytest`) was not observed this turn
      Files were edited without being read first this turn — verify changes are
      correct

    times, and the delivery: pending
      looking things up      policy 310us, marker 12us, git 8.2ms, transcript 95us
      stop journaled         1.4ms after the stop
      decision journaled     7.6ms after the stop
      delivery attempted     10ms after the stop  (hook reply of 33)

    message
      [TeleClaude Checkpoint] - Context-aware checkpoint

      Changed: Python code

      Required actions, in this order:
      1. Run the tests that cover the changed Python code (`pytest`)

      Observations:
      - Python code was modified but a test run (`pytest`) was not observed this
      turn
      - Files were edited without being read first this turn — verify changes are
      correct

      Capture memories/bugs/ideas worth keeping.

      Do this housekeeping silently. Then give the user a short debrief: the outcome
      of the task, a blocker, or a decision you need. Leave checkpoint chores out of
      it.

      Last resort, only if the above cannot be done: `touch
      "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
    == at 140 columns
    asked   Python code was modified but a test run (`pytest`) was not observed this turn
    asked   Files were edited without being read first this turn — verify changes are correct
    change  `checkpointd wrong 33` if it was not warranted; `checkpointd mute 8c4e2d10` for silence
      the turn's other stop, 20.0s later: let through, already asked in this turn (`checkpointd explain 37`)
      this  work is open                        it was decided by an earlier version of checkpointd
      validate   Run the tests that cover the changed Python code (`pytest`)  (Python code)
      Files were edited without being read first this turn — verify changes are correct
      - Python code was modified but a test run (`pytest`) was not observed this turn
      - Files were edited without being read first this turn — verify changes are correct
      Do this housekeeping silently. Then give the user a short debrief: the outcome of the task, a blocker, or a decision you need. Leave
      checkpoint chores out of it.
      Last resort, only if the above cannot be done: `touch "$TMPDIR/teleclaude_checkpoint_clear"` lets the next stop pass.
    == colors
    ^1mdecision 33: sent, 2026-11-20 09:07:30, gemini 8c4e2d10, turn 1, ~/inventory^0m
    decision 33: ^32msent^0m, work is open
    ^1mwhat happened^0m
    ^1mthe session at the stop^0m
    ^1mwhat git and the transcript said^0m
    ^1mwhat could have let it through, in order^0m
      ^32mthis^0m  work is open                        it was decided by an earlier versio…^0m
    ^1mactions: 1 of 1 were not done afterward^0m
    ^1mobservations^0m
    ^1mtimes, and the delivery: pending^0m
    ^1mmessage^0m
    "#);
}

#[test]
fn state_diff() {
    insta::assert_snapshot!(screen(&recorded(), &["journal", "state", "3f0a", "--diff", "9", "20"]), @r#"
    from event 9 (2026-11-20 09:00:42) to event 20 (2026-11-20 09:01:50)
      running                true -> false
      last checkpoint at     - -> 2026-11-20 09:01:15
      last tool use at       2026-11-20 09:00:42 -> 2026-11-20 09:01:44
      blocks this turn       0 -> 1
      pending                [] -> [{"seq":20,"at":"2026-11-20T09:01:50.000000Z","h…
      counts.events          8 -> 18
      counts.tools           3 -> 5
      counts.stops           0 -> 2
      counts.injected        0 -> 1
      calls                  + Edit /home/ada/inventory/stock/reorder.py, + Bash py…
    == at 140 columns
      pending                [] -> [{"seq":20,"at":"2026-11-20T09:01:50.000000Z","host_turn":"p1","can_reply":true,"background_tasks":0,"restar…
      calls                  + Edit /home/ada/inventory/stock/reorder.py, + Bash pytest -q
    == colors
      running                ^2mtrue^0m -> ^32mfalse^0m
      last checkpoint at     ^2m-^0m -> ^32m2026-11-20 09:01:15^0m
      last tool use at       ^2m2026-11-20 09:00:42^0m -> ^32m2026-11-20 09:01:44^0m
      blocks this turn       ^2m0^0m -> ^32m1^0m
      pending                ^2m[]^0m -> ^32m[{"seq":20,"at":"2026-11-20T09:01:50.000000Z","h…^0m
      counts.events          ^2m8^0m -> ^32m18^0m
      counts.tools           ^2m3^0m -> ^32m5^0m
      counts.stops           ^2m0^0m -> ^32m2^0m
      counts.injected        ^2m0^0m -> ^32m1^0m
      calls                  ^32m+ ^0mEdit /home/ada/inventory/stock/reorder.py, ^32m+ ^0mBash py…^0m
    "#);
}
