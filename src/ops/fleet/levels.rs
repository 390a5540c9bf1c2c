//! Which parts of an event leave the machine at each level: a list of what may be sent. A kind or a field that is not
//! on the list is not sent (spec FLEET-6).

use std::collections::BTreeMap;
use std::sync::LazyLock;

pub(crate) use checkpoint::config::FleetLevel as Level;
use serde::Deserialize;
use serde_json::{Value, json};

/// How a field is sent below the level `all`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    /// As it is: numbers, times, and words of this program.
    Plain,
    /// As it is if it is one plain word. It is an agent's, so it may be anything.
    Word,
    Keyed,
    /// Not sent.
    Never,
}

/// The replacement for a field that is not sent. It never depends on the field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Blank {
    Null,
    Text,
    Zero,
    List,
    /// An object without members.
    Nothing,
    /// The word for changed files that were not determined.
    NotAsked,
}

impl Blank {
    pub(super) fn value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Text => "".into(),
            Self::Zero => 0.into(),
            Self::List => json!([]),
            Self::Nothing => json!({}),
            Self::NotAsked => "not_asked".into(),
        }
    }
}

/// One field of a kind: its path, where `[]` is every member of a list, how it is sent, and what replaces it.
pub(super) type Field = (String, Goes, Blank);

/// Fields by how they are sent: of a kind of event, or of several kinds.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Listed {
    /// The lowest level at which the kind is sent; of a kind only.
    level: Option<Level>,
    /// Names of fields that several kinds have.
    parts: Vec<String>,
    plain: Vec<String>,
    word: BTreeMap<String, Blank>,
    keyed: BTreeMap<String, Blank>,
    never: BTreeMap<String, Blank>,
}

/// What `levels.yml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Levels {
    parts: BTreeMap<String, Listed>,
    kinds: BTreeMap<String, Listed>,
}

impl Listed {
    fn fields(&self) -> impl Iterator<Item = Field> {
        let plain = self
            .plain
            .iter()
            .map(|path| (path.clone(), Goes::Plain, Blank::Null));
        let others = [
            (Goes::Word, &self.word),
            (Goes::Keyed, &self.keyed),
            (Goes::Never, &self.never),
        ];
        let others = others.into_iter().flat_map(|(goes, paths)| {
            paths
                .iter()
                .map(move |(path, blank)| (path.clone(), goes, *blank))
        });
        plain.chain(others)
    }
}

/// Every kind that is sent below the level `all`: the lowest level at which it is sent, and its fields.
static KINDS: LazyLock<BTreeMap<String, (Level, Vec<Field>)>> = LazyLock::new(|| {
    let Levels { parts, kinds } = checkpoint::built_in("levels", include_str!("levels.yml"));
    let kinds = kinds.into_iter().map(|(kind, listed)| {
        let parts = listed.parts.iter().flat_map(|part| parts[part].fields());
        let fields = parts.chain(listed.fields()).collect();
        // What names no level is not sent.
        (kind, (listed.level.unwrap_or(Level::All), fields))
    });
    kinds.collect()
});

/// Returns the fields of a kind if it is sent at a level below `all`.
pub(super) fn fields(kind: &str, level: Level) -> Option<&'static [Field]> {
    let (lowest, fields) = KINDS.get(kind)?;
    (*lowest <= level).then_some(fields.as_slice())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The rows of a table in docs/journal.md: first column, and the names in the second.
    fn documented(mark: &str) -> Vec<(String, Vec<String>)> {
        let text = include_str!("../../../docs/journal.md");
        let mark = format!("<!-- {mark}: checked by journal/tests/schema -->\n");
        let (_, rest) = text.split_once(&mark).expect("a mark");
        let (_, rest) = rest.split_once("|---|---|\n").expect("a table");
        let (rows, _) = rest.split_once("<!-- end -->").expect("an end");
        let row = |line: &str| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            let names = |cell: &str| {
                let parts = cell.split('`').skip(1).step_by(2);
                parts.map(str::to_owned).collect::<Vec<_>>()
            };
            let first = cells.next().expect("a cell").replace('`', "");
            (first, names(cells.next().expect("a cell")))
        };
        rows.lines().map(row).collect()
    }

    /// Every field of every kind in docs/journal.md, with the fields of their objects.
    fn every_field() -> BTreeSet<(String, String)> {
        let objects = documented("objects");
        let mut all = BTreeSet::new();
        for (kind, fields) in documented("kinds") {
            let mut open: Vec<_> = fields;
            while let Some(path) = open.pop() {
                // `files[]` and the call of a call are whole lists that never go.
                let inner = objects
                    .iter()
                    .find(|(name, _)| *name == path || *name == format!("{path}[]"));
                match inner {
                    Some((name, fields)) => {
                        open.extend(fields.iter().map(|field| format!("{name}.{field}")));
                    }
                    None => drop(all.insert((kind.clone(), path))),
                }
            }
        }
        all
    }

    #[test]
    fn every_field_of_every_kind_has_a_place_in_the_table() {
        // Only a collector has these, and what it has is not sent on.
        let own = ["run_received", "withheld"];
        let mut missing = Vec::new();
        for (kind, path) in every_field() {
            let Some((_, known)) = KINDS.get(&kind) else {
                if !own.contains(&kind.as_str()) {
                    missing.push(kind);
                }
                continue;
            };
            let covers = |field: &Field| {
                // A field is covered by itself, by what it is a part of, or by all of its parts.
                let named = field.0.as_str();
                named == path
                    || path.starts_with(&format!("{named}."))
                    || named.starts_with(&format!("{path}."))
            };
            if !known.iter().any(covers) {
                missing.push(format!("{kind}.{path}"));
            }
        }
        assert_eq!(missing, Vec::<String>::new(), "without a level");
        let kinds: BTreeSet<_> = documented("kinds")
            .into_iter()
            .map(|(kind, _)| kind)
            .collect();
        let unknown = KINDS.keys().filter(|known| !kinds.contains(*known));
        assert_eq!(unknown.count(), 0, "kinds that do not exist");
    }

    #[test]
    fn the_levels_are_in_order() {
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(Level::of_word(level.word()), Some(level));
        }
        assert!(fields("tool_started", Level::Decisions).is_none());
        assert!(fields("tool_started", Level::Skeleton).is_some());
        assert!(fields("run_received", Level::Skeleton).is_none());
    }
}
