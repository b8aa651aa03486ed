//! No text makes the parser panic, overflow its stack or take long.

use std::thread;
use std::time::Duration;

use offshoot_policy::script::{InputSource, Script};
use offshoot_policy::{MAX_TEXT, parse_text};
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier;
use rustix::time::{ClockId, clock_gettime};

use crate::texts;

/// What a text of everyday length may take, without optimisation.
const SHORT: Duration = Duration::from_millis(50);
/// What the longest text may take, without optimisation.
const LONG: Duration = Duration::from_millis(400);
/// A stack far smaller than that of any thread that would parse.
const STACK: usize = 512 << 10;

const WORDS: &[&str] = &[
    "if ",
    "then ",
    "fi",
    "while ",
    "do ",
    "done",
    "for x in ",
    "case x in ",
    "esac",
    "function f ",
    "f()",
    "time ",
    "coproc ",
    "select x in ",
    "<<E\n",
    "<<-'E'\n",
    "<(",
    ">(",
    "$'",
    "$\"",
    "$[",
    "a=(",
    "a[",
    "{a,",
    "{1..9}",
    "${x:-",
    "${x[",
    "${!x",
    "\"${x:=",
    ">&2 ",
    "2>f ",
    "&>f ",
    "| ",
    "&& ",
    "|| ",
    "; ",
    "& ",
    "! ",
    "{ ",
    "}; ",
    "echo ",
    "[[ a =~ ",
    "-eq ",
    ";& ",
    "\\`",
];

/// What may lie in itself.
const NESTED: &[(&str, &str)] = &[
    ("(", ")"),
    ("{ ", ";}"),
    (": $(", ")"),
    (": \"$(", ")\""),
    (": \"${x:-", "}\""),
    (": ${x:-$(", ")}"),
    ("case x in x) ", "\nesac"),
    ("case x in x) ", ";; esac"),
    ("if :; then ", "\nfi"),
    ("if ", ";then :; else :; fi"),
    ("while ", "; do break; done"),
    ("for x in a; do ", "; done"),
    ("f() { ", "; }"),
    ("function f { ", "; }"),
    ("[[ ( a ) ]] && (", ")"),
    (": $((1+", "))"),
    (": <(", ")"),
    ("! ", ""),
    ("time ", ""),
    (": ~99999999999999999999 ", ""),
    (": 999999999999>f ", ""),
];

#[test]
fn random_texts_do_no_harm() {
    let seed = seed_from_env_or(0xb0_07_d5);
    let cases = tier::cases(4000, 2_000_000);
    println!("seed {seed:#x}, {cases} texts");
    with_a_small_stack(move || {
        for case in 0..cases {
            let mut rng = Rng::new(seed.wrapping_add(case));
            let text = any(&mut rng);
            let script = timed(&text, SHORT);
            assert_places(&script, &text);
        }
    });
}

#[test]
fn long_random_texts_take_no_longer_than_they_are() {
    let seed = seed_from_env_or(0x10_46);
    let cases = tier::cases(20, 5000);
    with_a_small_stack(move || {
        for case in 0..cases {
            let mut rng = Rng::new(seed.wrapping_add(case));
            let few: Vec<u64> = (0..=rng.below(4)).map(|_| rng.next_u64()).collect();
            let mut text = String::new();
            while text.len() < MAX_TEXT - 16 {
                // A few words again and again find more than many.
                text.push_str(word(&mut Rng::new(*rng.pick(&few).unwrap())));
            }
            timed(text.as_bytes(), LONG);
        }
    });
}

#[test]
fn texts_that_are_meant_to_take_long_do_not() {
    let closed =
        |open: &str, close: &str, count| format!("{}{}", open.repeat(count), close.repeat(count));
    let many = |text: &str| text.repeat(MAX_TEXT / text.len());
    let mut all: Vec<String> = [
        "{a,b}",
        "{,}{,}{,}{,}{,} ",
        "[",
        "a[",
        "f(){ :;};f;",
        "<<E ",
        "$(",
        "a|",
        "~",
        "a=~:",
        "`\\`",
        "${x",
        "\\\n",
        "$((a) ",
        "{",
        "a&&",
        "a >&2 2>&1 ",
        "(a)",
        "x=a ",
        "a$(b)",
        "\"`a`\"",
        "<(a) ",
        "a<<E\nE\n",
        "if a; then b; fi;",
        "a\n",
        "((",
        "$((",
        "((a) ",
    ]
    .into_iter()
    .map(many)
    .collect();
    all.extend([
        closed("$((", ")", 60),
        closed("\"${a:-", "}\"", 30),
        closed("((", ") )", 30),
        format!("{{ {} }} | {{ {} }}", "a;".repeat(15_000), "b;".repeat(15_000)),
        format!("{{ {} }} | {{ {} }}", "a;".repeat(1000), "b;".repeat(1000)),
        format!("{{ {} }} <<E\n{}\nE", "a;".repeat(1000), "b".repeat(30_000)),
        format!("f() {{ {} }}; {}", "a;".repeat(1000), "a|f;".repeat(500)),
    ]);
    // Parsers have looked for the end of such here-documents for ever.
    all.extend(
        ["cat <<'' 'a\nb' ", "cat <<'' 'a\nb' \\\n", "$(cat <<'' 'a\nb' "].map(str::to_owned),
    );
    for (open, close) in NESTED {
        all.extend(
            [10, 20, 30, 60].map(|count| format!("{}:{}", open.repeat(count), close.repeat(count))),
        );
    }
    with_a_small_stack(move || {
        for text in &all {
            timed(text.as_bytes(), LONG);
        }
    });
}

fn with_a_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
}

/// Parses a text and looks at the processor time, which others on the machine do not change.
fn timed(text: &[u8], most: Duration) -> Script {
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap();
    let start = now();
    let script = parse_text(text);
    let took = now() - start;
    let shown = String::from_utf8_lossy(&text[..text.len().min(300)]);
    assert!(took < most, "{took:?} for {} bytes: {shown:?}", text.len());
    script
}

/// Whether commands that are said to write to a pipe exist.
fn assert_places(script: &Script, text: &[u8]) {
    for simple in &script.commands {
        if let InputSource::Pipe(places) = &simple.input {
            let all = places.iter().all(|place| *place < script.commands.len());
            assert!(all, "{places:?}: {:?}", String::from_utf8_lossy(text));
        }
    }
}

/// A text that may be anything, and is mostly none.
pub(crate) fn any(rng: &mut Rng) -> Vec<u8> {
    match rng.below(4) {
        0 => bytes(rng),
        1 => changed(rng),
        _ => soup(rng, 60),
    }
}

fn bytes(rng: &mut Rng) -> Vec<u8> {
    let length = rng.below(200) as usize;
    rng.bytes(length)
}

/// A good text with several mistakes.
fn changed(rng: &mut Rng) -> Vec<u8> {
    let mut text = texts::random(rng);
    for _ in 0..rng.below(8) {
        text = texts::mistaken(rng, &text);
    }
    text.into_bytes()
}

fn soup(rng: &mut Rng, most: u64) -> Vec<u8> {
    let count = rng.below(most);
    let text: String = (0..count).map(|_| word(rng)).collect();
    text.into_bytes()
}

fn word(rng: &mut Rng) -> &'static str {
    let words = if rng.one_in(2) { WORDS } else { texts::SPECIAL };
    rng.pick(words).unwrap()
}
