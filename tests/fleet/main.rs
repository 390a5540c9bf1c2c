//! Machines, a broker and a collector, all of them real: `tests/fleet/run.sh` installs nats-server and starts this.

mod damage;
mod dice;
mod faults;
mod fields;
mod latency;
mod machines;
mod partition;
mod power;
mod scale;
mod servers;
mod thief;
mod whole;
