//! Whether a file is an object of git at all.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};

/// What is longer than this when it is inflated is looked at no further.
const FAR_ENOUGH: u64 = 256 << 20;
/// How much is inflated at a time; a header is shorter.
const STEP: usize = 64 << 10;
const KINDS: [&[u8]; 4] = [b"commit", b"tree", b"blob", b"tag"];

/// Whether bytes are those of an object with a file of its own: compressed, with a checksum that fits, and as long as its header says.
pub(super) fn is_sound(packed: &[u8]) -> bool {
    is_sound_for(packed, FAR_ENOUGH)
}

/// The same, as far as the first bytes show when they are inflated.
fn is_sound_for(packed: &[u8], far_enough: u64) -> bool {
    let mut state = InflateState::new_boxed(DataFormat::Zlib);
    let mut buffer = vec![0; STEP];
    let (mut rest, mut length, mut expected) = (packed, 0_u64, None);
    while length < far_enough {
        let step = inflate(&mut state, rest, &mut buffer, MZFlush::None);
        rest = &rest[step.bytes_consumed..];
        length += step.bytes_written as u64;
        if expected.is_none() && step.bytes_written > 0 {
            expected = announced(&buffer[..step.bytes_written]);
            if expected.is_none() {
                return false;
            }
        }
        match step.status {
            Ok(MZStatus::StreamEnd) => return rest.is_empty() && Some(length) == expected,
            Ok(_) if step.bytes_consumed > 0 || step.bytes_written > 0 => {}
            // It ends too early, or is something else.
            Ok(_) | Err(_) => return false,
        }
    }
    true
}

/// How long an object is with its header, by what the header says.
fn announced(start: &[u8]) -> Option<u64> {
    let end = start.iter().take(64).position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&start[..end]).ok()?;
    let (kind, length) = text.split_once(' ')?;
    let length: u64 = length.parse().ok().filter(|_| KINDS.contains(&kind.as_bytes()))?;
    length.checked_add(end as u64 + 1)
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    #[test]
    fn only_whole_objects_are_sound() {
        let long = [b"blob 200000\0".as_slice(), &[b'x'; 200_000]].concat();
        let packed = |bytes: &[u8]| compress_to_vec_zlib(bytes, 1);
        for good in [b"blob 0\0".as_slice(), b"blob 3\0abc", &long] {
            assert!(is_sound(&packed(good)));
        }
        for bad in [b"".as_slice(), b"blob 3\0ab", b"blob 3\0abcd", b"blub 3\0abc", b"blob 3abc"] {
            assert!(!is_sound(&packed(bad)), "{bad:?}");
        }
        let whole = packed(&long);
        for end in [0, 1, whole.len() / 2, whole.len() - 1] {
            assert!(!is_sound(&whole[..end]), "{end}");
        }
        assert!(!is_sound(b"garbage\n"));
        // Its end is looked at only where that is near.
        assert!(is_sound_for(&whole[..whole.len() - 1], 100_000));
        assert!(!is_sound_for(&whole[..whole.len() - 1], 300_000));
        assert!(!is_sound_for(b"garbage\n", 4));
        assert!(!is_sound(&[whole.as_slice(), b"more"].concat()));
    }
}
