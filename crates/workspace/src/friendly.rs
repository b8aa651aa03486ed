//! Names for workspaces that nobody named.

use offshoot_store::Id;

const ADJECTIVES: [&str; 32] = [
    "amber", "bold", "brisk", "calm", "clear", "coral", "crisp", "deft", "eager", "fair", "fleet",
    "fresh", "gentle", "glad", "green", "keen", "light", "lively", "lucid", "mellow", "neat",
    "noble", "quick", "quiet", "rapid", "sharp", "silver", "steady", "sunny", "swift", "vivid",
    "warm",
];
const NOUNS: [&str; 32] = [
    "alder", "aspen", "bamboo", "birch", "cedar", "cherry", "clover", "cypress", "elder", "fern",
    "fig", "hazel", "heather", "holly", "ivy", "juniper", "larch", "laurel", "lilac", "linden",
    "maple", "moss", "myrtle", "oak", "olive", "pine", "poplar", "reed", "rowan", "sage", "willow",
    "yew",
];

/// A name such as `brisk-willow` that `taken` does not know.
pub fn friendly_name(taken: impl Fn(&str) -> bool) -> String {
    let start = usize::from_le_bytes(random_bytes());
    let all = ADJECTIVES.len() * NOUNS.len();
    let nth = |n: usize| {
        let n = start.wrapping_add(n * 397) % all;
        format!("{}-{}", ADJECTIVES[n / NOUNS.len()], NOUNS[n % NOUNS.len()])
    };
    let free = (0..all).map(nth).find(|name| !taken(name));
    // With every pair in use a number tells them apart.
    free.or_else(|| (2..).map(|n| format!("{}-{n}", nth(0))).find(|name| !taken(name)))
        .unwrap_or_else(|| Id::random().to_string())
}

fn random_bytes() -> [u8; 8] {
    let id = Id::random();
    let (_, bytes) = id.as_bytes().split_last_chunk::<8>().expect("an id has 16 bytes");
    *bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_never_run_out_and_are_never_taken() {
        let mut taken = std::collections::HashSet::new();
        for _ in 0..1100 {
            let name = friendly_name(|name| taken.contains(name));
            assert_eq!(offshoot_vault::check_name(&name), Ok(()));
            assert!(taken.insert(name));
        }
    }
}
