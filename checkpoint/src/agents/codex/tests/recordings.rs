//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::Codex;

#[test]
fn h_badpatch() {
    let facts = recorded(
        AGENT,
        "h-badpatch.transcripts/rollout-2026-11-21T20-43-30-01a1ffd9-8de8-7ca1-a09c-e96479799beb.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffd9-8de8-7ca1-a09c-e96479799beb 0.169.0 - /home/user/project
    user: User 20:43:30.425 "[script:badpatch] patch it"
    real: User 20:43:30.425 "[script:badpatch] patch it"
    says: "done badpatch"
      00001 apply_patch Edit `-` ["missing.txt"] failed 20:43:30.459 56ms "apply_patch verification failed: Failed to read file to update /home/user/project/missing.txt: No such file or directory (os error 2)"
    "#);
}

#[test]
fn h_normal() {
    let facts = recorded(
        AGENT,
        "h-normal.transcripts/rollout-2026-11-21T21-19-06-01a1fffa-28d2-7052-8d5e-d33d1a413d46.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1fffa-28d2-7052-8d5e-d33d1a413d46 0.169.0 - /home/user/project
    user: User 21:19:07.243 "[script:basic] please do it"
    real: User 21:19:07.243 "[script:basic] please do it"
    says: "done"
      00002 exec_command Shell `echo hi` [] ok 21:19:07.308 0ms ""
      00003 apply_patch Write `-` ["notes.txt"] ok 21:19:07.622 92ms ""
      00004 apply_patch Edit `-` ["notes.txt"] ok 21:19:07.838 61ms ""
      00005 exec_command Shell `ls /nonexistent` [] failed 21:19:07.983 0ms "ls: cannot access '/nonexistent': No such file or directory\n"
    "#);
}

#[test]
fn h_parallel() {
    let facts = recorded(
        AGENT,
        "h-parallel.transcripts/rollout-2026-11-21T20-43-28-01a1ffd9-8838-7600-b7fd-7d7d746807fb.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffd9-8838-7600-b7fd-7d7d746807fb 0.169.0 - /home/user/project
    user: User 20:43:28.926 "[script:parallel] please do it"
    real: User 20:43:28.926 "[script:parallel] please do it"
    says: "done parallel"
      00001 exec_command Shell `echo one` [] ok 20:43:28.967 0ms ""
      00002 exec_command Shell `echo two` [] ok 20:43:28.969 0ms ""
    "#);
}

#[test]
fn h_resume() {
    let facts = recorded(
        AGENT,
        "h-resume.transcripts/rollout-2026-11-21T20-44-57-01a1ffda-e47e-7d42-b420-bb2694547ded.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffda-e47e-7d42-b420-bb2694547ded 0.169.0 - /home/user/project
    user: User 20:44:59.745 "[script:text] again"
    real: User 20:44:59.745 "[script:text] again"
    says: "plain answer"
    "#);
}

#[test]
fn h_stop_block_once() {
    let facts = recorded(
        AGENT,
        "h-stop-block-once.transcripts/rollout-2026-11-21T21-19-08-01a1fffa-3089-71f2-8f43-2e0e710490f5.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1fffa-3089-71f2-8f43-2e0e710490f5 0.169.0 - /home/user/project
    user: Host 21:19:10.089 "<hook_prompt>DEBRIEF: say what you did.\nSecond line.</hook_prompt>"
    real: User 21:19:09.172 "[script:basic] please do it"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00002 exec_command Shell `echo hi` [] ok 21:19:09.275 0ms ""
      00003 apply_patch Write `-` ["notes.txt"] ok 21:19:09.520 51ms ""
      00004 apply_patch Edit `-` ["notes.txt"] ok 21:19:09.663 61ms ""
      00005 exec_command Shell `ls /nonexistent` [] failed 21:19:09.826 0ms "ls: cannot access '/nonexistent': No such file or directory\n"
    "#);
}

#[test]
fn t_main() {
    let facts = recorded(
        AGENT,
        "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-01-51-01a1ffea-5aaf-7123-83fd-8232af8fa840.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffea-5aaf-7123-83fd-8232af8fa840 0.169.0 - /home/user/project
    user: User 21:01:59.484 "[script:text] after compact"
    real: User 21:01:59.484 "[script:text] after compact"
    says: "plain answer"
    "#);
}

#[test]
fn t_main_2() {
    let facts = recorded(
        AGENT,
        "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-02-03-01a1ffea-88ff-7ef3-95bb-5cfdaa1ff365.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffea-88ff-7ef3-95bb-5cfdaa1ff365 0.169.0 - /home/user/project
    user: -
    real: -
    says: "-"
    "#);
}

#[test]
fn t_main_3() {
    let facts = recorded(
        AGENT,
        "t-main.transcripts/2026__11__21__rollout-2026-11-21T21-02-34-01a1ffeb-020a-7f23-8689-aec3d5826151.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffeb-020a-7f23-8689-aec3d5826151 0.169.0 - /home/user/project
    user: User 21:02:37.715 "[script:slow] to be interrupted"
    real: User 21:02:37.715 "[script:slow] to be interrupted"
    says: "-"
    "#);
}

#[test]
fn t_permission() {
    let facts = recorded(
        AGENT,
        "t-permission.transcripts/2026__11__21__rollout-2026-11-21T21-02-44-01a1ffeb-2bf3-7b90-92ea-d1751803555c.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    01a1ffeb-2bf3-7b90-92ea-d1751803555c 0.169.0 - /home/user/project
    user: User 21:02:46.033 "[script:bashask] go"
    real: User 21:02:46.033 "[script:bashask] go"
    says: "done ask"
      00001 exec_command Shell `touch /home/user/outside.txt` [] ok 21:02:46.085 0ms ""
    "#);
}
