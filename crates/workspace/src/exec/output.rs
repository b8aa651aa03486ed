//! What a command prints, kept up to a limit.

/// The first bytes of an output, and how many more there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeptOutput {
    pub(crate) bytes: Vec<u8>,
    /// Bytes that came after the limit.
    pub(crate) dropped: u64,
}

impl KeptOutput {
    /// Takes more, up to `limit` bytes in all.
    pub(crate) fn push(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.bytes.len());
        let (kept, dropped) = bytes.split_at(room.min(bytes.len()));
        self.bytes.extend_from_slice(kept);
        self.dropped += dropped.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::KeptOutput;

    #[test]
    fn what_is_past_the_limit_is_counted() {
        let mut output = KeptOutput::default();
        output.push(b"abc", 5);
        output.push(b"defg", 5);
        output.push(b"h", 5);
        assert_eq!((output.bytes.as_slice(), output.dropped), (&b"abcde"[..], 3));
    }
}
