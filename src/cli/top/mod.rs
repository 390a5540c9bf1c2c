//! `checkpointd top`: the current status of every session, in the terminal.
//!
//! `model.rs` handles input and `view.rs` draws; both are pure. This module has the effects: terminal, keyboard and
//! signals, and the daemon through `feed.rs`.

use std::io::IsTerminal;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use journal::{Home, Timestamp};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::daemon_process;
use crate::error::{Failure, Result, exit};
use crate::render;

mod act;
mod ansi;
mod columns;
mod feed;
mod model;
mod page;
#[cfg(test)]
mod tests;
mod view;

use model::{Effect, Input, Model};

/// How often the clocks are redrawn.
const TICK: Duration = Duration::from_secs(1);

/// Shows the view until the user quits.
///
/// # Errors
///
/// If no daemon runs and none can be started, or there is no usable terminal.
pub(crate) fn run(home: &Home) -> Result<u8> {
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        return Err(Failure::usage("`top` needs a terminal")
            .hint("`checkpointd status` and `checkpointd sessions` print the same once"));
    }
    daemon_process::ensure(home)?;
    // Also restores the terminal before the message of a panic is printed.
    let mut terminal = ratatui::try_init()?;
    let shown = show(home, &mut terminal);
    ratatui::try_restore()?;
    shown.map(|()| exit::OK)
}

fn show(home: &Home, terminal: &mut DefaultTerminal) -> Result<()> {
    let (tell, inputs) = mpsc::channel();
    let (ask, asks) = mpsc::channel();
    let (of_daemon, of_keyboard, of_system) = (tell.clone(), tell.clone(), tell);
    let home = home.clone();
    std::thread::spawn(move || feed::follow(&home, &asks, &of_daemon));
    std::thread::spawn(move || read_keyboard(&of_keyboard));
    std::thread::spawn(move || wait_for_signal(&of_system));
    let size = terminal.size()?;
    let mut model = Model {
        size: (size.width, size.height),
        colors: render::colors_wanted(),
        clock: Timestamp::now(),
        ..Model::default()
    };
    loop {
        terminal.draw(|frame| view::draw(&model, frame))?;
        if !take(&mut model, &inputs, &ask)? {
            return Ok(());
        }
    }
}

/// Takes what has come, at least one input or the passing of a moment. Returns false when it is over.
fn take(model: &mut Model, inputs: &Receiver<Input>, ask: &Sender<Effect>) -> Result<bool> {
    let mut next = match inputs.recv_timeout(TICK) {
        Ok(input) => Some(input),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => return Ok(false),
    };
    model.update(Input::Tick(Timestamp::now()));
    while let Some(input) = next {
        match model.update(input) {
            Effect::Nothing => {}
            Effect::Copy(text) => act::copy(&text)?,
            Effect::Quit => return Ok(false),
            asked => {
                let sent = ask.send(asked);
                sent.map_err(|_| Failure::failed("the reader has ended"))?;
            }
        }
        next = inputs.try_recv().ok();
    }
    Ok(true)
}

/// Passes on keys and new sizes; ends with the terminal.
fn read_keyboard(tell: &Sender<Input>) {
    loop {
        let input = match event::read() {
            Ok(event::Event::Key(key)) => Input::Key(key),
            Ok(event::Event::Resize(width, height)) => Input::Resized(width, height),
            Ok(_) => continue,
            Err(_) => Input::Stop,
        };
        let is_last = matches!(input, Input::Stop);
        if tell.send(input).is_err() || is_last {
            return;
        }
    }
}

/// Quits the view, and restores the terminal, when the process gets a signal to end.
fn wait_for_signal(tell: &Sender<Input>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
    else {
        return;
    };
    let told = runtime.block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut hangup = signal(SignalKind::hangup())?;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        std::io::Result::Ok(())
    });
    if told.is_ok() {
        let _ = tell.send(Input::Stop);
    }
}
