//! Changes of binary files in whole, as `git diff --binary` writes them.
//!
//! Each side is a `literal`: its length, and its bytes compressed and in base 85. The first takes the file forward, the second
//! backward. git also writes differences of binary files where those are shorter; it reads either.
//!
//! `git apply` wants the SHA-1 of both sides, and compares them with what it has and with what it made. In a repository that
//! names its objects by SHA-256 it wants those, which are not written here.

use std::io::{self, Read, Write};

use miniz_oxide::deflate::core::{CompressorOxide, create_comp_flags_from_zip_params};
use miniz_oxide::deflate::stream::deflate;
use miniz_oxide::{MZFlush, MZStatus};
use sha1_smol::Sha1;

use super::{OpenContent, PatchContent, PatchSide};

/// What git calls content that does not exist.
const ABSENT: &str = "0000000000000000000000000000000000000000";
/// So many bytes are on a line, except on the last.
const LINE_BYTES: usize = 52;
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const BUFFER: usize = 1 << 16;
/// As zlib compresses by default.
const LEVEL: i32 = 6;
/// The largest window, with the header and the checksum of zlib.
const ZLIB_WINDOW: i32 = 15;

/// Writes what turns one side into the other, whatever they hold.
pub(super) fn write_binary(
    out: &mut dyn Write,
    before: Option<&PatchSide<'_>>,
    after: Option<&PatchSide<'_>>,
    open: OpenContent<'_>,
) -> io::Result<()> {
    let names = [object_id(before, open)?, object_id(after, open)?];
    let mode = match (before, after) {
        (Some(before), Some(after)) if before.mode == after.mode => format!(" {:06o}", after.mode),
        _ => String::new(),
    };
    writeln!(out, "index {}..{}{mode}", names[0], names[1])?;
    writeln!(out, "GIT binary patch")?;
    write_literal(out, after, open)?;
    write_literal(out, before, open)
}

/// What git names a blob with this content.
fn object_id(side: Option<&PatchSide<'_>>, open: OpenContent<'_>) -> io::Result<String> {
    let Some(side) = side else { return Ok(ABSENT.to_owned()) };
    let mut hasher = Sha1::new();
    hasher.update(format!("blob {}\0", length(Some(side))).as_bytes());
    let (mut content, mut buffer) = (reader(Some(side), open)?, vec![0; BUFFER]);
    loop {
        match content.read(&mut buffer)? {
            0 => return Ok(hasher.digest().to_string()),
            got => hasher.update(&buffer[..got]),
        }
    }
}

fn length(side: Option<&PatchSide<'_>>) -> u64 {
    match side.map(|side| side.content) {
        None => 0,
        Some(PatchContent::Bytes(bytes)) => bytes.len() as u64,
        Some(PatchContent::Opaque { size, .. }) => size,
    }
}

fn reader<'a>(
    side: Option<&PatchSide<'a>>,
    open: OpenContent<'_>,
) -> io::Result<Box<dyn Read + 'a>> {
    match side.map(|side| side.content) {
        None => Ok(Box::new(io::empty())),
        Some(PatchContent::Bytes(bytes)) => Ok(Box::new(bytes)),
        Some(PatchContent::Opaque { hash, .. }) => open(&hash),
    }
}

fn write_literal(
    out: &mut dyn Write,
    side: Option<&PatchSide<'_>>,
    open: OpenContent<'_>,
) -> io::Result<()> {
    writeln!(out, "literal {}", length(side))?;
    let mut lines = Lines { out, waiting: Vec::new() };
    compress(&mut *reader(side, open)?, &mut lines)?;
    lines.finish()?;
    writeln!(out)
}

/// Compresses everything, a buffer at a time: content may be larger than memory.
fn compress(content: &mut dyn Read, lines: &mut Lines<'_>) -> io::Result<()> {
    let flags = create_comp_flags_from_zip_params(LEVEL, ZLIB_WINDOW, 0);
    let mut compressor = Box::new(CompressorOxide::new(flags));
    let (mut input, mut output) = (vec![0; BUFFER], vec![0; BUFFER]);
    loop {
        let got = content.read(&mut input)?;
        let flush = if got == 0 { MZFlush::Finish } else { MZFlush::None };
        let mut left = &input[..got];
        loop {
            let step = deflate(&mut compressor, left, &mut output, flush);
            left = &left[step.bytes_consumed..];
            lines.push(&output[..step.bytes_written])?;
            match step.status {
                Ok(MZStatus::StreamEnd) => return Ok(()),
                Ok(_) if flush == MZFlush::Finish || !left.is_empty() => {}
                Ok(_) => break,
                Err(error) => {
                    return Err(io::Error::other(format!("cannot compress: {error:?}")));
                }
            }
        }
    }
}

/// Bytes on their way to lines in base 85.
struct Lines<'a> {
    out: &'a mut dyn Write,
    waiting: Vec<u8>,
}

impl Lines<'_> {
    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.waiting.extend_from_slice(bytes);
        let whole = self.waiting.len() / LINE_BYTES * LINE_BYTES;
        let lines = self.waiting[..whole].chunks(LINE_BYTES);
        lines.into_iter().try_for_each(|line| self.out.write_all(&line_of(line)))?;
        self.waiting.drain(..whole);
        Ok(())
    }

    fn finish(self) -> io::Result<()> {
        match self.waiting.is_empty() {
            true => Ok(()),
            false => self.out.write_all(&line_of(&self.waiting)),
        }
    }
}

/// A letter for the number of bytes, and five digits for every four of them; zeros fill up the last four.
fn line_of(bytes: &[u8]) -> Vec<u8> {
    let count = u8::try_from(bytes.len()).unwrap_or(u8::MAX);
    let mut line = vec![match count {
        0..=26 => b'A' + count.saturating_sub(1),
        _ => b'a' + (count - 27),
    }];
    for four in bytes.chunks(4) {
        let mut padded = [0; 4];
        padded[..four.len()].copy_from_slice(four);
        let mut number = u32::from_be_bytes(padded);
        let mut digits = [0; 5];
        for digit in digits.iter_mut().rev() {
            *digit = DIGITS[(number % 85) as usize];
            number /= 85;
        }
        line.extend(digits);
    }
    line.push(b'\n');
    line
}
