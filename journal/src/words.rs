//! Enums whose variants have words.

/// Defines an enum whose variants have words: in JSON, by `word`, and by `of_word`. `ALL` has them in this order.
/// A second text, before a semicolon, is for people.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$about])* #[serde(rename = $word)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// Returns its name in JSON.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Returns the one with a word.
            pub fn of_word(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|one| one.word() == word)
            }
        }
    };
    ($(#[$meta:meta])* pub enum $name:ident {
        $($(#[$about:meta])* $variant:ident = $word:literal, $said:literal;)*
    }) => {
        $crate::words! {
            $(#[$meta])* pub enum $name { $($(#[$about])* $variant = $word,)* }
        }

        impl $name {
            /// Returns what it says, in words for people.
            pub const fn words(self) -> &'static str {
                match self {
                    $(Self::$variant => $said,)*
                }
            }
        }
    };
}
