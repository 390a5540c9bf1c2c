//! Versions of agents.

/// The first three dotted numbers of an agent's version text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) u32, pub(crate) u32, pub(crate) u32);

impl Version {
    /// Finds a version in a text such as `2.1.330 (Claude Code)` or `codex-cli 0.169.0`.
    pub(crate) fn find(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.')
            .find_map(|word| {
                let mut numbers = word.split('.').map(|number| number.parse().ok());
                Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
            })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_as_agents_say_them() {
        let found = [
            "2.1.330 (Claude Code)",
            "codex-cli 0.169.0",
            "codex-cli 0.124.0-alpha.2",
            "v1.2.3",
            "1.2",
            "none",
        ];
        assert_eq!(
            found.map(Version::find),
            [
                Some(Version(2, 1, 330)),
                Some(Version(0, 169, 0)),
                Some(Version(0, 124, 0)),
                Some(Version(1, 2, 3)),
                None,
                None
            ]
        );
        assert!(Version(2, 1, 330) > Version(2, 1, 78));
    }
}
