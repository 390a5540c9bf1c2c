//! How the events are defined, with the names of their kinds.

/// Defines the events, each with the name of its kind.
macro_rules! events {
    ($(#[$meta:meta])* pub enum Event {
        $($(#[$about:meta])* $variant:ident = $word:literal $fields:tt,)*
    }) => {
        $(#[$meta])*
        pub enum Event {
            $($(#[$about])* #[serde(rename = $word)] $variant $fields,)*
        }

        impl Event {
            /// The names that [`Event::kind`] returns, in the order of the variants. `docs/journal.md` lists the fields of
            /// each.
            pub const KINDS: [&str; [$($word),*].len()] = [$($word),*];

            /// Returns the name of the kind, as in exports.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $word,)*
                }
            }
        }
    };
}

pub(super) use events;
