//! A group of settings, declared once: complete, and as a layer in which any key may be missing.

/// Declares a group of keys twice: complete, and as a layer in which any key may be missing.
macro_rules! layered {
    ($(#[$meta:meta])* $name:ident, $layer:ident { $($(#[$key_meta:meta])* $key:ident: $type:ty,)* }
     $(groups { $($(#[$group_meta:meta])* $group:ident: $group_type:ty, $group_layer:ty;)* })?) => {
        #[derive(Clone, Debug, PartialEq, Serialize)]
        $(#[$meta])*
        pub struct $name {
            $($(#[$key_meta])* pub $key: $type,)*
            $($($(#[$group_meta])* pub $group: $group_type,)*)?
        }

        /// The same keys, as one file sets them.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub(crate) struct $layer {
            $(#[serde(skip_serializing_if = "Option::is_none")] pub(crate) $key: Option<$type>,)*
            $($(#[serde(skip_serializing_if = "Option::is_none")] pub(crate) $group: Option<$group_layer>,)*)?
        }

        impl $layer {
            /// Returns all keys, or the name of one that the file lacks.
            pub(crate) fn complete(self) -> Result<$name, &'static str> {
                Ok($name {
                    $($key: self.$key.ok_or(stringify!($key))?,)*
                    $($($group: self.$group.ok_or(stringify!($group))?.complete()?,)*)?
                })
            }
        }

        impl $name {
            /// Lays one file over the values so far.
            pub(crate) fn lay(&mut self, layer: &$layer) {
                $(if let Some(value) = &layer.$key { self.$key.clone_from(value); })*
                $($(if let Some(group) = &layer.$group { self.$group.lay(group); })*)?
            }
        }
    };
}

pub(crate) use layered;
