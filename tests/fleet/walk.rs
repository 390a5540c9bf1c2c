//! The operator's path of docs/fleet.md, with the commands that stand there. Hosts are folders; `scp`, `ssh` and
//! `systemctl` stand-ins copy to them, run in them, and do what the units say. All else is real.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::daemon::EVERY_STOP;
use testkit::{program, put_script, run, wait_until};

use crate::machines::Machine;
use crate::servers::{free_ports, server};

const CHAPTER: &str = include_str!("../../docs/fleet.md");
/// Where each step is taken.
const HOSTS: [&str; 8] = [
    "operator", "operator", "operator", "operator", "operator", "laptop-7", "laptop-7", "hub",
];
const SERVERS: [&str; 3] = ["broker-1", "broker-2", "broker-3"];

const SCP: &str = r#"#!/bin/sh -e
[ "$1" != -r ] || shift
host=${2%%:*} path=${2#*:}
cp -rp "$1" "$HOSTS/${host#*@}/${path#/}"
"#;
const SSH: &str = r#"#!/bin/sh -e
host=${1#*@}; shift
HOME=$HOSTS/$host exec sh -ec "cd; $*"
"#;
const SYSTEMCTL: &str = r#"#!/bin/sh -e
[ "$1" != --user ] || shift
case "$1 $2" in
"enable --now") unit=$3; case $unit in /etc/*) unit=$HOME$unit ;; esac; cp "$unit" "$HOME" ;;
reload*) unit=$HOME/$2.service ;;
*) exit 1 ;;
esac
says() { sed -n "s/^$1=//p" "$unit" | sed "s|%h|$HOME|g; s|/etc/checkpointd-fleet|$HOME&|"; }
cd "$(says WorkingDirectory)"
for variable in $(says Environment); do export "$variable"; done
if [ "$1" = enable ]; then
    ( exec $(says ExecStart) ) </dev/null >"$HOME/log" 2>&1 & echo $! >"$HOME/pid"
else
    export MAINPID=$(cat "$HOME/pid"); eval "$(says ExecReload)"
fi
"#;

struct Hosts(TempDir);

impl Hosts {
    fn new() -> Self {
        let hosts = Self(tempfile::tempdir().expect("a folder"));
        let programs = hosts.at("bin");
        fs::create_dir(&programs).expect("a folder");
        for (name, text) in [("scp", SCP), ("ssh", SSH), ("systemctl", SYSTEMCTL)] {
            put_script(&programs.join(name), text);
        }
        put_script(&programs.join("loginctl"), "#!/bin/sh\n");
        symlink(server(), programs.join("nats-server")).expect("a link");
        for server in SERVERS {
            fs::create_dir_all(hosts.at(server).join("etc")).expect("a folder");
        }
        // The collector's unit has a path of its own.
        let own = hosts.at("hub/.local/bin");
        fs::create_dir_all(&own).expect("a folder");
        fs::create_dir(hosts.at("operator")).expect("a folder");
        for name in ["checkpointd", "checkpointd-fleet"] {
            for folder in [&programs, &own] {
                symlink(program(name), folder.join(name)).expect("a link");
            }
        }
        hosts
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs commands on a host. Returns what they printed.
    fn says(&self, host: &str, commands: &str) -> Result<String, String> {
        let home = self.at(host);
        let data = match host {
            "hub" => home.join("collector"),
            _ => home.clone(),
        };
        let path = std::env::var("PATH").expect("a PATH");
        let mut command = Command::new("sh");
        command
            .args(["-ec", commands])
            .env_clear()
            .env("PATH", format!("{}:{path}", self.at("bin").display()))
            .env("HOSTS", self.0.path())
            .env("HOME", &home)
            .env("CHECKPOINTD_HOME", data)
            .env("CHECKPOINTD_AUTOSTART", "0")
            .current_dir(&home);
        let out = run(&mut command, b"");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        if out.status.success() {
            Ok(said)
        } else {
            Err(said + &String::from_utf8_lossy(&out.stderr))
        }
    }

    fn does(&self, host: &str, commands: &str) {
        if let Err(error) = self.says(host, commands) {
            panic!("{host}: {commands}{error}");
        }
    }

    /// Makes a host of a machine's home.
    fn have(&self, machine: &Machine) {
        symlink(machine.daemon.home.path(), self.at(&machine.name)).expect("a link");
    }

    fn waits_for(&self, machine: &str, commands: &str) {
        let is_there = || {
            let said = self.says("hub", commands);
            said.is_ok_and(|said| said.contains(machine))
        };
        wait_until(is_there);
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for host in SERVERS.iter().chain(&["hub"]) {
            let log = fs::read_to_string(self.at(host).join("log")).unwrap_or_default();
            if std::thread::panicking() {
                let last: Vec<_> = log.lines().rev().take(10).collect();
                eprintln!("{host}: {last:#?}");
            }
            let pid = fs::read_to_string(self.at(host).join("pid")).unwrap_or_default();
            let pid = pid
                .trim()
                .parse()
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            if let Some(pid) = pid {
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
    }
}

/// Returns the commands of each step.
fn steps() -> Vec<String> {
    let (_, path) = CHAPTER.split_once("\n## With a broker").expect("the path");
    let (path, _) = path.split_once("\n### ").expect("its end");
    let blocks = path.split("\n```sh").skip(1);
    let texts = blocks.map(|block| {
        let (block, _) = block.split_once("\n```\n").expect("an end");
        let (_, text) = block.split_once('\n').expect("a text");
        format!("{text}\n")
    });
    texts.collect()
}

/// Returns a command that stands in the text.
fn named(begins: &str) -> &'static str {
    let mut spans = CHAPTER.split('`');
    let found = spans.find(|span| span.starts_with(begins));
    found.expect("the chapter names it")
}

/// A machine that has worked, and takes part in no fleet.
fn machine(name: &str) -> Machine {
    let mut machine = Machine::stopped(name);
    let config = machine.daemon.home.path().join("config.yml");
    fs::write(config, EVERY_STOP).expect("writes");
    machine.daemon.start();
    machine.works();
    machine
}

/// Writes the servers' addresses into a command, for their names.
fn addressed(command: &str) -> String {
    let ports = free_ports(SERVERS.len()).into_iter();
    let addresses: Vec<_> = ports.map(|port| format!("127.0.0.1:{port}")).collect();
    let text = command.replace(&SERVERS.join(" "), &addresses.join(" "));
    assert_ne!(text, command);
    text
}

fn folder(hosts: &Hosts, server: &str) -> PathBuf {
    hosts.at(server).join("etc/checkpointd-fleet")
}

#[test]
fn the_operators_path_works_as_it_stands_in_the_chapter() {
    let hosts = Hosts::new();
    let laptop = machine("laptop-7");
    hosts.have(&laptop);
    let mut steps = steps();
    assert_eq!(steps.len(), HOSTS.len());
    steps[0] = addressed(&steps[0]);
    let began = Instant::now();
    for (host, step) in HOSTS.into_iter().zip(&steps) {
        let first = Instant::now();
        if host == "hub" {
            let audit = step.lines().next().expect("a command");
            hosts.waits_for(&laptop.name, audit);
        }
        hosts.does(host, step);
        println!(
            "{:6.1} s  {host}: {}",
            first.elapsed().as_secs_f32(),
            step.trim()
        );
    }
    println!("{:6.1} s  in all", began.elapsed().as_secs_f32());
    // Without systemd: the signal reaches the one server of several on this host whose folder it is sent from.
    let desk = machine("desk-2");
    hosts.have(&desk);
    hosts.does("operator", &steps[3].replace("laptop-7", "desk-2"));
    let reload = named("nats-server --signal");
    let copies = steps[4].lines().find(|line| line.contains("accounts.conf"));
    hosts.does("operator", copies.expect("it is copied"));
    for round in 0..2 {
        std::thread::sleep(Duration::from_secs(round));
        for server in SERVERS {
            let line = format!("cd {}; {reload}", Path::display(&folder(&hosts, server)));
            hosts.does(server, &line);
        }
    }
    hosts.does("operator", "scp fleet/desk-2.join desk-2:");
    hosts.does("desk-2", &steps[6].replace("laptop-7", "desk-2"));
    hosts.waits_for("desk-2", "checkpointd audit --machine desk-2");
}
