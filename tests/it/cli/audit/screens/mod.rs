//! What people see: every command about the past at 80 and at 140 columns, with and without colors.

mod changes;

use super::{Home, command, home_with, own, recorded, recording, run};

pub(super) fn show(home: &Home, arguments: &[&str], columns: &str, colors: &str) -> String {
    let mut command = command(home, arguments);
    let output = run(
        command
            .env("COLUMNS", columns)
            .env("CLICOLOR_FORCE", colors),
        b"",
    );
    // A check that fails has something to show too.
    assert!(
        matches!(output.status.code(), Some(0 | 1)) && output.stderr.is_empty(),
        "{arguments:?}: {output:?}"
    );
    String::from_utf8(output.stdout).expect("text")
}

fn without_colors(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        text + part.split_once('m').expect("a color ends").1
    })
}

/// Returns the screen of 80 columns, the lines of the one of 140 columns that differ, and the lines with colors; `^` is
/// where a color begins or ends. That colors change nothing else, and that no line is too long, is checked here.
#[track_caller]
pub(super) fn screen(home: &Home, arguments: &[&str]) -> String {
    screen_by(arguments, |columns, colors| {
        show(home, arguments, columns, colors)
    })
}

/// Does what [`screen`] does for what is shown in another way.
#[track_caller]
pub(super) fn screen_by(arguments: &[&str], show: impl Fn(&str, &str) -> String) -> String {
    let mut plain = Vec::new();
    let mut colored = Vec::new();
    for columns in ["80", "140"] {
        let text = show(columns, "0");
        assert!(!text.contains('\x1b'), "{arguments:?}");
        let longest = text
            .lines()
            .map(|line| line.chars().count())
            .max()
            .unwrap_or(0);
        assert!(
            longest <= columns.parse::<usize>().expect("a number"),
            "{arguments:?}: {longest} of {columns}\n{text}"
        );
        let painted = show(columns, "1");
        assert_eq!(without_colors(&painted), text, "{arguments:?} at {columns}");
        plain.push(text);
        colored.push(painted);
    }
    let known: Vec<_> = plain[0].lines().collect();
    let wide: Vec<_> = plain[1]
        .lines()
        .filter(|line| !known.contains(line))
        .collect();
    let colors: Vec<_> = colored[0]
        .lines()
        .filter(|line| line.contains('\x1b'))
        .collect();
    let colors = colors.join("\n").replace("\x1b[", "^");
    format!(
        "{}== at 140 columns\n{}\n== colors\n{colors}\n",
        plain[0],
        wide.join("\n")
    )
}

