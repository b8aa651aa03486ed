//! "Did you mean".

use offshoot_vault::Id;

/// The names most like what was typed, best first, at most three.
pub fn similar<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(typed, name), name))
        .filter(|(score, name)| *score > 0.85 || is_a_slip(typed, name))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

/// The ids whose start is a slip of the finger away from what was typed, best first, at most three.
pub(crate) fn similar_ids(typed: &str, ids: impl IntoIterator<Item = Id>) -> Vec<String> {
    let typed = typed.to_ascii_lowercase();
    let distance = |id: &Id| {
        let text = id.to_string();
        let start = text.get(..typed.len()).unwrap_or(&text);
        let is_near = !typed.is_empty() && is_a_slip(&typed, start);
        is_near.then(|| strsim::osa_distance(&typed, start))
    };
    let near = ids.into_iter().filter_map(|id| Some((distance(&id)?, id)));
    let mut near: Vec<(usize, Id)> = near.collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, id)| id.short()).collect()
}

/// The name that was meant, where what was typed is a slip of the finger away from one. Names that differ in their numbers alone
/// are meant to.
pub(crate) fn slip_of<'a>(
    typed: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const SHORTEST: usize = 3;
    let letters = |name: &str| -> String { name.chars().filter(|c| c.is_alphabetic()).collect() };
    let is_long = |name: &str| letters(name).chars().count() >= SHORTEST;
    let is_meant =
        |name: &&str| is_long(name) && letters(name) != letters(typed) && is_a_slip(typed, name);
    names.into_iter().filter(|_| is_long(typed)).find(is_meant)
}

/// Short names are a slip apart where one letter is; longer ones where one in four is.
fn is_a_slip(typed: &str, name: &str) -> bool {
    let length = typed.chars().count().min(name.chars().count());
    strsim::osa_distance(typed, name) <= (length / 4).max(1)
}

#[cfg(test)]
mod tests {
    use offshoot_vault::Id;

    use super::{similar, similar_ids, slip_of};

    #[test]
    fn ids_with_a_wrong_character_are_suggested() {
        let ids = [1_700_000_000_000, 1_800_000_000_000].map(Id::at);
        let mut typed = ids[0].short();
        typed.replace_range(11.., if typed.ends_with('7') { "8" } else { "7" });
        assert_eq!(similar_ids(&typed.to_uppercase(), ids), [ids[0].short()]);
        for stranger in ["", "zzzz", "feature-login", "änderung"] {
            assert!(similar_ids(stranger, ids).is_empty(), "{stranger}");
        }
    }

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let names = ["feature-login", "feature-logout", "main"];
        assert_eq!(similar("feature-lgin", names)[0], "feature-login");
        assert_eq!(similar("mian", names), ["main"]);
        assert!(similar("zzz", names).is_empty());
        assert_eq!(similar("fxi", ["fix", "one"]), ["fix"]);
        assert!(similar("nope", ["fix", "one"]).is_empty());
    }

    #[test]
    fn numbered_and_short_names_are_no_slips() {
        assert_eq!(slip_of("fxi", ["one", "fix"]), Some("fix"));
        assert_eq!(slip_of("feature-lgin", ["feature-login"]), Some("feature-login"));
        for (typed, other) in [("fix-2", "fix-1"), ("fix2", "fix"), ("a", "b"), ("bob", "ada")] {
            assert_eq!(slip_of(typed, [other]), None, "{typed} {other}");
        }
    }
}
