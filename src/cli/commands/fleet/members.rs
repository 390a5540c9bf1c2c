//! Who takes part in a fleet: the operator's folder, and joining on a machine.

use std::fs;
use std::path::Path;

use journal::Home;

use super::arguments::{Operator, machine};
use crate::config;
use crate::error::{Failure, Result, exit};
use crate::ops::fleet::{Folder, Level, Ticket, quoted, write_private};
use crate::render;

/// How an operator has a server read its accounts again.
const RELOAD: &str = "`systemctl reload checkpointd-broker`, or `kill -HUP` twice, a second apart";

/// Makes the fleet's authorities, and the configuration of its servers and of the collector.
pub(super) fn init_server(operator: &Operator, servers: &[String]) -> Result<u8> {
    if servers.len() == 2 {
        return Err(Failure::usage(
            "two servers are less safe than one: name one or three",
        ));
    }
    let folder = Folder::init(&operator.dir, servers).map_err(Failure::failed)?;
    for (server, own) in servers.iter().zip(folder.server_folders()) {
        println!(
            "{}: copy it to {server} as /etc/checkpointd-fleet, and start checkpointd-broker.service in it, or `nats-server -c nats-server.conf`",
            render::path(&own)
        );
    }
    let collector = render::path(&folder.collector_folder());
    println!(
        "{collector}: copy it to the collector's host as ~/collector, and start checkpointd-collector.service in it, or `CHECKPOINTD_HOME=~/collector checkpointd fleet collect`"
    );
    println!(
        "Next: `checkpointd fleet enrol NAME` for each machine. Keep authority.key and routes.key secret: with them, one can impersonate any machine or server."
    );
    Ok(exit::OK)
}

/// Takes a machine in, or renews its certificate.
pub(super) fn enrol(operator: &Operator, name: &str) -> Result<u8> {
    let mut folder = Folder::open(&operator.dir).map_err(Failure::failed)?;
    let ticket = folder.enrol(name).map_err(Failure::failed)?;
    let file = operator.dir.join(format!("{name}.join"));
    let text = serde_json::to_string_pretty(&ticket).expect("plain data");
    write_private(&file, &format!("{text}\n")).map_err(Failure::failed)?;
    println!(
        "{}: as secret as a password, valid until {}; on the machine: `checkpointd fleet join {name}.join`",
        render::path(&file),
        ticket.until
    );
    say_reload(&folder);
    Ok(exit::OK)
}

/// Takes a machine out.
pub(super) fn revoke(operator: &Operator, name: &str) -> Result<u8> {
    let mut folder = Folder::open(&operator.dir).map_err(Failure::failed)?;
    if !folder.revoke(name).map_err(Failure::failed)? {
        let known: Vec<_> = folder.machines().collect();
        return Err(Failure::failed(format!(
            "{name} is not in the fleet; its machines: {}",
            known.join(", ")
        )));
    }
    println!(
        "{name} is revoked once the servers are reloaded; its events are kept (`checkpointd fleet forget {name}` removes them)"
    );
    say_reload(&folder);
    Ok(exit::OK)
}

/// Renews the certificates of the servers and the collector.
pub(super) fn renew(operator: &Operator) -> Result<u8> {
    let mut folder = Folder::open(&operator.dir).map_err(Failure::failed)?;
    folder.renew().map_err(Failure::failed)?;
    for own in folder.server_folders() {
        println!("{}: copy it to its server", render::path(&own));
    }
    let collector = render::path(&folder.collector_folder().join("fleet.pem"));
    println!("{collector}: copy it to the collector");
    println!("Then reload each server ({RELOAD}), and restart the collector");
    Ok(exit::OK)
}

fn say_reload(folder: &Folder) {
    let folders = folder.server_folders();
    let names: Vec<_> = folders
        .iter()
        .map(|own| render::path(&own.join("accounts.conf")))
        .collect();
    println!(
        "Copy {} to the servers, and reload each ({RELOAD})",
        names.join(", ")
    );
}

/// Has this machine take part.
pub(super) fn join(home: &Home, file: &Path, level: Level) -> Result<u8> {
    let text = fs::read_to_string(file)
        .map_err(|error| Failure::failed(format!("cannot read {}: {error}", render::path(file))))?;
    let ticket = Ticket::read(&text)
        .map_err(|error| Failure::failed(format!("{}: {error}", render::path(file))))?;
    machine(&ticket.machine).map_err(Failure::failed)?;
    let data = home.journal.parent().unwrap_or(Path::new("/"));
    let pem = data.join("fleet.pem");
    let settings = format!(
        "fleet:\n  url: {}\n  machine: {}\n  credentials: {}\n  level: {}\n",
        ticket.url,
        ticket.machine,
        quoted(&pem),
        level.word()
    );
    let written = match fs::read_to_string(&home.config) {
        Ok(written) => written,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error.into()),
    };
    let has_fleet = written.lines().any(|line| line.starts_with("fleet:"));
    if has_fleet && !written.contains(&settings) {
        return Err(Failure::failed(format!(
            "{} already has a fleet",
            render::path(&home.config)
        ))
        .hint(format!("replace it with this, and join again:\n{settings}")));
    }
    journal::home::create_folder(data)?;
    if !has_fleet {
        let gap = if written.is_empty() || written.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        let whole = format!("{written}{gap}{settings}");
        config::check(&home.config, &whole)?;
        write_private(&pem, &ticket.pem).map_err(Failure::failed)?;
        journal::home::create_folder(home.config.parent().unwrap_or(Path::new("/")))?;
        write_private(&home.config, &whole).map_err(Failure::failed)?;
    } else {
        write_private(&pem, &ticket.pem).map_err(Failure::failed)?;
    }
    println!(
        "This machine is {} in the fleet, and sends at level {}.",
        ticket.machine,
        level.word()
    );
    println!(
        "Remove {}. `checkpointd status` shows what is sent, `checkpointd fleet preview` what it says.",
        render::path(file)
    );
    Ok(exit::OK)
}
