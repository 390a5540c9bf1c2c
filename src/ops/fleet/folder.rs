//! The operator's folder: the fleet's authority, its servers' configuration, and which machines take part.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use broker::Authority;
use broker::server_config::{self, Host};
use serde::{Deserialize, Serialize};

/// The authority of clients and of what servers show to them.
const CLIENTS: &str = "authority";
/// The authority of what servers show to each other. No client has a certificate of it, so none can act as a server.
const ROUTES: &str = "routes";
/// Version of the folder, and of a file for a machine.
const FORMAT: u32 = 1;

/// What the file `fleet.json` has.
#[derive(Serialize, Deserialize)]
struct Listed {
    format: u32,
    servers: Vec<String>,
    collector: u32,
    /// Machines, each with the generation of its certificate.
    machines: BTreeMap<String, u32>,
    /// The generations of removed machines, so that none is used again.
    #[serde(default)]
    revoked: BTreeMap<String, u32>,
}

/// What a machine needs to take part. It has the machine's key, so it is as secret as a password.
#[derive(Serialize, Deserialize)]
pub(crate) struct Ticket {
    format: u32,
    pub(crate) url: String,
    pub(crate) machine: String,
    /// The last day on which it holds.
    pub(crate) until: String,
    /// Key, certificate, and the authority's certificate.
    pub(crate) pem: String,
}

impl Ticket {
    /// Reads the file that `fleet enrol` wrote.
    ///
    /// # Errors
    ///
    /// A sentence on what is wrong with it.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let ticket: Self = serde_json::from_str(text)
            .map_err(|error| format!("it is not from `fleet enrol`: {error}"))?;
        if ticket.format > FORMAT {
            return Err("it has a newer format: upgrade checkpointd first".into());
        }
        if !super::is_machine(&ticket.machine) {
            return Err("its machine's name is invalid".into());
        }
        let credentials = broker::Credentials::read(&ticket.pem)?;
        broker::check(&credentials).map_err(|problem| problem.to_string())?;
        Ok(ticket)
    }
}

pub(crate) struct Folder {
    path: PathBuf,
    listed: Listed,
}

fn failed(doing: &str, path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("cannot {doing} {}: {error}", path.display())
}

fn absolute(path: &Path) -> Result<PathBuf, String> {
    std::path::absolute(path).map_err(|error| failed("find", path, &error))
}

/// Writes a file that only its owner can read, in one step.
pub(crate) fn write_private(path: &Path, text: &str) -> Result<(), String> {
    let new = path.with_extension("new");
    let write = || -> std::io::Result<()> {
        let mut file = File::options()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&new)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| failed("write", path, &error))
}

impl Folder {
    /// Makes one for these servers, `HOST` or `HOST:PORT`.
    ///
    /// # Errors
    ///
    /// If a server is invalid, or is in the list already.
    pub(crate) fn init(path: &Path, servers: &[String]) -> Result<Self, String> {
        if let Some(wrong) = servers.iter().find(|server| Host::read(server).is_none()) {
            return Err(format!("`{wrong}` is no server: write HOST or HOST:PORT"));
        }
        let path = &absolute(path)?;
        if path.join("fleet.json").exists() {
            return Err(format!("{} already has a fleet", path.display()));
        }
        journal::home::create_folder(path).map_err(|error| failed("make", path, &error))?;
        for name in [CLIENTS, ROUTES] {
            let authority = broker::new_authority().map_err(|problem| problem.to_string())?;
            write_private(&path.join(format!("{name}.crt")), &authority.certificate)?;
            write_private(&path.join(format!("{name}.key")), &authority.key)?;
        }
        let folder = Self {
            path: path.to_owned(),
            listed: Listed {
                format: FORMAT,
                servers: servers.to_vec(),
                collector: 1,
                machines: BTreeMap::new(),
                revoked: BTreeMap::new(),
            },
        };
        folder.renew_servers()?;
        folder.renew_collector()?;
        folder.write()?;
        Ok(folder)
    }

    /// Opens one.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be read.
    pub(crate) fn open(path: &Path) -> Result<Self, String> {
        let path = &absolute(path)?;
        let file = path.join("fleet.json");
        let text = fs::read_to_string(&file).map_err(|error| failed("read", &file, &error))?;
        let listed: Listed =
            serde_json::from_str(&text).map_err(|error| failed("read", &file, &error))?;
        if listed.format > FORMAT {
            return Err(format!(
                "{} has a newer format: upgrade checkpointd first",
                file.display()
            ));
        }
        Ok(Self {
            path: path.to_owned(),
            listed,
        })
    }

    fn hosts(&self) -> Vec<Host> {
        self.listed
            .servers
            .iter()
            .filter_map(|server| Host::read(server))
            .collect()
    }

    pub(crate) fn url(&self) -> String {
        self.hosts()
            .iter()
            .map(Host::url)
            .collect::<Vec<_>>()
            .join(",")
    }

    pub(crate) fn server_folders(&self) -> Vec<PathBuf> {
        (1..=self.listed.servers.len())
            .map(|number| self.path.join(format!("server-{number}")))
            .collect()
    }

