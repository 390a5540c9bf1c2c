//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use super::{fixtures, recorded, show};

#[test]
fn every_recording_has_a_row() {
    let rows = include_str!("fixtures.rs");
    for agent in Agent::HOSTS {
        for folder in std::fs::read_dir(fixtures().join(agent.word())).expect("recordings") {
            let folder = folder.expect("a recording").path();
            if folder.is_dir() {
                for file in std::fs::read_dir(&folder).expect("transcripts") {
                    let name = file
                        .expect("a transcript")
                        .file_name()
                        .into_string()
                        .expect("a plain name");
                    assert!(rows.contains(&name), "{name} has no row");
                }
            }
        }
    }
}

#[test]
fn claude_h_normal() {
    let facts = recorded(
        Agent::Claude,
        "h-normal.transcripts/10e54898-3d7e-4d3d-bff0-5aa71c2b471a.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    10e54898-3d7e-4d3d-bff0-5aa71c2b471a 2.1.330 master /home/user/project
    user: User 21:18:56.368 "[script:basic] please do it"
    real: User 21:18:56.368 "[script:basic] please do it"
    says: "done"
      00001 Bash Shell `echo hi` [] ok 21:18:56.709 185ms ""
      00002 Write Write `-` ["/home/user/project/notes.txt"] ok 21:18:56.967 128ms ""
      00003 Edit Edit `-` ["/home/user/project/notes.txt"] ok 21:18:57.166 122ms ""
      00004 Bash Shell `ls /nonexistent` [] failed 21:18:57.399 125ms "Exit code 2\nls: cannot access '/nonexistent': No such file or directory"
    "#);
}

#[test]
fn claude_h_parallel() {
    let facts = recorded(
        Agent::Claude,
        "h-parallel.transcripts/9bc4ae55-5ece-4f4f-8537-afa2c1912717.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    9bc4ae55-5ece-4f4f-8537-afa2c1912717 2.1.330 master /home/user/project
    user: User 20:37:56.102 "[script:parallel] please do it"
    real: User 20:37:56.102 "[script:parallel] please do it"
    says: "done parallel"
      00001 Bash Shell `echo one` [] ok 20:37:57.101 667ms ""
      00002 Bash Shell `echo two` [] ok 20:37:57.196 629ms ""
    "#);
}

#[test]
fn claude_h_pretool_deny() {
    let facts = recorded(
        Agent::Claude,
        "h-pretool-deny.transcripts/d3824a7a-c87a-4954-8018-f1fde230abca.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    d3824a7a-c87a-4954-8018-f1fde230abca 2.1.330 master /home/user/project
    user: User 20:40:18.694 "[script:bash] run it"
    real: User 20:40:18.694 "[script:bash] run it"
    says: "done"
      00001 Bash Shell `echo hi` [] refused 20:40:19.053 386ms ""
    "#);
}

#[test]
fn claude_h_resume() {
    let facts = recorded(
        Agent::Claude,
        "h-resume.transcripts/8096b923-0dd5-4dca-8ea0-d2c12802e6ce.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    8096b923-0dd5-4dca-8ea0-d2c12802e6ce 2.1.330 master /home/user/project
    user: User 20:40:40.516 "[script:text] again"
    real: User 20:40:40.516 "[script:text] again"
    says: "plain answer"
    "#);
}

#[test]
fn claude_h_stop_block_once() {
    let facts = recorded(
        Agent::Claude,
        "h-stop-block-once.transcripts/57147911-fcc3-4e34-bbcf-8a9dd1e37986.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    57147911-fcc3-4e34-bbcf-8a9dd1e37986 2.1.330 master /home/user/project
    user: Host 21:19:05.363 "Stop hook feedback:\nDEBRIEF: say what you did.\nSecond line."
    real: User 21:19:03.047 "[script:basic] please do it"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00001 Bash Shell `echo hi` [] ok 21:19:03.616 283ms ""
      00002 Write Write `-` ["/home/user/project/notes.txt"] ok 21:19:04.051 282ms ""
      00003 Edit Edit `-` ["/home/user/project/notes.txt"] ok 21:19:04.550 251ms ""
      00004 Bash Shell `ls /nonexistent` [] failed 21:19:04.951 190ms "Exit code 2\nls: cannot access '/nonexistent': No such file or directory"
    "#);
}

#[test]
fn claude_h_stop_context() {
    let facts = recorded(
        Agent::Claude,
        "h-stop-context.transcripts/f6e72abb-0640-4310-a04a-ba1004e8d5dc.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    f6e72abb-0640-4310-a04a-ba1004e8d5dc 2.1.330 master /home/user/project
    user: User 20:39:27.784 "[script:bash] run it"
    real: User 20:39:27.784 "[script:bash] run it"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00001 Bash Shell `echo hi` [] ok 20:39:28.162 775ms ""
    "#);
}

#[test]
fn claude_h_subagent() {
    let facts = recorded(
        Agent::Claude,
        "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    dd9608db-931d-43c1-9f90-91186a698196 2.1.330 master /home/user/project
    user: Host 20:38:05.582 "<task-notification>\n<task-id>a63f9e008307a1f5c</task-id>\n<tool-use-id>toolu_mock_00001</tool-use-id>\n<output-file>/tmp/claude-1000/-home-user-project/dd9608db-931d-43c1-9f90-91186a698196/tasks/a63f9e008307a1f5c.output</output-file>\n<status>completed</status>\n<summary>Agent \"sub\" finished</summary>\n<note>A task-notification fires each time this agent stops with no live background children of its own. The user can send it another message and resume it, so the same task-id may notify more than once.</note>\n<result>sub done</result>\n<usage><subagent_tokens>132</subagent_tokens><tool_uses>1</tool_uses><duration_ms>1302</duration_ms></usage>\n</task-notification>"
    real: User 20:38:03.566 "[script:task] use a subagent"
    says: "heard: ><duration_ms>1302</duration_ms></usage> </task-notification> </system-reminder>"
      00001 Agent Other `-` [] ok 20:38:03.976 603ms ""
    "#);
}

#[test]
fn claude_h_subagent_2() {
    let facts = recorded(
        Agent::Claude,
        "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196__subagents__agent-a63f9e008307a1f5c.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    dd9608db-931d-43c1-9f90-91186a698196 2.1.330 master /home/user/project
    user: -
    real: -
    says: "-"
    "#);
}

#[test]
fn claude_h_subagent_3() {
    let facts = recorded(
        Agent::Claude,
        "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196__subagents__agent-a63f9e008307a1f5c.meta.json",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @"nothing");
}

#[test]
fn claude_t_main() {
    let facts = recorded(
        Agent::Claude,
        "t-main.transcripts/-home-user-project__594047f2-410f-4665-9a22-0fa2db8f4649.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    594047f2-410f-4665-9a22-0fa2db8f4649 2.1.330 master /home/user/project
    user: Host 20:57:45.508 "Stop hook feedback:\nDEBRIEF: say what you did.\nSecond line."
    real: User 20:57:44.814 "[script:bash] and again"
    says: "debrief: I echoed hi, wrote notes.txt and a listing failed."
      00005 Bash Shell `echo hi` [] ok 20:57:44.989 241ms ""
    "#);
}

#[test]
fn claude_t_main_2() {
    let facts = recorded(
        Agent::Claude,
        "t-main.transcripts/-home-user-project__70643654-ace1-4da1-88e7-94f779e2962d.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    70643654-ace1-4da1-88e7-94f779e2962d 2.1.330 master /home/user/project
    user: User 20:57:59.052 "[script:text] after clear"
    real: User 20:57:59.052 "[script:text] after clear"
    says: "plain answer"
    "#);
}

#[test]
fn claude_t_permission() {
    let facts = recorded(
        Agent::Claude,
        "t-permission.transcripts/-home-user-project__20ceb071-ce96-4108-928c-e9f6facf6916.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    20ceb071-ce96-4108-928c-e9f6facf6916 2.1.330 master /home/user/project
    user: User 20:58:04.453 "[script:bashask] go"
    real: User 20:58:04.453 "[script:bashask] go"
    says: "done ask"
      00001 Bash Shell `touch asked.txt` [] ok 20:58:04.838 9572ms ""
    "#);
}

#[test]
fn codex_h_badpatch() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_h_normal() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_h_parallel() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_h_resume() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_h_stop_block_once() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_t_main() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_t_main_2() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_t_main_3() {
    let facts = recorded(
        Agent::Codex,
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
fn codex_t_permission() {
    let facts = recorded(
        Agent::Codex,
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

#[test]
fn gemini_h_normal() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_h_parallel() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_h_readmiss() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_h_resume() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_h_stop_deny_once() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_t_main() {
    let facts = recorded(Agent::Gemini, "t-main.transcripts/logs.json");
    insta::assert_snapshot!(show(facts.as_ref()), @"nothing");
}

#[test]
fn gemini_t_main_2() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_t_main_3() {
    let facts = recorded(
        Agent::Gemini,
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
fn gemini_t_permission() {
    let facts = recorded(Agent::Gemini, "t-permission.transcripts/logs.json");
    insta::assert_snapshot!(show(facts.as_ref()), @"nothing");
}

#[test]
fn gemini_t_permission_2() {
    let facts = recorded(
        Agent::Gemini,
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
