//! Whether a file is the object of git that its name says.

use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZFlush, MZStatus};
use offshoot_tree::BlobReader;

use super::hex;
use crate::error::Result;
use crate::git::object_hash::ObjectHash;

/// How much is inflated at a time; a header is shorter.
const STEP: usize = 64 << 10;
const KINDS: [&[u8]; 4] = [b"commit", b"tree", b"blob", b"tag"];

/// Whether bytes are those of the object with this id: compressed, with a checksum that fits, as long as its header says, and with this hash. No
/// more than a step of it is in memory, so nothing is too long to be looked at.
pub(in crate::git) fn is_object_of(packed: &mut BlobReader, id: &[u8]) -> Result<bool> {
    let Some(mut hash) = ObjectHash::of_width(id.len() / 2) else { return Ok(false) };
    let mut state = InflateState::new_boxed(DataFormat::Zlib);
    let (mut input, mut output) = (vec![0; STEP], vec![0; STEP]);
    let (mut rest, mut length, mut expected) = (0..0, 0_u64, None);
    loop {
        if rest.is_empty() {
            rest = 0..packed.read(&mut input)?;
        }
        let step = inflate(&mut state, &input[rest.clone()], &mut output, MZFlush::None);
        rest.start += step.bytes_consumed;
        let inflated = &output[..step.bytes_written];
        hash.update(inflated);
        length += inflated.len() as u64;
        if expected.is_none() && !inflated.is_empty() {
            expected = announced(inflated);
        }
        let is_as_announced = expected.is_none_or(|expected| length <= expected);
        match step.status {
            Ok(MZStatus::StreamEnd) => {
                let is_whole = rest.is_empty() && packed.read(&mut input)? == 0;
                let is_named = hex(&hash.finish()).eq_ignore_ascii_case(id);
                return Ok(is_whole && Some(length) == expected && is_named);
            }
            Ok(_)
                if is_as_announced
                    && (length == 0 || expected.is_some())
                    && step.bytes_consumed + step.bytes_written > 0 => {}
            // It ends too early, is longer than it says, or is something else.
            Ok(_) | Err(_) => return Ok(false),
        }
    }
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
    use offshoot_tree::BlobId;

    use super::*;

    fn is_object(packed: &[u8], id: &[u8]) -> bool {
        let mut reader = BlobReader::of_bytes(BlobId::of(packed), packed.to_vec());
        is_object_of(&mut reader, id).unwrap()
    }

    fn id_of(bytes: &[u8], width: usize) -> Vec<u8> {
        let mut hash = ObjectHash::of_width(width).unwrap();
        hash.update(bytes);
        hex(&hash.finish())
    }

    #[test]
    fn only_whole_objects_with_their_hash_are_sound() {
        let long = [b"blob 200000\0".as_slice(), &[b'x'; 200_000]].concat();
        let packed = |bytes: &[u8]| compress_to_vec_zlib(bytes, 1);
        for good in [b"blob 0\0".as_slice(), b"blob 3\0abc", &long] {
            for width in [20, 32] {
                let id = id_of(good, width);
                assert!(is_object(&packed(good), &id));
                assert!(is_object(&packed(good), &id.to_ascii_uppercase()));
                let other = id_of(b"blob 3\0abd", width);
                assert!(!is_object(&packed(good), &other));
            }
            assert!(!is_object(&packed(good), b"abc"));
        }
        for bad in [b"".as_slice(), b"blob 3\0ab", b"blob 3\0abcd", b"blub 3\0abc", b"blob 3abc"] {
            assert!(!is_object(&packed(bad), &id_of(bad, 20)), "{bad:?}");
        }
        let (whole, id) = (packed(&long), id_of(&long, 20));
        for end in [0, 1, whole.len() / 2, whole.len() - 1] {
            assert!(!is_object(&whole[..end], &id), "{end}");
        }
        assert!(!is_object(b"garbage\n", &id));
        assert!(!is_object(&[whole.as_slice(), b"more"].concat(), &id));
    }

    #[test]
    fn known_ids_are_those_of_git() {
        let empty = compress_to_vec_zlib(b"blob 0\0", 1);
        for id in [
            b"e69de29bb2d1d6434b8b29ae775ad8c2e48c5391".as_slice(),
            b"473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
        ] {
            assert!(is_object(&empty, id));
        }
    }
}
