//! The search: all literals of all rules are found in one pass, and a rule looks at a text only where one of its literals
//! stands.

use std::sync::LazyLock;

use super::literals::Literals;
use super::scan::{Found, Scan};
use super::shapes::Shape;
use super::words::{AddressPart, BlockPart, WORDS};
use super::{assigned, blocks, options, runs, urls};

/// The rule that a literal belongs to.
#[derive(Clone, Copy)]
enum Rule {
    /// A token's prefix.
    Shape(&'static Shape),
    /// Part of a name that secrets are assigned to.
    Name,
    /// The beginning of an option.
    Option,
    /// A part of a URL.
    Url(AddressPart),
    /// What a block of lines begins or ends with.
    Block(BlockPart),
}

struct Rules {
    literals: Literals,
    /// The rule of each literal.
    rules: Vec<(Rule, &'static str)>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let mut rules = Vec::new();
    let mut add = |rule: Rule, literals: &'static [String]| {
        rules.extend(literals.iter().map(|literal| (rule, literal.as_str())));
    };
    let names = &WORDS.names;
    WORDS
        .shapes
        .iter()
        .for_each(|shape| add(Rule::Shape(shape), &shape.prefixes));
    add(Rule::Option, &WORDS.options.begin);
    add(Rule::Name, &names.stems);
    add(Rule::Name, &names.providers);
    WORDS
        .addresses
        .iter()
        .for_each(|(part, literals)| add(Rule::Url(*part), literals));
    WORDS
        .blocks
        .iter()
        .for_each(|(part, literals)| add(Rule::Block(*part), literals));
    // Case is ignored in ASCII only.
    for stem in names.stems.iter().filter(|stem| !stem.is_ascii()) {
        rules.push((Rule::Name, stem.to_uppercase().leak()));
    }
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
            Rule::Shape(shape) => {
                if scan.bytes[at.clone()] == *literal.as_bytes() {
                    scan.shape(shape, at);
                }
            }
            Rule::Name => assigned::read(&mut scan, at),
            Rule::Option => options::read(&mut scan, at),
            Rule::Url(part) => urls::read(&mut scan, part, at),
            Rule::Block(part) => blocks::read(&mut scan, part, at),
        }
    });
    blocks::finish(&mut scan);
    runs::read(&mut scan, find);
    scan.found
}
