//! Patches in git's extended unified format, which `git apply` understands.
//!
//! An `index` line, which names git object ids, is written for binary changes alone: `git apply`
//! needs it for no others.

mod binary;

use std::io::{self, Read, Write};

use self::binary::write_binary;

use crate::lines::{Hunk, LineKind, TextOptions, diff_text, is_binary};

/// One side of a changed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatchSide<'a> {
    /// The path from the root of the tree, without a leading slash.
    pub path: &'a [u8],
    /// The git mode: `0o100644`, `0o100755` or `0o120000`.
    pub mode: u32,
    /// What the file holds; the target when it is a symlink.
    pub content: PatchContent<'a>,
}

/// What one side of a changed file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchContent<'a> {
    /// The whole content. Shown as text unless [`is_binary`] says otherwise.
    Bytes(&'a [u8]),
    /// Content that is binary or too large to diff, known only by its size and hash.
    Opaque {
        /// The length in bytes.
        size: u64,
        /// A hash that is equal exactly for equal content.
        hash: [u8; 32],
    },
}

/// Opens the content of an opaque side, by its hash.
pub type OpenContent<'a> = &'a dyn Fn(&[u8; 32]) -> io::Result<Box<dyn Read>>;

/// How a patch is written.
pub struct PatchOptions<'a> {
    /// How texts are compared.
    pub text: TextOptions,
    /// Has binary changes written in whole, as `git diff --binary` does, so that `git apply` takes them. Without it they
    /// are only named, for people.
    pub binary: Option<OpenContent<'a>>,
}

/// Writes the patch that turns `before` into `after`, where an absent side does not exist.
///
/// `similarity` is the percentage to report for a rename. Two sides with different paths and no
/// similarity are not a rename, and like a change of kind (file to symlink) they are written as a
/// deletion followed by a creation. Sides that are equal write nothing.
pub fn write_patch(
    out: &mut dyn Write,
    before: Option<&PatchSide<'_>>,
    after: Option<&PatchSide<'_>>,
    similarity: Option<u8>,
    options: &PatchOptions<'_>,
) -> io::Result<()> {
    match (before, after) {
        (Some(before), Some(after)) if !is_one_file(before, after, similarity) => {
            write_patch(out, Some(before), None, None, options)?;
            write_patch(out, None, Some(after), None, options)
        }
        (Some(before), Some(after)) => write_change(out, before, after, similarity, options),
        (Some(side), None) => {
            write_header(out, side.path, side.path)?;
            writeln!(out, "deleted file mode {:06o}", side.mode)?;
            write_content(out, before, after, options)
        }
        (None, Some(side)) => {
            write_header(out, side.path, side.path)?;
            writeln!(out, "new file mode {:06o}", side.mode)?;
            write_content(out, before, after, options)
        }
        (None, None) => Ok(()),
    }
}

/// Quotes a name as git does: unchanged when every byte is plain, else in double quotes with C
/// escapes, so that any path becomes one line of printable ASCII.
pub fn quote_path(path: &[u8]) -> String {
    if path.iter().all(|byte| is_plain(*byte)) {
        return path.iter().copied().map(char::from).collect();
    }
    let mut quoted = String::from("\"");
    for byte in path {
        push_escaped(&mut quoted, *byte);
    }
    quoted.push('"');
    quoted
}

fn is_one_file(before: &PatchSide<'_>, after: &PatchSide<'_>, similarity: Option<u8>) -> bool {
    const KIND: u32 = 0o170_000;
    let same_kind = before.mode & KIND == after.mode & KIND;
    same_kind && (before.path == after.path || similarity.is_some())
}

