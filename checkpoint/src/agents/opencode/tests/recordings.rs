//! Every recorded transcript, read whole: one row each, checked against the recording by hand.

use journal::Agent;

use crate::transcript::tests::{recorded, show};

const AGENT: Agent = Agent::OpenCode;

#[test]
fn t_idle_prompt() {
    let facts = recorded(
        AGENT,
        "t-idle-prompt.transcripts/ses_dfb653c47ffeu4odleO73tEWl7.jsonl",
    );
    insta::assert_snapshot!(show(facts.as_ref()), @r#"
    ses_dfb653c47ffeu4odleO73tEWl7 1.18.33 - /home/user/project
    user: User 18:53:16.100 "[script:quick] from the daemon"
    real: User 18:53:16.100 "[script:quick] from the daemon"
    says: "quick-done"
    "#);
}
