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

/// A unit of systemd for a server whose folder is `/etc/checkpointd-fleet`. A reload is said twice: servers of version
/// 2.15 connect the account of a new machine only at the second time.
pub const BROKER_UNIT: &str = "[Unit]
Description=Broker of a checkpointd fleet
After=network-online.target
Wants=network-online.target

[Service]
WorkingDirectory=/etc/checkpointd-fleet
ExecStart=nats-server -c nats-server.conf
ExecReload=/bin/sh -c 'kill -HUP $MAINPID && sleep 1 && kill -HUP $MAINPID'
Restart=always

[Install]
WantedBy=multi-user.target
";

/// A user's unit of systemd for a collector whose folder is `~/collector`.
pub const COLLECTOR_UNIT: &str = "[Unit]
Description=Collector of a checkpointd fleet

[Service]
Environment=CHECKPOINTD_HOME=%h/collector
Environment=PATH=%h/.local/bin:%h/.cargo/bin:/usr/local/bin:/usr/bin:/bin
ExecStart=/usr/bin/env checkpointd fleet collect
Restart=always

[Install]
WantedBy=default.target
";

/// A server that fell silent, as without power, is dropped by the others after three of these, 9 s, instead of after 90 s.
/// Until then they pass requests on to it, and these are lost.
pub const ROUTE_PINGS: &str = "ping_interval: \"3s\"";

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
    let tls = |own, authority| {
        format!("cert_file: \"{own}.crt\", key_file: \"{own}.key\", ca_file: \"{authority}.crt\"")
    };
    let mut text = format!(
        "# Written by `checkpointd fleet init-server`. Start in this folder: nats-server -c nats-server.conf\n\
         server_name: broker-{}\n\
         listen: 0.0.0.0:{}\n\
         pid_file: \"nats-server.pid\"\n\
         max_payload: 512KB\n\
         # Without `always` a power cut of all servers loses acknowledged events.\n\
         jetstream {{ store_dir: \"store\", sync_interval: always }}\n\
         tls {{ {}, verify_and_map: true }}\n",
        own + 1,
        host.port,
        tls("server", "authority")
    );
    if hosts.len() > 1 {
        let others = hosts.iter().enumerate().filter(|(other, _)| *other != own);
        let routes: Vec<_> = others
            .map(|(_, other)| format!("tls://{}:{}", other.name, other.port + CLUSTER_PORT))
            .collect();
        let _ = writeln!(
            text,
            "# Only the other servers need this port. Its certificates have an authority of their own.\n\
             cluster {{ name: fleet, {ROUTE_PINGS}, listen: \"0.0.0.0:{}\", routes: [{}], tls {{ {}, verify: true }} }}",
            host.port + CLUSTER_PORT,
            routes.join(", "),
            tls("route", "routes")
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
         publish: {{ allow: [\"$JS.API.>\", \"head.v1.*.*\"] }}\n        \
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
