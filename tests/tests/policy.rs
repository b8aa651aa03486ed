//! What policy says of a text for the shell, held against what real shells and real programs do with it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

#[path = "policy/agreement.rs"]
mod agreement;
#[path = "policy/awkward.rs"]
mod awkward;
#[path = "policy/bounds.rs"]
mod bounds;
#[path = "policy/generate.rs"]
mod generate;
#[path = "policy/judge.rs"]
mod judge;
#[path = "policy/laboratory.rs"]
mod laboratory;
#[path = "policy/second.rs"]
mod second;
#[path = "policy/shells.rs"]
mod shells;
#[path = "policy/texts.rs"]
mod texts;
#[path = "policy/tools.rs"]
mod tools;
#[path = "policy/truth.rs"]
mod truth;
#[path = "policy/words.rs"]
mod words;

use std::collections::BTreeMap;

use offshoot_needs::needs;
use offshoot_policy::parse_text;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::tier;

use judge::Judgement;
use shells::{SHELLS, Scratch};

/// So many texts do something on average.
const ENOUGH: u64 = 100;

/// Random texts run in real shells whose search path has nothing but programs that note how they were called. Whatever ran,
/// and every file that was made, must be in what the parser found.
#[needs("bash", "dash")]
#[test]
fn shells_run_nothing_that_the_parser_did_not_see() {
    let seed = seed_from_env_or(0x0ff5_4007);
    let cases = tier::cases(200, 20_000);
    println!("seed {seed:#x}, {cases} texts");
    let mut tally = Tally::default();
    for case in 0..cases {
        let seed = seed.wrapping_add(case);
        tally.judge(&format!("seed {seed:#x}"), &texts::random(&mut Rng::new(seed)));
        if tally.missed.len() > 8 {
            break;
        }
    }
    let Tally { clear, programs, files, missed } = tally;
    println!("{clear} runs judged, {programs} programs and {files} files seen");
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
    // A test in which nothing runs, or in which all is called unclear, would show nothing; one text that is tried again may do little.
    if cases >= ENOUGH {
        assert!(clear > cases, "{clear} of {} runs judged", cases * 3);
        assert!(programs > cases && files > cases / 4, "{programs} programs, {files} files");
    }
}

#[needs("bash", "dash")]
#[test]
fn texts_that_are_easily_misread_are_not() {
    let mut tally = Tally::default();
    for text in awkward::TEXTS {
        let unclear = parse_text(text.as_bytes()).unclear;
        if !unclear.is_empty() {
            println!(
                "{text:?}: {:?}",
                unclear.iter().map(|unclear| &unclear.why).collect::<Vec<_>>()
            );
        }
        tally.judge("by hand", text);
    }
    assert!(tally.missed.is_empty(), "{}", tally.missed.join("\n\n"));
    let runs = awkward::TEXTS.len() as u64 * 3;
    assert!(tally.clear > runs / 2, "{} of {runs} runs judged", tally.clear);
}

#[derive(Default)]
struct Tally {
    clear: u64,
    programs: u64,
    files: u64,
    missed: Vec<String>,
}

impl Tally {
    /// Parses a text, runs it in all shells and compares.
    fn judge(&mut self, name: &str, text: &str) {
        let script = parse_text(text.as_bytes());
        for shell in SHELLS {
            let seen = Scratch::new().run(shell, text);
            match judge::judge(&script, &seen) {
                Judgement::Unclear => {}
                Judgement::Seen => self.clear += 1,
                Judgement::Missed(what) => self.missed.push(format!(
                    "{shell:?} did what the parser did not see: {what}\n{name}\n{text}\n---\n{}",
                    judge::shown(&script)
                )),
            }
            self.programs += seen.programs.len() as u64;
            self.files += seen.files.len() as u64;
        }
    }
}

/// Most random texts are understood: those that are not are not compared with anything.
#[test]
fn most_texts_are_understood() {
    let mut reasons = BTreeMap::new();
    let mut clear = 0;
    for seed in 0..2000 {
        let text = texts::random(&mut Rng::new(seed));
        let script = parse_text(text.as_bytes());
        clear += u64::from(script.unclear.is_empty());
        for unclear in script.unclear {
            *reasons.entry(unclear.why).or_insert(0) += 1;
        }
    }
    println!("{clear} of 2000; {reasons:#?}");
    assert!(clear > 1000, "{clear}");
}

/// The comparison can fail: each of these is something that a script did and the parser did not see.
#[needs("bash", "dash")]
#[test]
fn what_was_not_seen_is_noticed() {
    let seen = |text: &str, shell: &[&str]| Scratch::new().run(shell, text);
    let missed = |said: &str, done: &str, shell: &[&str]| {
        let judgement = judge::judge(&parse_text(said.as_bytes()), &seen(done, shell));
        assert!(matches!(judgement, Judgement::Missed(_)), "{said} / {done}: {judgement:?}");
    };
    for shell in SHELLS {
        missed("c0", "c1", shell);
        missed("c0 a", "c0 b", shell);
        missed("c0 a", "c0 a b", shell);
        missed("c0 \"$x\"", "c0 a b", shell);
        missed("c0 >f0", "c0 >f1", shell);
        missed("c0", "c0 $(c0 a)", shell);
    }
}
