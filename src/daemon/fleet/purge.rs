//! Removes what the broker has of a machine, for `fleet forget`.

use journal::Home;

use super::address::Address;
use crate::config;
use crate::error::{Failure, Result};

/// Removes the messages of these journals of a machine from the broker. Returns how many there were; `None` if no broker
/// is set.
pub(crate) fn purge(home: &Home, sources: &[(String, uuid::Uuid)]) -> Result<Option<u64>> {
    let config = config::load(home)?;
    let Some(address) = Address::of(&config.settings.fleet, home) else {
        return Ok(None);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let purged = runtime.block_on(async {
        let broker = address.connect("collector").await?;
        let mut purged = 0;
        for (machine, journal) in sources {
            let journal = journal.simple().to_string();
            purged += broker.purge(machine, Some(&journal)).await?;
        }
        Ok::<_, broker::Problem>(purged)
    });
    purged.map(Some).map_err(|problem| {
        Failure::unreachable(format!("the broker still has its messages: {problem}"))
            .hint("try again; the events here are already removed")
    })
}
