//! Takes bytes apart. Nothing here trusts them: what ends too early or makes no sense is `None`.

/// Bytes of which the beginning was read. Texts are parts of them; lists are made once and stay for as long as the process lives.
#[derive(Clone, Copy)]
pub(crate) struct Reader {
    rest: &'static [u8],
    /// The texts of a record that were not read yet, one behind the other.
    texts: &'static str,
}

impl Reader {
    pub(crate) const fn new(rest: &'static [u8]) -> Self {
        Self { rest, texts: "" }
    }

    /// A record starts with all its texts, so that they are found to be texts at one go.
    pub(crate) fn record(bytes: &'static [u8]) -> Option<Self> {
        let mut reader = Self::new(bytes);
        let length = reader.number()?;
        reader.texts = std::str::from_utf8(reader.take(length)?).ok()?;
        Some(reader)
    }

    /// What was not read yet.
    pub(crate) const fn rest(self) -> &'static [u8] {
        self.rest
    }

    /// So many bytes as they are.
    pub(crate) fn take(&mut self, length: usize) -> Option<&'static [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// Rows of one width.
    pub(crate) fn rows<const WIDTH: usize>(
        &mut self,
        count: usize,
    ) -> Option<&'static [[u8; WIDTH]]> {
        Some(self.take(count.checked_mul(WIDTH)?)?.as_chunks().0)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    /// Four bytes, the lowest first.
    pub(crate) fn offset(&mut self) -> Option<usize> {
        let (bytes, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    }

    /// One to three bytes with seven bits each, the lowest first; the eighth says that there is another.
    pub(crate) fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in [0, 7, 14] {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number that says how long the next text is.
    pub(crate) fn text(&mut self) -> Option<&'static str> {
        let (text, texts) = self.texts.split_at_checked(self.number()?)?;
        self.texts = texts;
        Some(text)
    }

    pub(crate) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A flag, and what it speaks of where it is set.
    pub(crate) fn option<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        if self.flag()? { read(self).map(Some) } else { Some(None) }
    }

    /// A number, and as many things.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<&'static [T]> {
        let count = self.number()?;
        // Nothing is shorter than a byte, so that a wrong number asks for no more room than there may be need of.
        if count > self.rest.len() {
            return None;
        }
        let mut list = Vec::with_capacity(count);
        for _ in 0..count {
            list.push(read(self)?);
        }
        Some(list.leak())
    }

    pub(crate) fn texts(&mut self) -> Option<&'static [&'static str]> {
        self.list(Self::text)
    }
}