/// Makes times that have passed since comparable: they have five digits of days, hence the same width.
pub(super) fn without_ages(text: &str) -> String {
    let hide = |word: &str| {
        let is_age = word.len() == 6
            && word.ends_with('d')
            && word.starts_with(|c: char| c.is_ascii_digit());
        if is_age {
            "#####d".to_owned()
        } else {
            word.to_owned()
        }
    };
    text.split('\n')
        .map(|line| line.split(' ').map(hide).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn sessions() {
    // Long ago, so that the days have five digits for the next centuries.
    let home = home_with(&recording().replace("2026-11-20T", "1990-11-20T"));
    let look =
        |columns: &str, colors: &str| without_ages(&show(&home, &["sessions"], columns, colors));
    insta::assert_snapshot!(screen_by(&["sessions"], look), @r"
    SESSION        OPEN  AGENT   STATE    LAST        PROJECT      TITLE
    8c4e2d10       -     gemini  waiting  #####d ago  ~/inventory  Round the quanti…
    3f0a6c1e       -     claude  waiting  #####d ago  ~/inventory  Reorder points a…
    01a1ffea-5aaf  -     codex   ended    #####d ago  ~/handbook   Explain how to o…
    == at 140 columns
    SESSION        OPEN  AGENT   TURN  STATE    FLAGS          LAST        CHECKPOINTS  BRANCH, PANE  PROJECT      TITLE
    8c4e2d10       -     gemini  1     waiting  asked,sending  #####d ago  1 of 2       -             ~/inventory  Round the quantities up
    3f0a6c1e       -     claude  2     waiting  -              #####d ago  1 of 3       -             ~/inventory  Reorder points are off by on…
    01a1ffea-5aaf  -     codex   1     ended    asked,sending  #####d ago  1 of 1       -             ~/handbook   Explain how to order\x1b[31m…
    == colors
    ^1mSESSION        OPEN  AGENT   STATE    LAST        PROJECT      TITLE^0m
    8c4e2d10       -     gemini  ^33mwaiting^0m  #####d ago  ~/inventory  Round the quanti…^0m
    3f0a6c1e       -     claude  ^33mwaiting^0m  #####d ago  ~/inventory  Reorder points a…^0m
    01a1ffea-5aaf  -     codex   ^2mended^0m    #####d ago  ~/handbook   Explain how to o…^0m
    ");
}

#[test]
fn audit() {
    insta::assert_snapshot!(screen(&recorded(), &["audit"]), @"
    SEQ  AT                   AGENT   CHECKPOINT      WHY
    13   2026-11-20 09:01:15  claude  sent, done      work is open
    22   2026-11-20 09:01:50  claude  let through     already asked in this turn
    26   2026-11-20 09:05:08  claude  let through     the turn was short
    33   2026-11-20 09:07:30  gemini  sent, not done  work is open
    37   2026-11-20 09:07:50  gemini  let through     already asked in this turn
    45   2026-11-20 09:09:20  codex   sent            only documentation changed
    == at 140 columns
    SEQ  AT                   AGENT   SESSION        TURN  AFTER  PROJECT      CHECKPOINT      DELIVERY   WHY
    13   2026-11-20 09:01:15  claude  3f0a6c1e       1     1m14s  ~/inventory  sent, done      confirmed  work is open
    22   2026-11-20 09:01:50  claude  3f0a6c1e       1     35.0s  ~/inventory  let through     none       already asked in this turn
    26   2026-11-20 09:05:08  claude  3f0a6c1e       2     8.0s   ~/inventory  let through     none       the turn was short
    33   2026-11-20 09:07:30  gemini  8c4e2d10       1     49.0s  ~/inventory  sent, not done  pending    work is open
    37   2026-11-20 09:07:50  gemini  8c4e2d10       1     20.0s  ~/inventory  let through     none       already asked in this turn
    45   2026-11-20 09:09:20  codex   01a1ffea-5aaf  1     58.0s  ~/handbook   sent            pending    only documentation changed
    == colors
    ^1mSEQ  AT                   AGENT   CHECKPOINT      WHY^0m
    13   2026-11-20 09:01:15  claude  ^32msent, done^0m      work is open
    22   2026-11-20 09:01:50  claude  ^2mlet through^0m     already asked in this turn
    26   2026-11-20 09:05:08  claude  ^2mlet through^0m     the turn was short
    33   2026-11-20 09:07:30  gemini  ^31msent, not done^0m  work is open
    37   2026-11-20 09:07:50  gemini  ^2mlet through^0m     already asked in this turn
    45   2026-11-20 09:09:20  codex   ^32msent^0m            only documentation changed
    ");
}

#[test]
fn stats() {
    insta::assert_snapshot!(screen(&own(), &["stats", "--since", "2026-11-01"]), @"
    Since 2026-11-01 00:00:00

          3  checkpoints, at 6 stops
          0  of them did not arrive, as far as known
          2  asked for something and have ended (2 actions in total)
          1  of these were done in full before you wrote again
          0  were marked wrong by you

          1  check run because a checkpoint asked
          0  of them failed at first: caught before you had to

      55.0s  of the agents' time went into checkpoints, 18.3s each
          5  answers of the model, at most

    ASKED  DONE  MARKED WRONG  RULE
    4      -     0             observation
    2      1     0             Python code

    AGENT   STOPS  SENT  NOT ARRIVED  DONE    MEDIAN TURN  PROJECT
    claude  3      1     0            1 of 1  1m49s        ~/inventory
    codex   1      1     0            0 of 0  58.0s        ~/handbook
    gemini  2      1     0            0 of 1  1m09s        ~/inventory
    all     6      3     0            1 of 2  1m09s

    let through: 2 already asked in this turn; 1 the turn was short
    == at 140 columns

    == colors
    ^1mASKED  DONE  MARKED WRONG  RULE^0m
    ^1mAGENT   STOPS  SENT  NOT ARRIVED  DONE    MEDIAN TURN  PROJECT^0m
    ");
}

#[test]
fn timeline() {
    insta::assert_snapshot!(screen(&recorded(), &["timeline", "3f0a"]), @r#"
    before the first turn  2026-11-20 09:00:00
      +0.000s      2 |-                   | session started startup
    turn 1  2026-11-20 09:00:01
      +0.000s      3 |>                   | prompt submitted user "Reorder points a…
      +3.000s      5 |=                   | Read stock/reorder.py 50ms
       +14.0s      7 |  =                 | Edit stock/reorder.py 120ms
       +29.0s      9 |     ===            | Bash pytest -q 12.5s failed
       +1m14s     10 |            #       | agent stopped
       +1m14s     13 |            !       | decided sent: work is open (after 1m14s…
       +1m14s     14 |            ^       | delivery attempted hook reply of 13
       +1m19s     16 |             ^      | delivery confirmed 13 by next event
       +1m19s     17 |             =      | Edit stock/reorder.py 100ms
       +1m29s     19 |               ===  | Bash pytest -q 14.0s
       +1m49s     20 |                   #| agent stopped again
       +1m49s     22 |                   .| decided let through: already asked in t…
    turn 2  2026-11-20 09:05:00
      +0.000s     23 |>                   | prompt submitted user "Thanks"
      +8.000s     24 |                   #| agent stopped
      +8.000s     26 |                   .| decided let through: the turn was short…
    == at 140 columns
      +0.000s      2 |-                                  | session started startup
      +0.000s      3 |>                                  | prompt submitted user "Reorder points are off by one; please fix them"
      +3.000s      5 |=                                  | Read stock/reorder.py 50ms
       +14.0s      7 |    =                              | Edit stock/reorder.py 120ms
       +29.0s      9 |         ====                      | Bash pytest -q 12.5s failed
       +1m14s     10 |                       #           | agent stopped
       +1m14s     13 |                       !           | decided sent: work is open (after 1m14s by hook reply)
       +1m14s     14 |                       ^           | delivery attempted hook reply of 13
       +1m19s     16 |                        ^          | delivery confirmed 13 by next event
       +1m19s     17 |                        =          | Edit stock/reorder.py 100ms
       +1m29s     19 |                           ======  | Bash pytest -q 14.0s
       +1m49s     20 |                                  #| agent stopped again
       +1m49s     22 |                                  .| decided let through: already asked in this turn (after 35.0s)
      +0.000s     23 |>                                  | prompt submitted user "Thanks"
      +8.000s     24 |                                  #| agent stopped
      +8.000s     26 |                                  .| decided let through: the turn was short (after 8.0s)
    == colors
    ^1mbefore the first turn^0m  ^2m2026-11-20 09:00:00^0m
      +0.000s      2 |^2m-^0m                   | session started startup
    ^1mturn 1^0m  ^2m2026-11-20 09:00:01^0m
      +0.000s      3 |^1m>^0m                   | prompt submitted user "Reorder points a…^0m
       +29.0s      9 |     ^31m===^0m            | Bash pytest -q 12.5s^31m failed^0m
       +1m14s     10 |            ^1m#^0m       | agent stopped
       +1m14s     13 |            ^32m!^0m       | decided ^32msent^0m: work is open (after 1m14s…^0m
       +1m14s     14 |            ^32m^^0m       | delivery attempted hook reply of 13
       +1m19s     16 |             ^32m^^0m      | delivery confirmed 13 by next event
       +1m49s     20 |                   ^1m#^0m| agent stopped again
       +1m49s     22 |                   ^2m.^0m| decided ^2mlet through^0m: already asked in t…^0m
    ^1mturn 2^0m  ^2m2026-11-20 09:05:00^0m
      +0.000s     23 |^1m>^0m                   | prompt submitted user "Thanks"
      +8.000s     24 |                   ^1m#^0m| agent stopped
      +8.000s     26 |                   ^2m.^0m| decided ^2mlet through^0m: the turn was short…^0m
    "#);
}

#[test]
fn state() {
    insta::assert_snapshot!(screen(&recorded(), &["journal", "state", "3f0a", "--at", "20"]), @r#"
    session                3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d
    native session         3f0a6c1e-2b7d-4c55-9e10-6a1d2f3b4c5d
    agent                  claude
    seq                    20
    at                     2026-11-20 09:01:50
    project                /home/ada/inventory
    cwd                    /home/ada/inventory
    transcript             -
    running                false
    turn                   1
    last message sent at   2026-11-20 09:00:01
    last checkpoint at     2026-11-20 09:01:15
    last tool use at       2026-11-20 09:01:44
    first tool use at      2026-11-20 09:00:04
    blocks this turn       1
    notification           -
    dialog up              false
    cleared                false
    muted                  false
    muted until            -
    own prompt last        false
    delivery               -
    pending                [{"seq":20,"at":"2026-11-20T09:01:50.000000Z","host_turn…
    restart                -
    started at             2026-11-20 09:00:00
    ended at               -
    counts                 {"events":18,"tools":5,"errors":1,"stops":2,"injected":1…
    calls this turn        5
    == at 140 columns
    pending                [{"seq":20,"at":"2026-11-20T09:01:50.000000Z","host_turn":"p1","can_reply":true,"background_tasks":0,"restart":false…
    counts                 {"events":18,"tools":5,"errors":1,"stops":2,"injected":1,"passed":0}
    == colors
    "#);
}

#[test]
fn tail() {
    insta::assert_snapshot!(screen(&recorded(), &["journal", "tail", "-n", "9"]), @r#"
    09:08:22.000      39  codex  01a1ffea-5aaf  prompt submitted     user "Explain …
    09:08:40.000      40  codex  01a1ffea-5aaf  tool started         Bash echo afte…
    09:08:40.200      41  codex  01a1ffea-5aaf  tool finished        Bash echo afte…
    09:09:20.000      42  codex  01a1ffea-5aaf  agent stopped
    09:09:20.004      43  daemon 00000000  policy adopted
    09:09:20.000      44  codex  01a1ffea-5aaf  evidence gathered
    09:09:20.000      45  codex  01a1ffea-5aaf  decided              sent: only doc…
    09:09:20.013      46  codex  01a1ffea-5aaf  delivery attempted   hook reply of …
    09:09:50.000      47  codex  01a1ffea-5aaf  session ended        exit
    == at 140 columns
    09:08:22.000      39  codex  01a1ffea-5aaf  prompt submitted     user "Explain how to order\x1b[31m now"
    09:08:40.000      40  codex  01a1ffea-5aaf  tool started         Bash echo after > README.md
    09:08:40.200      41  codex  01a1ffea-5aaf  tool finished        Bash echo after > README.md
    09:09:20.000      45  codex  01a1ffea-5aaf  decided              sent: only documentation changed (after 58.0s by hook reply)
    09:09:20.013      46  codex  01a1ffea-5aaf  delivery attempted   hook reply of 45
    == colors
    09:09:20.000      45  codex  01a1ffea-5aaf  decided              ^32msent^0m: only doc…^0m
    "#);
}
