//! What is wrong with files is told with its place.

use offshoot_governance::{MAX_RULES, MAX_RULES_FILE};

use crate::support::{engine, rule, rule_named, try_engine, user};

/// Everything that is wrong with a file that begins with its version.
fn problems(text: &str) -> String {
    try_engine(vec![user(text)]).map_or_else(|error| error.to_string(), |_| "nothing".to_owned())
}

#[test]
fn every_mistake_has_its_place() {
    let example = "{ action = \"use_tool\" }";
    let fine = "target = \"*\"";
    let with = |decision: &str, conditions: &str| rule(decision, conditions, example);
    for (text, place, message) in [
        (with("alow", fine), "4:12", "`alow` is no decision"),
        (with("deny", ""), "2:1", "has no condition"),
        (with("deny", "colour = 1"), "5:1", "unknown field `colour`"),
        (with("deny", "action = \"use\""), "5:10", "`use` is no action"),
        (with("deny", "action = []"), "5:10", "an empty list"),
        (with("deny", "target = \"\""), "5:10", "an empty pattern"),
        (
            with("deny", "target = 3"),
            "5:10",
            "expected a text or a list of texts, not the number 3",
        ),
        (with("deny", "labels = []"), "5:10", "an empty list"),
        (with("deny", "min_sensitivity = \"x\""), "5:19", "`x` is no sensitivity"),
        (with("deny", "min_cost = -1"), "5:12", "not below 0"),
        (with("deny", "min_cost = 2\nmax_cost = 1"), "2:1", "`min_cost` is above `max_cost`"),
        (
            with("deny", "min_sensitivity = \"secret\"\nmax_sensitivity = \"public\""),
            "2:1",
            "can never fit",
        ),
        (with("allow", "min_sensitivity = \"secret\""), "2:1", "can never fit"),
        (with("deny", "labels = \"a\"\nwithout_labels = \"a\""), "2:1", "can never fit"),
        (with("deny", "target = \"*\"\nask = \"person:x\""), "6:7", "terms of an escalation"),
        (with("escalate", "target = \"*\"\nask = \"somebody\""), "6:7", "`somebody` is nobody"),
        (with("escalate", "target = \"*\"\nwithin_s = 0"), "6:12", "0 seconds"),
        (with("escalate", "target = \"*\"\nwithin_s = 2592001"), "6:12", "2592001 seconds"),
        (with("escalate", "target = \"*\"\nfallback = \"ask\""), "6:12", "`ask` is no fallback"),
        (rule("deny", "target = \"a\"", example), "6:12", "does not fit this example"),
        (
            format!("{}not_matches = [{{ action = \"spend\" }}]", with("deny", fine)),
            "7:16",
            "fits this example",
        ),
        (rule("deny", fine, ""), "2:1", "missing field `matches`"),
        (rule("deny", fine, "{ target = \"x\" }"), "6:12", "an example needs an `action`"),
        (rule("deny", fine, "{ action = \"x\" }"), "6:12", "`x` is no action"),
        (rule("deny", fine, "{ action = \"spend\", cost = -1 }"), "6:12", "`-1` is no cost"),
        (rule("deny", fine, "{ action = \"spend\", cost = \"none\" }"), "6:12", "is no cost"),
        (
            rule("deny", fine, "{ action = \"spend\", sensitivity = \"none\" }"),
            "6:12",
            "is no sensitivity",
        ),
        (
            rule("deny", fine, "{ action = \"spend\", colour = 1 }"),
            "6:32",
            "unknown field `colour`",
        ),
        (with("deny", fine) + &with("deny", fine), "8:8", "two rules with the name `r`"),
        ("[[rule]]\ndecision = \"deny\"".to_owned(), "2:1", "missing field `name`"),
        ("[[rule]]\nname = \"x\"".to_owned(), "2:1", "missing field `decision`"),
        ("[[rule]]\nname = \" \"".to_owned(), "3:8", "a rule needs a name"),
        ("[defaults]\nspend = \"no\"".to_owned(), "3:9", "`no` is no decision"),
        ("[defaults]\nfly = \"deny\"".to_owned(), "3:1", "unknown field `fly`"),
        ("[escalation]\nwithin_s = \"1h\"".to_owned(), "3:12", "expected a whole number"),
        ("[escalation]\nask = \"x\"".to_owned(), "3:7", "`x` is nobody"),
        ("[[rule]".to_owned(), "2:", ""),
    ] {
        let found = problems(&text);
        assert!(found.starts_with(&format!("user.toml:{place}")), "{text}\n{found}");
        assert!(found.contains(message), "{text}\n{found}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = rule_named("a", "no", "target = \"*\"", "") + &rule_named("b", "deny", "", "");
    assert_eq!(problems(&text).lines().count(), 2);
}

#[test]
fn versions_and_sizes_are_limited() {
    let of = |text: &str| {
        let mut source = user("");
        source.toml.as_mut().unwrap().text = text.to_owned();
        try_engine(vec![source]).map(|_| ()).map_err(|error| error.to_string())
    };
    assert!(of("").unwrap_err().contains("missing field `version`"));
    assert!(of("version = 2").unwrap_err().contains("version 2 is not known"));
    let padded = |length: usize| format!("version = 1\n#{}", "x".repeat(length - 13));
    assert!(of(&padded(MAX_RULES_FILE)).is_ok());
    assert!(of(&padded(MAX_RULES_FILE + 1)).unwrap_err().contains("divide it"));
}

/// Whatever is in a file, it is read or refused.
#[test]
fn any_file_may_come() {
    let seed = fastrand::u64(..);
    let mut rng = fastrand::Rng::with_seed(seed);
    let good = rule(
        "escalate",
        "target = [\"a*\", \"?\\\\b\"]\nmax_cost = 3\nask = \"person:p\"",
        "{ action = \"spend\", target = \"a\" }",
    );
    assert_eq!(problems(&good), "nothing");
    for _ in 0..2_000 {
        let mut characters: Vec<char> = good.chars().collect();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..characters.len().max(1));
            match rng.u8(..3) {
                _ if characters.len() < 2 => {}
                0 => drop(characters.remove(at)),
                1 => characters
                    .insert(at, ['"', '[', '{', '\\', 'é', '\n', '9', '-'][rng.usize(..8)]),
                _ => characters.truncate(at.max(1)),
            }
        }
        let text: String = characters.into_iter().collect();
        assert!(!problems(&text).is_empty(), "seed {seed}");
    }
}

#[test]
fn the_number_of_rules_is_limited() {
    let many = |count: usize, from: usize| {
        let rules = (from..from + count).map(|at| {
            format!("[[rule]]\nname=\"{at}\"\ndecision=\"deny\"\nlabels=\"a\"\nmatches=[{{action=\"spend\",labels=[\"a\"]}}]\n")
        });
        user(&rules.collect::<String>())
    };
    let half = MAX_RULES / 2;
    let sources = vec![many(half, 0), many(half, half)];
    assert_eq!(engine(sources.clone()).rule_count(), MAX_RULES);
    assert_eq!(engine(sources.clone()).example_count(), MAX_RULES);
    let more = [sources, vec![many(1, 0)]].concat();
    assert!(try_engine(more).unwrap_err().to_string().contains("more than"));
}
