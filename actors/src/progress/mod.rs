//! Progress documents (spec PROG-1): writing, checking and offering them. The documents themselves are `checkpoint::progress`.
//!
//! Everything here blocks on the disk and on git, so it runs on blocking threads or in a command.

mod automatic;
mod documents;
mod files;
mod own_files;
mod project;
mod rebuild;
mod resume;
mod validate;
mod write;

pub use automatic::{Automatic, notify};
pub use documents::{Error, latest, project_root, read};
pub use rebuild::{Problem, Rebuild, Rebuilt, rebuild};
pub use resume::{Beginning, greet};
pub use validate::{Checked, validate};
pub use write::{Order, Written, write};
