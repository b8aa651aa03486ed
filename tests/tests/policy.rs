//! What policy says of a text for the shell, held against what real shells do with it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]
#![expect(
    clippy::print_stdout,
    reason = "what was run, and with which seed, is for people to read"
)]

#[path = "policy/judge.rs"]
mod judge;
#[path = "policy/shells.rs"]
mod shells;
#[path = "policy/texts.rs"]
mod texts;

use offshoot_policy::parse_text;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::skip::{Feature, need};
use offshoot_tests::tier;

use judge::Judgement;
use shells::{SHELLS, Scratch};

/// Random texts run in real shells whose search path has nothing but programs that note how they were called. Whatever ran,
/// and every file that was made, must be in what the parser found.
#[test]
fn shells_run_nothing_that_the_parser_did_not_see() {
    if !need(Feature::Program("bash")) || !need(Feature::Program("dash")) {
        return;
    }
    let seed = seed_from_env_or(0x0ff5_4007);
    let cases = tier::cases(200, 20_000);
    println!("seed {seed:#x}, {cases} texts");
    let (mut clear, mut programs, mut files) = (0, 0, 0);
    for case in 0..cases {
        let mut rng = Rng::new(seed.wrapping_add(case));
        let text = texts::random(&mut rng);
        let script = parse_text(text.as_bytes());
        for shell in SHELLS {
            let scratch = Scratch::new();
            let seen = scratch.run(shell, &text);
            match judge::judge(&script, &seen) {
                Judgement::Unclear => {}
                Judgement::Seen => clear += 1,
                Judgement::Missed(what) => panic!(
                    "{shell:?} did what the parser did not see: {what}\nseed {:#x}\n{text}\n---\n{}",
                    seed.wrapping_add(case),
                    judge::shown(&script)
                ),
            }
            programs += seen.programs.len();
            files += seen.files.len();
        }
    }
    println!("{clear} runs judged, {programs} programs and {files} files seen");
    // A test in which nothing runs, or in which all is called unclear, would show nothing.
    assert!(clear > cases, "{clear} of {} runs judged", cases * 3);
    assert!(
        programs as u64 > cases && files as u64 > cases / 4,
        "{programs} programs, {files} files"
    );
}

/// The comparison can fail: each of these is something that a script did and the parser did not see.
#[test]
fn what_was_not_seen_is_noticed() {
    let seen = |text: &str, shell: &[&str]| Scratch::new().run(shell, text);
    if !need(Feature::Program("bash")) || !need(Feature::Program("dash")) {
        return;
    }
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
