//! Medians, and how busy the machine was: a figure without its load says little.

use std::time::Duration;

/// Returns the median of some figures.
pub(crate) fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Prints what is measured, and the machine's load.
pub(crate) fn title(what: &str) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').take(3).collect::<Vec<_>>().join(" ");
    println!("{what}\n  machine: {cores} cores, load {load}");
}

/// Returns a number that was given as `--name N`, else `default`. Cargo's own `--bench` is passed by.
pub(crate) fn option(name: &str, default: usize) -> usize {
    let given = std::env::args()
        .skip_while(|argument| argument != name)
        .nth(1);
    given.map_or(default, |text| text.parse().expect("a number"))
}
