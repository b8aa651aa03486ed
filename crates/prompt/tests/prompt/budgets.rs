//! Never above the budget.

use fastrand::Rng;
use offshoot_prompt::{
    BuildError, CharacterEstimator, ContextSection, PromptRequest, SectionRecord, TokenEstimator,
    TrimRule,
};

use crate::support::{engine, task, wanted};

fn lines(count: usize) -> String {
    (0..count).map(|at| format!("line {at}.\n")).collect()
}

/// A token for each character.
fn characters(text: &str) -> usize {
    text.chars().count()
}

fn build(request: &PromptRequest) -> Result<(String, Vec<SectionRecord>), BuildError> {
    let built = engine(&task("task", "")).build_with(request, &characters)?;
    assert!(request.budget.is_none_or(|budget| built.text().chars().count() <= budget));
    Ok((built.text(), built.record.sections))
}

fn section(name: &str, text: &str) -> ContextSection {
    ContextSection::new(name, text).unfenced()
}

#[test]
fn a_section_is_cut_by_its_rule() {
    let text = lines(9);
    let of = |trim: TrimRule| {
        build(&wanted().with_context(section("c", &text).with_trim(trim)).with_budget(40))
    };
    assert_eq!(of(TrimRule::Tail).unwrap().0, "task\n\nline 0.\nline 1.\nline 2.\n[cut]");
    assert_eq!(of(TrimRule::Head).unwrap().0, "task\n\n[cut]\nline 6.\nline 7.\nline 8.\n");
    assert_eq!(of(TrimRule::Drop).unwrap().0, "task");
    assert_eq!(
        of(TrimRule::Keep).unwrap().0,
        "task",
        "what is kept and not required goes as a whole"
    );
    let marked =
        wanted().with_context(section("old", &text).with_trim(TrimRule::Summarise)).with_budget(60);
    let (text, sections) = build(&marked).unwrap();
    assert_eq!(text, "task\n\n[old: 72 tokens left out, to be summarised]");
    assert_eq!((sections[1].tokens_before, sections[1].cut), (72, Some(TrimRule::Summarise)));
    let record = engine(&task("task", "")).build_with(&marked, &characters).unwrap().record;
    assert_eq!(record.to_summarise, ["old"]);
}

#[test]
fn the_lowest_priority_gives_way_first_and_the_later_one_among_equals() {
    let text = lines(5);
    let request = |priorities: [u8; 3], budget: usize| {
        let sections = ["a", "b", "c"].iter().zip(priorities).map(|(name, priority)| {
            section(name, &text).with_priority(priority).with_trim(TrimRule::Drop)
        });
        let request = sections.fold(wanted(), PromptRequest::with_context);
        let (_, sections) = build(&request.with_budget(budget)).unwrap();
        let left = sections.into_iter().filter(|section| section.cut.is_none());
        left.map(|section| section.name).collect::<Vec<_>>()
    };
    assert_eq!(request([1, 2, 3], 200), ["t", "a", "b", "c"]);
    assert_eq!(request([1, 2, 3], 100), ["t", "b", "c"]);
    assert_eq!(request([3, 1, 2], 60), ["t", "a"]);
    assert_eq!(request([7, 7, 7], 100), ["t", "a", "b"]);
    assert_eq!(request([7, 7, 7], 10), ["t"]);
}

#[test]
fn minimum_and_maximum_hold() {
    let text = lines(10);
    let tokens = |section: ContextSection, budget: Option<usize>| {
        let mut request = wanted().with_context(section);
        request.budget = budget;
        build(&request).map(|(_, sections)| sections[1].tokens)
    };
    let c = || section("c", &text);
    assert_eq!(tokens(c(), None), Ok(80));
    // A maximum holds where there is room as well.
    let most = tokens(c().with_tokens(0, Some(50)), None).unwrap();
    assert!((40..=50).contains(&most), "{most}");
    assert_eq!(tokens(c().with_tokens(0, Some(50)).with_trim(TrimRule::Drop), None), Ok(0));
    let kept = tokens(c().with_tokens(0, Some(50)).with_trim(TrimRule::Keep), None);
    assert_eq!(
        kept,
        Err(BuildError::SectionTooLarge { section: "c".to_owned(), tokens: 80, most: 50 })
    );
    // Below its minimum it goes.
    assert!(tokens(c().with_tokens(20, None), Some(40)).unwrap() >= 20);
    assert_eq!(tokens(c().with_tokens(40, None), Some(40)), Ok(0));
    // What has to stay is an error instead.
    let error = tokens(c().with_tokens(40, None).required(), Some(40)).unwrap_err();
    assert!(
        matches!(&error, BuildError::TooLarge { budget: 40, largest, .. } if largest == "c"),
        "{error}"
    );
    assert!(tokens(c().required(), Some(40)).unwrap() > 0);
}

