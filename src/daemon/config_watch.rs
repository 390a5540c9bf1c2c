//! Watches the configuration and applies changes.

use std::sync::Arc;

use actors::spool;

use super::http::Api;
use super::instance::private_folder_if_missing;

/// Applies a changed configuration. An invalid file changes nothing, and `status` reports the
/// error.
pub(super) fn watch_config(api: &Arc<Api>) -> Option<notify::RecommendedWatcher> {
    use notify::{RecursiveMode, Watcher};
    let path = api.shared.home.config.clone();
    let folder = path.parent()?.to_owned();
    let watched = Arc::clone(api);
    let reload = move |event: notify::Result<notify::Event>| {
        let is_ours = event.is_ok_and(|event| {
            let named = event
                .paths
                .iter()
                .any(|changed| changed.file_name() == path.file_name());
            spool::is_change(&event) && (event.need_rescan() || named)
        });
        if is_ours {
            watched.reload();
        }
    };
    let mut watcher = notify::recommended_watcher(reload).ok()?;
    private_folder_if_missing(&folder).ok()?;
    watcher.watch(&folder, RecursiveMode::NonRecursive).ok()?;
    // Catches changes between the first load and now.
    api.reload();
    Some(watcher)
}
