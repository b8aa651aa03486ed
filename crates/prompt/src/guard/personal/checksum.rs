//! Whether digits check one another.

/// The last digit of such a number is right.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(*digit) << (at % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The remainder by 97 of a text of digits and letters, of which `A` is 10 and `Z` 35.
pub(super) fn mod97(characters: impl Iterator<Item = char>) -> u32 {
    characters.filter_map(|c| c.to_digit(36)).fold(0, |remainder, value| {
        let shifted = if value > 9 { remainder * 100 } else { remainder * 10 };
        (shifted + value) % 97
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_right() {
        assert!(luhn(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2]));
        assert!(!luhn(&[4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 2, 4, 3]));
        assert_eq!(mod97("3214282912345698765432161182".chars()), 1);
    }
}
