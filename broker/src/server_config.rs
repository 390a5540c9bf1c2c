//! Configuration of the broker's servers. Each machine has an account of its own: within one account a client could have
//! the server write its answers into another machine's subject.

use std::fmt::Write as _;

/// A server of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name or address.
    pub name: String,
    /// The port for clients; that for the other servers is 2000 above.
    pub port: u16,
}

/// Between the port for clients and that for servers.
const CLUSTER_PORT: u16 = 2_000;

impl Host {
    /// Reads `HOST` or `HOST:PORT`.
    pub fn read(text: &str) -> Option<Self> {
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, port.parse().ok()?),
            None => (text, 4_222),
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let is_name = !name.is_empty() && name.bytes().all(plain);
        (is_name && port > 0 && port < u16::MAX - CLUSTER_PORT).then(|| Self {
            name: name.to_owned(),
            port,
        })
    }

    /// Returns its address for clients.
    pub fn url(&self) -> String {
        format!("tls://{}:{}", self.name, self.port)
    }
}

/// Returns the name in the certificate of a machine, or of the collector without a name. A new generation makes the
/// certificates before it useless.
pub fn user(machine: Option<&str>, generation: u32) -> String {
    match machine {
        Some(machine) => format!("{generation}.{machine}.machine.fleet"),
        None => format!("{generation}.collector.fleet"),
    }
}

/// Returns the configuration of one of the servers. It includes `accounts.conf`, and names the files beside it.
pub fn server(hosts: &[Host], own: usize) -> String {
    let host = &hosts[own];
    let tls = "cert_file: \"server.crt\", key_file: \"server.key\", ca_file: \"authority.crt\"";
    let mut text = format!(
        "# Written by `checkpointd fleet init-server`. Start in this folder: nats-server -c nats-server.conf\n\
         server_name: broker-{}\n\
         listen: 0.0.0.0:{}\n\
         max_payload: 512KB\n\
         # Without `always` a power cut of all servers loses acknowledged events.\n\
         jetstream {{ store_dir: \"store\", sync_interval: always }}\n\
         tls {{ {tls}, verify_and_map: true }}\n",
        own + 1,
        host.port
    );
    if hosts.len() > 1 {
        let others = hosts.iter().enumerate().filter(|(other, _)| *other != own);
        let routes: Vec<_> = others
            .map(|(_, other)| format!("tls://{}:{}", other.name, other.port + CLUSTER_PORT))
            .collect();
        let _ = writeln!(
            text,
            "cluster {{ name: fleet, listen: \"0.0.0.0:{}\", routes: [{}], tls {{ {tls}, verify: true }} }}",
            host.port + CLUSTER_PORT,
            routes.join(", ")
        );
    }
    text.push_str("include accounts.conf\n");
    text
}

/// Returns who may do what: the collector, and machines with the generations of their certificates.
pub fn accounts<'a>(collector: u32, machines: impl Iterator<Item = (&'a str, u32)>) -> String {
    let mut text = format!(
        "# Written by `checkpointd fleet`; `fleet enrol` and `fleet revoke` write it again.\n\
         accounts {{\n  HUB {{\n    jetstream: enabled\n    users: [ {{ user: \"{}\", permissions: {{\n        \
         publish: {{ allow: [\"$JS.API.>\", \"$JS.ACK.>\", \"head.v1.*.*\"] }}\n        \
         subscribe: {{ allow: [\"_INBOX.collector.>\"] }} }} }} ]\n    exports: [\n      \
         {{ service: \"ckpt.v1.*.*\" }}\n      \
         {{ service: \"$JS.API.DIRECT.GET.FLEET.ckpt.v1.>\" }}\n      \
         {{ service: \"$JS.API.DIRECT.GET.HEADS.head.v1.>\" }}\n    ]\n  }}\n",
        user(None, collector)
    );
    for (machine, generation) in machines {
        let subjects = [
            format!("ckpt.v1.{machine}.*"),
            format!("$JS.API.DIRECT.GET.FLEET.ckpt.v1.{machine}.*"),
            format!("$JS.API.DIRECT.GET.HEADS.head.v1.{machine}.*"),
        ];
        let allowed: Vec<_> = subjects
            .iter()
            .map(|subject| format!("\"{subject}\""))
            .collect();
        let imports: Vec<_> = subjects
            .iter()
            .map(|subject| format!("{{ service: {{ account: HUB, subject: \"{subject}\" }} }}"))
            .collect();
        let _ = write!(
            text,
            "  M_{machine} {{\n    users: [ {{ user: \"{}\", permissions: {{\n        \
             publish: {{ allow: [{}] }}\n        subscribe: {{ allow: [\"_INBOX.{machine}.>\"] }} }} }} ]\n    \
             imports: [\n      {}\n    ]\n  }}\n",
            user(Some(machine), generation),
            allowed.join(", "),
            imports.join("\n      ")
        );
    }
    text.push_str("  SYS { }\n}\nsystem_account: SYS\n");
    text
}
