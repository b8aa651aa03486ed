//! The product reads texts with one parser. Here it is held against a second one, over all that there is to read.

use offshoot_policy::parse_text;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier;

use crate::generate::Source;
use crate::second::{self, Second};
use crate::{awkward, bounds, judge, texts, tools};

/// More differences than this tell nobody anything.
const ENOUGH: usize = 8;

/// What became of texts that were read twice.
#[derive(Debug, Default)]
struct Tally {
    /// The product does not understand them, and says so.
    unclear: u64,
    agreed: u64,
    /// The second parser has no say.
    refused: u64,
    not_read: u64,
    missed: Vec<String>,
}

impl Tally {
    fn compare(&mut self, text: &str) {
        let script = parse_text(text.as_bytes());
        if !script.unclear.is_empty() {
            self.unclear += 1;
            return;
        }
        match second::read(text, &script) {
            Second::Agrees => self.agreed += 1,
            Second::Refuses => self.refused += 1,
            Second::TooMuch | Second::Misreads => self.not_read += 1,
            Second::Misses(what) => {
                let shown = judge::shown(&script);
                self.missed.push(format!("a second parser finds {what}\n{text}\n---\n{shown}"));
            }
        }
    }

    fn summary(&self) -> String {
        let Self { unclear, agreed, refused, not_read, .. } = self;
        format!(
            "{agreed} agreed, {unclear} unclear, {refused} refused by the second parser, {not_read} not read by it"
        )
    }

    fn assert_nothing_missed(&self) {
        assert!(self.missed.is_empty(), "{}", self.missed.join("\n\n"));
    }
}

/// What to call texts, one in how many of them both parsers must agree on, and how they are made.
type Kind<'a> = (&'a str, u64, &'a dyn Fn(&mut Rng) -> String);

#[test]
fn what_is_written_down_is_read_alike() {
    let mut tally = Tally::default();
    let examples = tools::examples();
    let awkward = awkward::TEXTS.iter().copied();
    let corpus = Source::new().texts;
    let all = corpus.iter().chain(&examples).map(String::as_str).chain(awkward);
    let mut count = 0;
    for text in all {
        tally.compare(text);
        count += 1;
    }
    println!("{}", tally.summary());
    tally.assert_nothing_missed();
    assert!(count > 3000 && tally.agreed > count * 9 / 10, "{} of {count}", tally.agreed);
}

#[test]
fn random_texts_are_read_alike() {
    let seed = seed_from_env_or(0x0002_ead5);
    let cases = tier::cases(2000, 400_000);
    println!("seed {seed:#x}, {cases} texts of each kind");
    let source = Source::new();
    let kinds: [Kind<'_>; 3] = [
        ("programs", 2, &texts::random),
        ("commands", 2, &|rng| source.command(rng)),
        ("anything", 10, &|rng| String::from_utf8_lossy(&bounds::any(rng)).into_owned()),
    ];
    for (name, share, make) in kinds {
        let mut tally = Tally::default();
        for case in 0..cases {
            tally.compare(&make(&mut Rng::new(seed.wrapping_add(case))));
            if tally.missed.len() >= ENOUGH {
                break;
            }
        }
        println!("{name}: {}", tally.summary());
        tally.assert_nothing_missed();
        // A comparison in which all is unclear, or refused, would show nothing.
        let enough = cases < 100 || tally.agreed > cases / share;
        assert!(enough, "{name}: {} of {cases}", tally.agreed);
    }
}

/// The comparison can fail, and does no harm.
#[test]
fn what_a_second_parser_finds_alone_is_noticed() {
    let read = |said: &str, text: &str| second::read(text, &parse_text(said.as_bytes()));
    for (said, text) in [
        ("a", "b"),
        ("a b", "a c"),
        ("a", "a; b"),
        ("a", "a $(b)"),
        ("a", "f() { b; }; a"),
        ("a", "if a; then b; fi"),
        ("a", "a > f"),
        ("a > f", "a > g"),
        ("a < f", "a > f"),
        ("a", "a &> f"),
    ] {
        assert!(matches!(read(said, text), Second::Misses(_)), "{said} / {text}");
        assert!(matches!(read(text, text), Second::Agrees), "{text}");
    }
    // It panics at the second of these.
    for text in ["for x in a; { b; }", "x0  <<E \\\n\"${v:-a b}\"${#v}\nE\n99999999999>f", "("] {
        assert!(!matches!(read(text, text), Second::Agrees | Second::Misses(_)), "{text}");
    }
    for text in ["ls ~99999999999999999999", &"case x in x) ".repeat(40), &"a ".repeat(4096)] {
        assert!(matches!(read(text, text), Second::TooMuch), "{text}");
    }
}