    pub(crate) fn collector_folder(&self) -> PathBuf {
        self.path.join("collector")
    }

    pub(crate) fn machines(&self) -> impl Iterator<Item = &str> {
        self.listed.machines.keys().map(String::as_str)
    }

    fn authority(&self, name: &str) -> Result<Authority, String> {
        let read = |ending| {
            let path = self.path.join(format!("{name}.{ending}"));
            fs::read_to_string(&path).map_err(|error| failed("read", &path, &error))
        };
        Ok(Authority {
            certificate: read("crt")?,
            key: read("key")?,
        })
    }

    /// Writes each server's configuration, with a new certificate.
    fn renew_servers(&self) -> Result<(), String> {
        let kinds = [(CLIENTS, "server"), (ROUTES, "route")];
        let hosts = self.hosts();
        for (own, (host, folder)) in hosts.iter().zip(self.server_folders()).enumerate() {
            journal::home::create_folder(&folder)
                .map_err(|error| failed("make", &folder, &error))?;
            for (name, issued_as) in kinds {
                let authority = self.authority(name)?;
                let issued = broker::issue(&authority, std::slice::from_ref(&host.name))
                    .map_err(|problem| problem.to_string())?;
                let write = |name: String, text| write_private(&folder.join(name), text);
                write(format!("{issued_as}.crt"), &issued.certificate)?;
                write(format!("{issued_as}.key"), &issued.key)?;
                write(format!("{name}.crt"), &authority.certificate)?;
            }
            let write = |name, text: &str| write_private(&folder.join(name), text);
            write("nats-server.conf", &server_config::server(&hosts, own))?;
            write("checkpointd-broker.service", server_config::BROKER_UNIT)?;
        }
        Ok(())
    }

    /// Makes new certificates for the servers and the collector. The collector's one before is of no use then.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(crate) fn renew(&mut self) -> Result<(), String> {
        self.listed.collector += 1;
        self.renew_servers()?;
        self.renew_collector()?;
        self.write()
    }

    /// Writes the collector's folder.
    fn renew_collector(&self) -> Result<(), String> {
        let folder = self.collector_folder();
        journal::home::create_folder(&folder).map_err(|error| failed("make", &folder, &error))?;
        let (pem, _) = self.pem(server_config::user(None, self.listed.collector))?;
        write_private(&folder.join("fleet.pem"), &pem)?;
        let unit = folder.join("checkpointd-collector.service");
        write_private(&unit, server_config::COLLECTOR_UNIT)?;
        let config = format!(
            "# A collector. It shows the broker the file fleet.pem beside this one.\nfleet:\n  url: {}\n",
            self.url()
        );
        write_private(&folder.join("config.yml"), &config)
    }

    fn pem(&self, user: String) -> Result<(String, String), String> {
        let authority = self.authority(CLIENTS)?;
        let issued = broker::issue(&authority, &[user]).map_err(|problem| problem.to_string())?;
        let said = format!("# valid until {}\n", issued.until);
        let pem = [said, issued.key, issued.certificate, authority.certificate].concat();
        Ok((pem, issued.until))
    }

    /// Adds a machine, or gives a known machine a new certificate. The old one is then invalid.
    ///
    /// # Errors
    ///
    /// If the name is not right, or a file cannot be written.
    pub(crate) fn enrol(&mut self, machine: &str) -> Result<Ticket, String> {
        let before = self.listed.machines.get(machine).copied();
        let before = before
            .or_else(|| self.listed.revoked.remove(machine))
            .unwrap_or(0);
        let generation = before + 1;
        let (pem, until) = self.pem(server_config::user(Some(machine), generation))?;
        self.listed.machines.insert(machine.to_owned(), generation);
        self.write()?;
        Ok(Ticket {
            format: FORMAT,
            url: self.url(),
            machine: machine.to_owned(),
            until,
            pem,
        })
    }

    /// Takes a machine out. Returns whether it took part.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub(crate) fn revoke(&mut self, machine: &str) -> Result<bool, String> {
        let Some(generation) = self.listed.machines.remove(machine) else {
            return Ok(false);
        };
        self.listed.revoked.insert(machine.to_owned(), generation);
        self.write()?;
        Ok(true)
    }

    /// Writes who takes part, for the servers too.
    fn write(&self) -> Result<(), String> {
        let machines = self.listed.machines.iter();
        let machines = machines.map(|(machine, generation)| (machine.as_str(), *generation));
        let accounts = server_config::accounts(self.listed.collector, machines);
        for folder in self.server_folders() {
            write_private(&folder.join("accounts.conf"), &accounts)?;
        }
        let text = serde_json::to_string_pretty(&self.listed).expect("plain data");
        write_private(&self.path.join("fleet.json"), &format!("{text}\n"))
    }
}

/// Returns a path as YAML reads it, whatever is in it: JSON is YAML.
pub(crate) fn quoted(path: &Path) -> String {
    serde_json::Value::from(path.to_string_lossy()).to_string()
}
