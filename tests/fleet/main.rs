//! Machines, a broker and a collector, all of them real: `tests/fleet/run.sh` installs nats-server and starts this.

mod damage;
mod faults;
mod fields;
mod form;
mod latency;
mod machines;
mod named;
mod partition;
mod power;
mod scale;
mod servers;
mod thief;
mod walk;
mod whole;
