//! A small seeded generator of random numbers, so that a failure can be repeated.

use std::env;

/// The environment variable that [`seed_from_env_or`] reads.
pub const SEED_VARIABLE: &str = "OFFSHOOT_SEED";

/// SplitMix64: 64 bits of state, good enough to choose test cases, the same on every machine.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// A generator whose whole sequence follows from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 up to but without `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The high half of the product is uniform to within 2^-64 * limit, which no test can see.
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// True once in `n` times on average; always if `n` is 0 or 1.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of `items`, or nothing if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u64) as usize)
    }

    /// Puts `items` into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }

    /// Fills `buffer` with random bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            let bytes = self.next_u64().to_le_bytes();
            chunk.copy_from_slice(&bytes[..chunk.len()]);
        }
    }

    /// `length` random bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        self.fill(&mut buffer);
        buffer
    }
}

/// The seed in the environment variable `OFFSHOOT_SEED` (decimal, or hexadecimal after `0x`), or
/// `default` if it is not set.
///
/// # Panics
///
/// If the variable is set to anything else: a run that was meant to repeat another must not
/// silently be a different one.
pub fn seed_from_env_or(default: u64) -> u64 {
    match env::var(SEED_VARIABLE) {
        Ok(text) => {
            parse(&text).unwrap_or_else(|| panic!("{SEED_VARIABLE}={text} is not a 64-bit number"))
        }
        Err(env::VarError::NotPresent) => default,
        Err(error) => panic!("{SEED_VARIABLE}: {error}"),
    }
}

fn parse(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_is_splitmix64() {
        // The reference values for seed 1234567 published with the algorithm.
        let mut rng = Rng::new(1_234_567);
        assert_eq!(rng.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(rng.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn below_reaches_all_values_and_no_others() {
        let mut rng = Rng::new(1);
        let mut seen = [0_u32; 6];
        for _ in 0..6000 {
            seen[rng.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.pick::<u8>(&[]), None);
    }

    #[test]
    fn shuffle_keeps_the_items() {
        let mut items: Vec<u32> = (0..100).collect();
        Rng::new(7).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn seeds_are_decimal_or_hexadecimal() {
        assert_eq!(parse("10"), Some(10));
        assert_eq!(parse("0x10"), Some(16));
        assert_eq!(parse("ten"), None);
        assert_eq!(parse(""), None);
    }
}
