//! Machines, a broker and a collector, all of them real: `tests/fleet/run.sh` installs nats-server and starts this.

mod faults;
mod machines;
mod postgres;
mod servers;
mod thief;
mod whole;