fn write_change(
    out: &mut dyn Write,
    before: &PatchSide<'_>,
    after: &PatchSide<'_>,
    similarity: Option<u8>,
    options: &PatchOptions<'_>,
) -> io::Result<()> {
    if before == after {
        return Ok(());
    }
    write_header(out, before.path, after.path)?;
    if before.mode != after.mode {
        writeln!(out, "old mode {:06o}", before.mode)?;
        writeln!(out, "new mode {:06o}", after.mode)?;
    }
    if before.path != after.path {
        writeln!(out, "similarity index {}%", similarity.unwrap_or(0).min(100))?;
        writeln!(out, "rename from {}", quote_path(before.path))?;
        writeln!(out, "rename to {}", quote_path(after.path))?;
    }
    if before.content == after.content {
        return Ok(());
    }
    write_content(out, Some(before), Some(after), options)
}

fn write_header(out: &mut dyn Write, before: &[u8], after: &[u8]) -> io::Result<()> {
    writeln!(out, "diff --git {} {}", prefixed("a/", before), prefixed("b/", after))
}

/// Writes the names of both sides and what differs between them; nothing when both are empty.
fn write_content(
    out: &mut dyn Write,
    before: Option<&PatchSide<'_>>,
    after: Option<&PatchSide<'_>>,
    options: &PatchOptions<'_>,
) -> io::Result<()> {
    let before_name = side_name("a/", before);
    let after_name = side_name("b/", after);
    let (Some(before), Some(after)) = (text(before), text(after)) else {
        return match options.binary {
            Some(open) => write_binary(out, before, after, open),
            None => writeln!(out, "Binary files {before_name} and {after_name} differ"),
        };
    };
    let diff = diff_text(before, after, &options.text);
    if diff.hunks.is_empty() {
        return Ok(());
    }
    writeln!(out, "--- {before_name}{}", name_end(&before_name))?;
    writeln!(out, "+++ {after_name}{}", name_end(&after_name))?;
    diff.hunks.iter().try_for_each(|hunk| write_hunk(out, hunk))
}

/// The text of a side, empty when it does not exist, or nothing when it cannot be shown as text.
fn text<'a>(side: Option<&PatchSide<'a>>) -> Option<&'a [u8]> {
    match side.map(|side| side.content) {
        None => Some(&[]),
        Some(PatchContent::Bytes(bytes)) if !is_binary(bytes) => Some(bytes),
        Some(PatchContent::Bytes(_) | PatchContent::Opaque { .. }) => None,
    }
}

fn side_name(prefix: &str, side: Option<&PatchSide<'_>>) -> String {
    side.map_or_else(|| "/dev/null".to_owned(), |side| prefixed(prefix, side.path))
}

fn prefixed(prefix: &str, path: &[u8]) -> String {
    quote_path(&[prefix.as_bytes(), path].concat())
}

/// Other patch tools end a name at white space, where a date may follow; a tab makes a name with
/// spaces unambiguous.
fn name_end(name: &str) -> &'static str {
    if name.contains(' ') { "\t" } else { "" }
}

/// Writes one hunk as a unified diff has it.
pub fn write_hunk(out: &mut dyn Write, hunk: &Hunk) -> io::Result<()> {
    let before = hunk_range(hunk.before_start, hunk.before_lines);
    let after = hunk_range(hunk.after_start, hunk.after_lines);
    writeln!(out, "@@ -{before} +{after} @@")?;
    for line in &hunk.lines {
        out.write_all(match line.kind {
            LineKind::Context => b" ",
            LineKind::Removed => b"-",
            LineKind::Added => b"+",
        })?;
        out.write_all(&line.text)?;
        out.write_all(if line.newline { b"\n" } else { b"\n\\ No newline at end of file\n" })?;
    }
    Ok(())
}

fn hunk_range(start: u32, lines: u32) -> String {
    if lines == 1 { start.to_string() } else { format!("{start},{lines}") }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

fn push_escaped(quoted: &mut String, byte: u8) {
    let short = match byte {
        0x07 => 'a',
        0x08 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        0x0b => 'v',
        0x0c => 'f',
        b'\r' => 'r',
        b'"' | b'\\' => char::from(byte),
        _ if is_plain(byte) => return quoted.push(char::from(byte)),
        _ => return quoted.push_str(&format!("\\{byte:03o}")),
    };
    quoted.extend(['\\', short]);
}

#[cfg(test)]
mod tests;
