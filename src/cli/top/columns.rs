//! The columns of the table of sessions.

#[derive(Clone, Copy)]
pub(super) enum Column {
    State,
    Machine,
    Agent,
    Title,
    Project,
    Branch,
    Open,
    Pane,
    Last,
}

/// The columns and their widths; `None` takes what is left.
const COLUMNS: [(Column, Option<u16>); 6] = [
    (Column::State, Some(9)),
    (Column::Open, Some(16)),
    (Column::Agent, Some(6)),
    (Column::Title, Some(17)),
    (Column::Project, Some(10)),
    (Column::Last, None),
];
const COLUMNS_WIDE: [(Column, Option<u16>); 8] = [
    (Column::State, Some(9)),
    (Column::Open, Some(30)),
    (Column::Agent, Some(6)),
    (Column::Title, Some(30)),
    (Column::Project, Some(18)),
    (Column::Branch, Some(14)),
    (Column::Pane, Some(5)),
    (Column::Last, None),
];
/// The same at a collector, with the machine in place of what is known on it only.
const COLUMNS_FLEET: [(Column, Option<u16>); 7] = [
    (Column::State, Some(9)),
    (Column::Open, Some(13)),
    (Column::Machine, Some(12)),
    (Column::Agent, Some(6)),
    (Column::Title, Some(14)),
    (Column::Project, Some(10)),
    (Column::Last, None),
];
const COLUMNS_WIDE_FLEET: [(Column, Option<u16>); 7] = [
    (Column::State, Some(9)),
    (Column::Open, Some(30)),
    (Column::Machine, Some(16)),
    (Column::Agent, Some(6)),
    (Column::Title, Some(28)),
    (Column::Project, Some(26)),
    (Column::Last, None),
];
/// The least width for what it did or said last.
pub(super) const LAST_MIN: u16 = 10;

impl Column {
    /// Returns the column's title.
    pub(super) const fn head(self) -> &'static str {
        match self {
            Self::State => "STATE",
            Self::Machine => "MACHINE",
            Self::Agent => "AGENT",
            Self::Title => "TITLE",
            Self::Project => "PROJECT",
            Self::Branch => "BRANCH",
            Self::Open => "OPEN",
            Self::Pane => "PANE",
            Self::Last => "LAST",
        }
    }
}

/// Returns the columns and their widths.
pub(super) const fn of(is_wide: bool, has_machines: bool) -> &'static [(Column, Option<u16>)] {
    match (is_wide, has_machines) {
        (false, false) => &COLUMNS,
        (false, true) => &COLUMNS_FLEET,
        (true, false) => &COLUMNS_WIDE,
        (true, true) => &COLUMNS_WIDE_FLEET,
    }
}
