//! The byte encoding of nodes: one encoding for each value, everything else refused.

/// Why bytes are not a node or a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct FormatError(
    /// What is wrong.
    pub &'static str,
);

/// Writes a number: seven bits a byte, the lowest first.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push((value as u8) | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Writes a number that may be negative.
pub fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Writes bytes behind their length.
pub fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Reads an encoding from its start.
#[derive(Debug)]
pub struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    /// Starts at the first byte.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next bytes, so many.
    #[inline]
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], FormatError> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or(FormatError("it is cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next bytes, as many as the array holds.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let (taken, rest) =
            self.0.split_first_chunk::<N>().ok_or(FormatError("it is cut short"))?;
        self.0 = rest;
        Ok(*taken)
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8, FormatError> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// The next number.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, FormatError> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                let shortest = byte != 0 || shift == 0;
                return if shortest { Ok(value) } else { Err(FormatError("a number is padded")) };
            }
        }
        Err(FormatError("a number is too large"))
    }

    /// The next number, which must fit into 32 bits.
    #[inline]
    pub fn varint_u32(&mut self) -> Result<u32, FormatError> {
        u32::try_from(self.varint()?).map_err(|_| FormatError("a number is too large"))
    }

    /// The next number that may be negative.
    #[inline]
    pub fn zigzag(&mut self) -> Result<i64, FormatError> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// The next bytes, which stand behind their length.
    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], FormatError> {
        let length = self.varint()?;
        self.take(usize::try_from(length).map_err(|_| FormatError("a length is too large"))?)
    }

    /// What is yet to be read.
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// How many bytes are yet to be read.
    pub fn left(&self) -> usize {
        self.0.len()
    }

    /// Fails unless everything was read.
    pub fn end(&self) -> Result<(), FormatError> {
        if self.0.is_empty() { Ok(()) } else { Err(FormatError("bytes follow its end")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, value);
            let mut input = Decoder::new(&out);
            assert_eq!(input.varint(), Ok(value));
            assert_eq!(input.end(), Ok(()));
        }
        for value in [0, -1, 1, i64::MIN, i64::MAX, -62_135_596_800] {
            let mut out = Vec::new();
            put_zigzag(&mut out, value);
            assert_eq!(Decoder::new(&out).zigzag(), Ok(value));
        }
    }

    #[test]
    fn other_spellings_of_a_number_are_refused() {
        let padded: &[u8] = &[0x80, 0x00];
        let too_large: &[u8] = &[0xff; 11];
        let overflow: &[u8] = &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        for bad in [padded, too_large, overflow, &[0x80], &[]] {
            assert!(Decoder::new(bad).varint().is_err(), "{bad:?}");
        }
    }
}
