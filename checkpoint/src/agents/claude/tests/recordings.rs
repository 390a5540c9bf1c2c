//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::Claude;

#[test]
fn h_normal() {
    let facts = recorded(
        AGENT,
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
fn h_parallel() {
    let facts = recorded(
        AGENT,
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
fn h_pretool_deny() {
    let facts = recorded(
        AGENT,
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
fn h_resume() {
    let facts = recorded(
        AGENT,
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
fn h_stop_block_once() {
    let facts = recorded(
        AGENT,
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
fn h_stop_context() {
    let facts = recorded(
        AGENT,
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
fn h_subagent() {
    let facts = recorded(
        AGENT,
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
fn h_subagent_2() {
    let facts = recorded(
        AGENT,
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
fn h_subagent_3() {
    let facts = recorded(
        AGENT,
        "h-subagent.transcripts/dd9608db-931d-43c1-9f90-91186a698196__subagents__agent-a63f9e008307a1f5c.meta.json",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @"nothing");
}

#[test]
fn t_main() {
    let facts = recorded(
        AGENT,
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
fn t_main_2() {
    let facts = recorded(
        AGENT,
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
fn t_permission() {
    let facts = recorded(
        AGENT,
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
