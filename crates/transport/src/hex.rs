//! Bytes as hexadecimal digits.

/// Bytes as digits.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Digits as bytes, if they are exactly so many.
pub(crate) fn decode<const N: usize>(digits: &str) -> Option<[u8; N]> {
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let value = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(value(pair[0])? * 16 + value(pair[1])?).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_they_are_written() {
        assert_eq!(decode(&encode(&[0, 255, 0x1a])), Some([0, 255, 0x1a]));
        for bad in ["", "00", "0g0000", "000000000", "\u{e4}\u{e4}\u{e4}"] {
            assert_eq!(decode::<3>(bad), None, "{bad}");
        }
    }
}