#[test]
fn templates_stay_as_they_are_unless_they_say_otherwise() {
    let long = lines(10);
    let small = |more: &str| {
        let text = task(&long, "").replace("layer =", &format!("{more}\nlayer ="));
        engine(&text).build_with(&wanted().with_budget(50), &characters).map(|built| built.text())
    };
    assert!(matches!(small(""), Err(BuildError::TooLarge { budget: 50, .. })));
    assert!(small("trim = \"tail\"").unwrap().ends_with("[cut]"));
    assert!(small("trim = \"head\"").unwrap().starts_with("[cut]"));
    assert_eq!(small("required = false").unwrap(), "");
    assert_eq!(small("trim = \"drop\"\nrequired = false").unwrap(), "");
    assert!(matches!(small("trim = \"drop\""), Err(BuildError::TooLarge { .. })));
    assert!(matches!(small("trim = \"tail\"\nmin_tokens = 60"), Err(BuildError::TooLarge { .. })));
    assert!(matches!(small("max_tokens = 40"), Err(BuildError::SectionTooLarge { most: 40, .. })));
    assert!(small("max_tokens = 20\ntrim = \"tail\"").unwrap().len() <= 20);
    assert!(small("trim = \"summarise\"").unwrap().contains("to be summarised"));
    // A template goes after all context of lower priority, and before that of a higher one.
    let of = |priority: u8| {
        let text = task(&long, "").replace(
            "layer =",
            &format!("priority = {priority}\nrequired = false\ntrim = \"drop\"\nlayer ="),
        );
        let request =
            wanted().with_context(section("c", &long).with_trim(TrimRule::Drop)).with_budget(90);
        let built = engine(&text).build_with(&request, &characters).unwrap();
        built.record.sections.iter().map(|section| section.cut.is_none()).collect::<Vec<_>>()
    };
    assert_eq!(of(200), [true, false]);
    assert_eq!(of(50), [false, true]);
}

/// A fence is never cut, and counts.
#[test]
fn fences_stay_whole() {
    for budget in 0..400 {
        let request =
            wanted().with_context(ContextSection::new("c", &lines(30))).with_budget(budget);
        match build(&request) {
            Ok((text, _)) => assert_eq!(
                text.matches("<data-").count(),
                text.matches("</data-").count(),
                "{budget}"
            ),
            Err(error) => assert!(
                budget < 4 && matches!(error, BuildError::TooLarge { .. }),
                "{budget} {error}"
            ),
        }
    }
}

/// Counts in ways that do not add up, and not only upwards.
fn odd(rng: &mut Rng) -> Box<dyn TokenEstimator> {
    let (per, extra) = (rng.usize(1..6), rng.usize(..20));
    match rng.u8(..5) {
        0 => Box::new(CharacterEstimator::new(per)),
        1 => Box::new(move |text: &str| text.len() / per),
        2 => Box::new(move |text: &str| text.split_whitespace().count() + extra),
        3 => Box::new(move |text: &str| {
            text.lines().map(|line| line.len() * line.len()).sum::<usize>()
        }),
        _ => {
            Box::new(move |text: &str| blake3::hash(text.as_bytes()).as_bytes()[0] as usize + extra)
        }
    }
}

#[test]
fn nothing_is_ever_above_the_budget_and_the_same_is_always_the_same() {
    let seed = fastrand::u64(..);
    let mut rng = Rng::with_seed(seed);
    let words = ["one", "two.", "three!", "\n", "\n\n", "vier", "五。", "…", " "];
    let mut built = 0;
    for _ in 0..400 {
        let mut request = wanted().with_budget(rng.usize(..300));
        for at in 0..rng.usize(..6) {
            let count = rng.usize(..60);
            let text: Vec<&str> = (0..count).map(|_| words[rng.usize(..words.len())]).collect();
            let least = rng.usize(..30);
            let most = rng.bool().then(|| least + rng.usize(..60));
            let mut section = ContextSection::new(&at.to_string(), &text.join(" "))
                .with_priority(rng.u8(..4))
                .with_trim(TrimRule::ALL[rng.usize(..TrimRule::ALL.len())])
                .with_tokens(least, most);
            section.fenced = rng.bool();
            section.rule.required = rng.u8(..4) == 0;
            request = request.with_context(section);
        }
        let estimator = odd(&mut rng);
        let engine = engine(&task("Do it.", ""));
        let one = engine.build_with(&request, estimator.as_ref());
        let other = engine.build_with(&request, estimator.as_ref());
        assert_eq!(one, other, "seed {seed}");
        let Ok(prompt) = one else { continue };
        built += 1;
        let budget = request.budget.unwrap();
        let sum: usize = prompt.record.sections.iter().map(|section| section.tokens).sum();
        assert!(
            sum <= budget && prompt.record.tokens <= budget,
            "seed {seed}: {:?}",
            prompt.record
        );
        assert!(estimator.estimate(&prompt.text()) <= budget, "seed {seed}: {:?}", prompt.record);
        for (section, record) in request.context.iter().zip(&prompt.record.sections[1..]) {
            let rule = section.rule;
            assert!(
                rule.max_tokens.is_none_or(|most| record.tokens <= most),
                "seed {seed}: {record:?}"
            );
            let is_cut = matches!(record.cut, Some(TrimRule::Head | TrimRule::Tail));
            assert!(!is_cut || record.tokens >= rule.min_tokens, "seed {seed}: {record:?}");
            assert!(
                !rule.required || record.cut != Some(TrimRule::Drop),
                "seed {seed}: {record:?}"
            );
            assert!(
                record.cut.is_none_or(|cut| cut == rule.trim || cut == TrimRule::Drop),
                "seed {seed}"
            );
        }
    }
    assert!(built > 100, "seed {seed}: only {built} fitted");
}
