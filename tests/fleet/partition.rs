//! One server is cut off from the two others, and machines and collector still reach it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::wait_until;

use crate::form::is_full;
use crate::machines::{Collector, Machine};
use crate::named::names;
use crate::servers::Servers;

/// No server is cut off.
const NOBODY: usize = usize::MAX;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The network between the servers. What it does not carry stays where it is until it does again, as with packets that
/// are sent once more.
#[derive(Clone, Default)]
struct Network(Arc<AtomicUsize>);

impl Network {
    fn new() -> Self {
        let network = Self::default();
        network.heals();
        network
    }

    fn cuts_off(&self, server: usize) {
        self.0.store(server, Ordering::SeqCst);
    }

    fn heals(&self) {
        self.cuts_off(NOBODY);
    }

    fn waits_for(&self, (from, to): (usize, usize)) {
        while [from, to].contains(&self.0.load(Ordering::SeqCst)) {
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Carries what two servers say to each other. Returns the port at which each new connection reaches `to`.
    fn carries(&self, pair: (usize, usize), to: impl Fn() -> u16 + Send + 'static) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let network = self.clone();
        thread::spawn(move || {
            for from in listener.incoming().flatten() {
                network.waits_for(pair);
                if let Ok(to) = TcpStream::connect(("127.0.0.1", to())) {
                    network.carry(pair, (&from, &to));
                    network.carry(pair, (&to, &from));
                }
            }
        });
        port
    }

    fn carry(&self, pair: (usize, usize), (from, to): (&TcpStream, &TcpStream)) {
        let clones = (from.try_clone(), to.try_clone());
        let (mut from, mut to) = (clones.0.expect("a socket"), clones.1.expect("a socket"));
        let network = self.clone();
        thread::spawn(move || {
            let mut piece = vec![0; 64 * 1024];
            loop {
                let read = from.read(&mut piece).unwrap_or(0);
                network.waits_for(pair);
                if read == 0 || to.write_all(&piece[..read]).is_err() {
                    break;
                }
            }
            let _ = from.shutdown(Shutdown::Both);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

#[test]
fn a_server_that_is_cut_off_neither_stops_the_others_nor_says_yes_alone() {
    let network = Network::new();
    let servers = Servers::connected(|pair, port| network.carries(pair, move || port));
    let collector = Collector::new(&servers.url());
    let mut machines: Vec<_> = ["one", "two", "three"]
        .iter()
        .map(|name| Machine::new(name, &servers.url(), "all"))
        .collect();
    let work = |machines: &mut Vec<Machine>| {
        machines
            .iter_mut()
            .for_each(|machine| machine.calls_tools(150));
    };
    work(&mut machines);
    collector.waits_for_all(&machines);
    let rounds = if is_full() { 3 } else { 1 };
    for cut_off in (0..servers.count()).cycle().take(rounds * servers.count()) {
        network.cuts_off(cut_off);
        let began = Instant::now();
        work(&mut machines);
        // Who was connected to it finds another one, and all goes on with two.
        collector.waits_for_all(&machines);
        let took = began.elapsed().as_secs_f32();
        println!("{took:5.1} s  without server n{cut_off} all goes on");
        work(&mut machines);
        network.heals();
        work(&mut machines);
        collector.waits_for_all(&machines);
    }
    for machine in &machines {
        collector.assert_has(machine);
        wait_until(|| machine.trouble().is_empty());
    }
    collector.verify();
}

#[test]
fn a_collector_at_a_server_that_is_cut_off_says_so_and_finds_another() {
    let network = Network::new();
    let servers = Servers::connected(|pair, port| network.carries(pair, move || port));
    let port = |server: usize| {
        let url = servers.url();
        let port = url
            .split(',')
            .nth(server)
            .and_then(|url| url.rsplit(':').next());
        port.and_then(|port| port.parse().ok()).expect("a port")
    };
    // Whoever asks for a connection gets it to this one.
    let server = Arc::new(AtomicU16::new(port(0)));
    let chosen = Arc::clone(&server);
    let entry = network.carries((3, 3), move || chosen.load(Ordering::SeqCst));
    let collector = Collector::new(&format!("nats://127.0.0.1:{entry}"));
    let others = format!("nats://127.0.0.1:{},nats://127.0.0.1:{}", port(1), port(2));
    let mut machine = Machine::new("m", &others, "all");
    machine.calls_tools(100);
    collector.waits_for(&machine);
    network.cuts_off(0);
    names(&collector, "stream HEADS has no leader");
    machine.calls_tools(100);
    server.store(port(1), Ordering::SeqCst);
    collector.waits_for(&machine);
    network.heals();
    collector.assert_has(&machine);
    names(&collector, "null[]");
}
