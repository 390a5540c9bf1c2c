//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::Gemini;

#[test]
fn h_normal() {
    let facts = recorded(
        AGENT,
        "h-normal.transcripts/session-2026-11-21T21-19-5c9c151e.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    5c9c151e-dae8-4d91-b6de-8cabe6f798b3 - - -
    user: User 21:19:13.941 "[script:basic] please do it"
    real: User 21:19:13.941 "[script:basic] please do it"
    says: "done"
      397_0 run_shell_command Shell `echo hi` [] ok 21:19:14.553 243ms ""
      228_0 write_file Write `-` ["/home/user/project/notes.txt"] ok 21:19:15.246 371ms ""
      282_0 replace Edit `-` ["/home/user/project/notes.txt"] ok 21:19:16.316 341ms ""
      290_0 run_shell_command Shell `ls /nonexistent` [] failed 21:19:17.299 457ms "<untrusted_context>\nOutput: ls: cannot access '/nonexistent': No such file or directory\nExit Code: 2\nProcess Group PGID: 9497\n</untrusted_context>"
    "#);
}

#[test]
fn h_parallel() {
    let facts = recorded(
        AGENT,
        "h-parallel.transcripts/session-2026-11-21T20-45-fd8ad528.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    fd8ad528-7775-43f2-a951-65c97f621fc8 - - -
    user: User 20:45:12.014 "[script:parallel] please do it"
    real: User 20:45:12.014 "[script:parallel] please do it"
    says: "done parallel"
      939_0 run_shell_command Shell `echo one` [] ok 20:45:13.292 619ms ""
      268_1 run_shell_command Shell `echo two` [] ok 20:45:13.292 619ms ""
    "#);
}

#[test]
fn h_readmiss() {
    let facts = recorded(
        AGENT,
        "h-readmiss.transcripts/session-2026-11-21T20-45-d9a3bad3.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    d9a3bad3-1f3c-4927-a895-db62b3cae207 - - -
    user: User 20:45:22.351 "[script:readmiss] read it"
    real: User 20:45:22.351 "[script:readmiss] read it"
    says: "done readmiss"
      470_0 read_file Read `-` ["/home/user/project/nonexistent.txt"] failed 20:45:22.913 434ms "File not found: /home/user/project/nonexistent.txt"
    "#);
}

#[test]
fn h_resume() {
    let facts = recorded(
        AGENT,
        "h-resume.transcripts/session-2026-11-21T20-51-3b438ae5.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    3b438ae5-a3e1-41b3-aff6-83475020fdb9 - - -
    user: User 20:51:34.259 "[script:text] again"
    real: User 20:51:34.259 "[script:text] again"
    says: "plain answer"
    "#);
}

#[test]
fn h_stop_deny_once() {
    let facts = recorded(
        AGENT,
        "h-stop-deny-once.transcripts/session-2026-11-21T21-19-9f41e258.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    9f41e258-c223-4af0-b557-bdd60743872f - - -
    user: User 21:19:26.784 "DEBRIEF: say what you did.\nSecond line."
    real: User 21:19:26.784 "DEBRIEF: say what you did.\nSecond line."
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
    "#);
}

#[test]
fn t_main() {
    let facts = recorded(AGENT, "t-main.transcripts/logs.json");
    insta::assert_snapshot!(show(facts.as_ref()), @"nothing");
}

#[test]
fn t_main_2() {
    let facts = recorded(
        AGENT,
        "t-main.transcripts/session-2026-11-21T21-05-d302e775.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    d302e775-1ca6-4e13-9966-57627dc9859b - - -
    user: User 21:05:25.907 "[script:text] after clear"
    real: User 21:05:25.907 "[script:text] after clear"
    says: "plain answer"
    "#);
}

#[test]
fn t_main_3() {
    let facts = recorded(
        AGENT,
        "t-main.transcripts/session-2026-11-21T21-05-f3735547.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    f3735547-4fee-4bed-8a4a-5c8d4f25e94a - - -
    user: Host 21:05:14.117 "Stop hook feedback:\nDEBRIEF: say what you did.\nSecond line."
    real: User 21:05:12.507 "[script:bash] and again"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      897_0 run_shell_command Shell `echo hi` [] ok 21:05:12.903 412ms ""
    "#);
}

#[test]
fn t_permission() {
    let facts = recorded(AGENT, "t-permission.transcripts/logs.json");
    insta::assert_snapshot!(show(facts.as_ref()), @"nothing");
}

#[test]
fn t_permission_2() {
    let facts = recorded(
        AGENT,
        "t-permission.transcripts/session-2026-11-21T21-05-c7cb4ef3.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    c7cb4ef3-0b65-4aa6-a0dd-c84dab7fc049 - - -
    user: User 21:05:42.600 "[script:bashask] go"
    real: User 21:05:42.600 "[script:bashask] go"
    says: "done ask"
      180_0 run_shell_command Shell `touch asked.txt` [] ok 21:05:44.320 4198ms ""
    "#);
}
