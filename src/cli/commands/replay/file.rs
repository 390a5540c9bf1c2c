//! `replay --file`: recorded hook calls, played through fold and decide in memory.

use std::collections::HashMap;
use std::path::Path;

use actors::hook_headers::HookHeaders;
use checkpoint::Policy;
use checkpoint::config::DescribedAgents;
use checkpoint::replay::{Played, Player};
use journal::{Envelope, Event, Home, Outcome, Stream, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::cli::shared::Output;
use crate::cli::text::{decisions, print_json, short};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::views::{DecisionRow, StateView};
use crate::ops::wire::HookLine;
use crate::render::{self, Column, Table};

/// Lines of a file that could not be played, and why.
type Problems = Vec<(usize, String)>;

/// Plays hook calls from a file, in memory. Returns the player, the resulting events, of which the last are the deliveries
/// that nothing confirmed, and the errors of single lines.
fn play_file<'a>(
    file: &Path,
    policy: &'a Policy,
    agents: &'a DescribedAgents,
) -> Result<(Player<'a>, Vec<Envelope>, Problems)> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", file.display())))?;
    let mut player = Player::new(policy, agents);
    let (mut events, mut problems) = (Vec::new(), Vec::new());
    let mut last_at = Timestamp::default();
    for (number, text) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        match play_line(&mut player, agents, text, number, &mut last_at) {
            Ok(played) => events.extend(played.into_iter().flat_map(|played| played.events)),
            Err(error) => problems.push((number + 1, error)),
        }
    }
    events.extend(player.finish());
    Ok((player, events, problems))
}

/// Returns whether a session, known by two ids, is selected.
fn is_wanted(wanted: Option<&str>, stream: &Stream) -> bool {
    let begins = |wanted: &str| {
        stream.session.to_string().starts_with(wanted) || stream.native().starts_with(wanted)
    };
    wanted.is_none_or(begins)
}

/// Plays hook calls from a file, in memory.
pub(super) fn play(home: &Home, file: &Path, session: Option<&str>, output: Output) -> Result<u8> {
    let config = config::load(home)?;
    let policy = actors::evidence::default_policy(&config);
    let (player, events, problems) = play_file(file, &policy, &config.settings.agents)?;
    let mut ends = HashMap::new();
    for envelope in &events {
        match &envelope.event {
            Event::DeliveryConfirmed { decision, .. } => {
                ends.insert(*decision, (Outcome::Confirmed, None));
            }
            Event::DeliveryExpired { decision, reason } => {
                ends.insert(*decision, (Outcome::Expired, Some(reason.clone())));
            }
            _ => {}
        }
    }
    let decisions: Vec<_> = events
        .iter()
        .filter(|envelope| is_wanted(session, &envelope.stream))
        .filter_map(|envelope| match &envelope.event {
            Event::Decided(decision) => {
                let (end, why) = ends.remove(&envelope.seq).unwrap_or((Outcome::None, None));
                Some(DecisionRow::new(envelope, decision, end, why))
            }
            _ => None,
        })
        .collect();
    let states = player.states();
    let states: Vec<_> = states
        .into_iter()
        .filter(|state| is_wanted(session, &state.stream))
        .map(StateView::new)
        .collect();
    let is_good = problems.is_empty();
    if output.json {
        let problem = |(line, error)| json!({ "line": line, "error": error });
        let problems: Vec<_> = problems.into_iter().map(problem).collect();
        print_json(&json!({ "sessions": states, "decisions": decisions, "problems": problems }));
        return Ok(exit::of(is_good));
    }
    for (line, problem) in &problems {
        eprintln!("line {line}: {}", render::printable(problem));
    }
    let time = |at: Option<Timestamp>| render::or_dash(at, render::time_of_day);
    let columns: [Column<'_, StateView>; 6] = [
        ("SESSION", &|state| short(state.session)),
        ("AGENT", &|state| state.agent.to_string()),
        ("TURNS", &|state| state.turn.to_string()),
        ("LAST MESSAGE", &|state| time(state.last_message_sent_at)),
        ("LAST CHECKPOINT", &|state| time(state.last_checkpoint_at)),
        ("LAST TOOL USE", &|state| time(state.last_tool_use_at)),
    ];
    Table::of(&states, &columns).print();
    println!();
    decisions::table(&decisions).print();
    Ok(exit::of(is_good))
}

fn play_line(
    player: &mut Player<'_>,
    agents: &DescribedAgents,
    text: &str,
    number: usize,
    last_at: &mut Timestamp,
) -> std::result::Result<Option<Played>, String> {
    let line = HookLine::read(text)?;
    // A line without a time happened when the one before it did.
    *last_at = line.at.unwrap_or(*last_at);
    let own_id = || Uuid::new_v5(&Uuid::NAMESPACE_OID, format!("line {number}").as_bytes());
    let headers = HookHeaders {
        at: *last_at,
        id: line.id.unwrap_or_else(own_id),
        ..line.headers(Timestamp::now())
    };
    let call = headers
        .with_payload(line.payload.get().as_bytes(), agents)
        .map_err(|error| error.to_string())?;
    player.play(&call)
}
