//! Puts bytes together, as `src/knowledge/reader.rs` takes them apart.

#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) written: Vec<u8>,
    /// The texts of a record.
    texts: String,
}

impl Writer {
    /// Where the next byte goes.
    pub(crate) fn position(&self) -> u32 {
        u32::try_from(self.written.len()).expect("tables below 4 GiB")
    }

    pub(crate) fn byte(&mut self, byte: u8) {
        self.written.push(byte);
    }

    pub(crate) fn bytes(&mut self, bytes: impl AsRef<[u8]>) {
        self.written.extend_from_slice(bytes.as_ref());
    }

    /// All texts of a record, then the rest of it; says where it starts.
    pub(crate) fn record(&mut self, write: impl FnOnce(&mut Self)) -> u32 {
        let mut record = Self::default();
        write(&mut record);
        let start = self.position();
        self.number(record.texts.len());
        self.bytes(record.texts);
        self.bytes(record.written);
        start
    }

    /// Three bytes hold 21 bits.
    pub(crate) fn number(&mut self, number: usize) {
        assert!(number < 1 << 21, "{number} is more than the tables hold");
        let mut rest = number;
        while rest >= 0x80 {
            self.byte(0x80 | (rest & 0x7f) as u8);
            rest >>= 7;
        }
        self.byte(rest as u8);
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.number(text.len());
        self.texts.push_str(text);
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.byte(flag.into());
    }

    pub(crate) fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    pub(crate) fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(list.len());
        for value in list {
            write(self, value);
        }
    }

    /// Words that are separated by spaces.
    pub(crate) fn texts(&mut self, words: &str) {
        let words: Vec<&str> = words.split_whitespace().collect();
        self.list(&words, |writer, word| writer.text(word));
    }
}
