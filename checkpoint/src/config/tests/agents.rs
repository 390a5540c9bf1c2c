//! Agents that a configuration describes.

use journal::Agent;

use super::*;

fn load(text: &str) -> Result<Config, ConfigError> {
    Config::load(Some(("config.yml", text)))
}

#[test]
fn a_described_agent_needs_a_name_and_a_settings_file() {
    let config = load("agents: [{name: buddy, settings: ~/.buddy/settings.json}]\n").unwrap();
    let agents = &config.settings.agents;
    let agent = agents.named("buddy").expect("described");
    assert_eq!((agent.word(), agents.named("other")), ("buddy", None));
    let described = agents.of(agent).expect("described");
    assert!(described.events.iter().any(|event| event.0 == "Stop"));
    assert!(agents.of(Agent::HOSTS[0]).is_none());
    assert!(agents.words().ends_with(", buddy"));
    let shown = config.show();
    let row = shown.iter().find(|row| row.key == "agents").expect("a row");
    assert_eq!(
        (row.value.as_str(), row.source.as_str()),
        ("[buddy]", "config.yml")
    );
}

#[test]
fn a_wrong_description_is_refused_with_its_place() {
    let wrong = [
        "agents: [{name: claude, settings: ~/a}]\n",
        "agents: [{name: daemon, settings: ~/a}]\n",
        "agents: [{name: Buddy, settings: ~/a}]\n",
        "agents:\n  - {name: buddy, settings: ~/a}\n  - {name: buddy, settings: ~/b}\n",
        "agents: [{name: buddy, settings: ~/a, tools: {shel: [run]}}]\n",
        "agents: [{name: buddy, settings: ~/a, fields: {working_dir: cwd}}]\n",
        "agents: [{name: buddy, settings: ~/a, events: [Stop; rm]}]\n",
        "agents: [{name: buddy, settings: ~/a, format: toml}]\n",
        "agents: [{name: buddy}]\n",
        "agents: [{name: buddy, settings: a}]\n",
        "agents: [{name: buddy, settings: ~/a, project: ../b}]\n",
    ];
    let said = wrong.map(|text| load(text).unwrap_err().to_string());
    insta::assert_snapshot!(said.join("\n\n"), @r#"
    config.yml:1:17: `claude` is an agent that checkpointd knows already
      |
    1 | agents: [{name: claude, settings: ~/a}]
      |                 ^

    config.yml:1:17: `daemon` cannot be an agent's name: checkpointd uses it for something else
      |
    1 | agents: [{name: daemon, settings: ~/a}]
      |                 ^

    config.yml:1:17: `Buddy` is not an agent's name: it has at most 24 lower-case letters, digits, and `-`, and begins with a letter
      |
    1 | agents: [{name: Buddy, settings: ~/a}]
      |                 ^

    config.yml:3:12: `buddy` is described twice
      |
    3 |   - {name: buddy, settings: ~/b}
      |            ^

    config.yml:1:47: `shel` is not one of shell, read, edit, write
      |
    1 | agents: [{name: buddy, settings: ~/a, tools: {shel: [run]}}]
      |                                               ^
    hint: did you mean `shell`?

    config.yml:1:48: `working_dir` is not one of session_id, prompt_id, cwd, transcript_path, prompt, tool_name, tool_input, tool_response, tool_use_id, last_assistant_message
      |
    1 | agents: [{name: buddy, settings: ~/a, fields: {working_dir: cwd}}]
      |                                                ^

    config.yml:1:48: `Stop; rm` is not the name of a hook: use at most 64 letters, digits, and `_`
      |
    1 | agents: [{name: buddy, settings: ~/a, events: [Stop; rm]}]
      |                                                ^

    config.yml:1:47: `toml` is not one of groups, flat
      |
    1 | agents: [{name: buddy, settings: ~/a, format: toml}]
      |                                               ^

    config.yml:1:11: missing key `settings`
      |
    1 | agents: [{name: buddy}]
      |           ^

    config.yml:1:34: `a` must begin with `/` or `~/`: the daemon has no working folder
      |
    1 | agents: [{name: buddy, settings: a}]
      |                                  ^

    config.yml:1:48: `../b` must name a folder within the project, without `..`
      |
    1 | agents: [{name: buddy, settings: ~/a, project: ../b}]
      |                                                ^
    "#);
}
