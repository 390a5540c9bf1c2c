//! Keys that settings files had and no longer have. A file with one still loads: the key is taken out before the file is
//! read, or moved to the key that replaced it, and a note says so.

use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer as _, MapAccess, Visitor};
use serde_json::Value;

/// Keys and groups of keys that no longer exist.
pub(super) const REMOVED: [&str; 4] = ["verify", "hygiene", "changed", "steering"];

/// Keys of these groups that have a successor.
const REPLACED: [(&str, &str); 2] = [
    ("verify.uncovered", "uncovered"),
    ("changed.comments", "comments"),
];

/// A file without its removed keys.
#[derive(Debug)]
pub(super) struct Cleaned<T> {
    pub(super) layer: T,
    /// One sentence for each removed key.
    pub(super) notes: Vec<String>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Cleaned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("settings", &[], Cleaning(PhantomData))
    }
}

struct Cleaning<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Cleaning<T> {
    type Value = Cleaned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with values (`key: value`)")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Cleaned<T>, A::Error> {
        let mut notes = Vec::new();
        let keys = Keys {
            map,
            notes: &mut notes,
            own: Vec::new(),
            moved: VecDeque::new(),
            next: None,
        };
        let layer = T::deserialize(MapAccessDeserializer::new(keys))?;
        Ok(Cleaned { layer, notes })
    }
}

/// The keys of a file without the removed ones, and after them those that replaced some.
struct Keys<'a, A> {
    map: A,
    notes: &'a mut Vec<String>,
    /// Successors that the file itself sets.
    own: Vec<&'static str>,
    moved: VecDeque<(&'static str, Value)>,
    /// The value of the moved key that was given last.
    next: Option<Value>,
}

impl<'de, A: MapAccess<'de>> Keys<'_, A> {
    fn take_out(&mut self, key: &'static str) -> Result<(), A::Error> {
        let value: Value = self.map.next_value()?;
        let Value::Object(below) = value else {
            self.notes.push(note(key, None));
            return Ok(());
        };
        for (name, value) in below {
            let name = format!("{key}.{name}");
            let successor = REPLACED
                .iter()
                .find(|(old, _)| *old == name)
                .map(|(_, new)| *new);
            self.notes.push(note(&name, successor));
            self.moved
                .extend(successor.map(|successor| (successor, value)));
        }
        Ok(())
    }
}

/// Says what became of a key.
fn note(key: &str, successor: Option<&str>) -> String {
    successor.map_or_else(
        || format!("`{key}` no longer exists: `judgment` decides"),
        |successor| format!("`{key}` is now `{successor}`"),
    )
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Keys<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let mut seed = Some(seed);
        while let Some(unless) = self.map.next_key_seed(UnlessRemoved(&mut seed))? {
            match unless {
                Known::Kept(key, successor) => {
                    self.own.extend(successor);
                    return Ok(Some(key));
                }
                Known::Removed(key) => self.take_out(key)?,
            }
        }
        while let Some((key, value)) = self.moved.pop_front() {
            if let Some(seed) = seed.take_if(|_| !self.own.contains(&key)) {
                self.next = Some(value);
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        match self.next.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.map.next_value_seed(seed),
        }
    }
}

/// A key of the file.
enum Known<K> {
    /// One that is read, and its name if it replaced another.
    Kept(K, Option<&'static str>),
    Removed(&'static str),
}

/// Reads a key with the seed, which is left alone if the key was removed.
struct UnlessRemoved<'a, S>(&'a mut Option<S>);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for UnlessRemoved<'_, S> {
    type Value = Known<S::Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de, S: DeserializeSeed<'de>> Visitor<'de> for UnlessRemoved<'_, S> {
    type Value = Known<S::Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        if let Some(removed) = REMOVED.into_iter().find(|removed| *removed == key) {
            return Ok(Known::Removed(removed));
        }
        let successor = REPLACED.iter().map(|(_, new)| *new).find(|new| *new == key);
        let seed = self
            .0
            .take()
            .ok_or_else(|| E::custom("a key was read twice"))?;
        let read = seed.deserialize(key.into_deserializer())?;
        Ok(Known::Kept(read, successor))
    }
}
