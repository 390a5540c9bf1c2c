//! What breaks from the outside: kills, damage, power cuts, failing system calls, overload.

mod damage;
#[cfg(target_os = "linux")]
mod full;
mod kills;
#[cfg(target_os = "linux")]
mod memory;
mod overload;
mod power;
mod restarts;
mod strange;
mod syscalls;
