//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show, written};

const AGENT: Agent = Agent::Qwen;

#[test]
fn h_stop_block_once() {
    let facts = recorded(
        AGENT,
        "h-stop-block-once.transcripts/20569a46-76ed-42bb-bd4a-bcec55c27485.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    20569a46-76ed-42bb-bd4a-bcec55c27485 0.24.4 main /home/user/project
    user: User 18:26:36.275 "[script:main] improve x"
    real: User 18:26:36.275 "[script:main] improve x"
    says: "debrief-done"
      00002 read_file Read `-` ["/home/user/project/src/x.py"] ok 18:26:37.048 233ms ""
      00005 edit Edit `-` ["/home/user/project/src/x.py"] ok 18:26:37.373 158ms ""
      00008 run_shell_command Shell `echo hi; false` [] failed 18:26:37.597 389ms "hi"
      00011 write_file Write `-` ["/home/user/project/notes.txt"] ok 18:26:38.073 174ms ""
      00016 run_shell_command Shell `echo tests ok` [] ok 18:26:38.459 235ms ""
    "#);
}

#[test]
fn only_a_line_of_a_person_begins_a_turn() {
    let line = |kind: &str, rest: &str, text: &str| {
        format!(
            r#"{{"uuid":"u","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","type":"{kind}",{rest}"message":{{"role":"user","parts":[{{"text":"{text}"}}]}}}}"#
        )
    };
    let said = line("assistant", "", "I begin");
    for (rest, real) in [
        (r#""provenance":"real_user","#, "and this"),
        ("", "and this"),
        (r#""provenance":"system","subtype":"notification","#, "go"),
        (r#""provenance":"system","subtype":"cron","#, "go"),
        (r#""provenance":"goal_runtime","#, "go"),
    ] {
        let facts = written(
            AGENT,
            &[
                &line("user", "", "go"),
                &said,
                &line("user", rest, "and this"),
            ],
        );
        assert_eq!(facts.last_real_user.expect("one").text, real, "{rest}");
    }
    // What is typed while it works belongs to the turn.
    let steered = r#""provenance":"real_user","subtype":"mid_turn_user_message","#;
    let facts = written(
        AGENT,
        &[
            &line("user", "", "go"),
            &said,
            &line("user", steered, "and this"),
        ],
    );
    assert_eq!(facts.prompts, ["go", "and this"]);
}
