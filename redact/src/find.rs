//! The search: all literals of all rules are found in one pass, and a rule looks at a text only where one of its literals
//! stands.

use std::sync::LazyLock;

use super::literals::Literals;
use super::scan::{Found, Scan};
use super::shapes::SHAPES;
use super::{assigned, blocks, commands, names, runs, urls};

/// The rule that a literal belongs to.
#[derive(Clone, Copy, Debug)]
enum Rule {
    /// A token's prefix: the index of its shape.
    Shape(usize),
    /// Part of a name that secrets are assigned to.
    Name,
    /// A program that takes secrets as arguments: the index of its row.
    Program(usize),
    /// A part of a URL.
    Url(urls::Part),
    /// What a block of lines begins or ends with.
    Block(blocks::Part),
}

struct Rules {
    literals: Literals,
    /// The rule of each literal, and whether the case of its letters matters.
    rules: Vec<(Rule, &'static str)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let shapes = SHAPES.iter().enumerate().flat_map(|(index, shape)| {
        shape
            .prefixes
            .split(' ')
            .map(move |prefix| (Rule::Shape(index), prefix))
    });
    let programs = commands::PROGRAMS
        .iter()
        .enumerate()
        .map(|(index, program)| (Rule::Program(index), program.name));
    let rules: Vec<_> = shapes
        .chain(programs)
        .chain(names::STEMS.iter().map(|stem| (Rule::Name, *stem)))
        .chain(
            urls::PARTS
                .iter()
                .map(|(literal, part)| (Rule::Url(*part), *literal)),
        )
        .chain(
            blocks::PARTS
                .iter()
                .map(|(literal, part)| (Rule::Block(*part), *literal)),
        )
        .collect();
    let literals = Literals::new(rules.iter().map(|(_, literal)| *literal));
    Rules { literals, rules }
});

/// Compiles the rules, which the first search would wait for.
pub(super) fn prepare() {
    LazyLock::force(&RULES);
}

pub(super) fn find(text: &str, depth: u8) -> Vec<Found> {
    let mut scan = Scan::new(text, depth);
    let Rules { literals, rules } = &*RULES;
    literals.each(text.as_bytes(), |index, at| {
        let (rule, literal) = rules[index];
        match rule {
            Rule::Shape(index) => {
                if scan.bytes[at.clone()] == *literal.as_bytes() {
                    scan.shape(&SHAPES[index], at);
                }
            }
            Rule::Name => assigned::read(&mut scan, at),
            Rule::Program(index) => commands::read(&mut scan, index, at),
            Rule::Url(part) => urls::read(&mut scan, part, at),
            Rule::Block(part) => blocks::read(&mut scan, part, at),
        }
    });
    blocks::finish(&mut scan);
    runs::read(&mut scan, find);
    scan.found
}
