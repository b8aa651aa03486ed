//! Sizes as text, such as `16MiB`, in settings and back.

/// Units by their names in lower case, and their bytes.
const UNITS: &[(&str, u64)] = &[
    ("", 1),
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
];

/// Reads a number of bytes: whole digits and a unit, in either case, with or without a space between.
///
/// ```
/// use offshoot_engine::settings::parse_size;
///
/// assert_eq!(parse_size("16 MiB"), Some(16 << 20));
/// assert_eq!(parse_size("16 pounds"), None);
/// ```
pub fn parse(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(digits_end);
    let unit = unit.trim_start().to_ascii_lowercase();
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}

/// Writes a number of bytes in the largest unit of 1024 that is exact.
pub(super) fn format(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    for (name, factor) in units {
        if bytes > 0 && bytes.is_multiple_of(factor) {
            return format!("{}{name}", bytes / factor);
        }
    }
    format!("{bytes}B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        for (text, bytes) in [
            ("0", 0),
            ("1234", 1_234),
            ("512B", 512),
            ("16MiB", 16 << 20),
            ("16 mib", 16 << 20),
            ("2kB", 2_000),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(parse(text), Some(bytes), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_size() {
        for text in [
            "",
            "MiB",
            "-1",
            "1.5MiB",
            "16M",
            "16 quibs",
            "1 6",
            "99999999999GiB",
            "99999999999999999999",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn writes_what_it_reads() {
        for (bytes, text) in [
            (0, "0B"),
            (1_000, "1000B"),
            (1_024, "1KiB"),
            (16 << 20, "16MiB"),
            (1 << 30, "1GiB"),
            ((1 << 30) + 1, "1073741825B"),
        ] {
            assert_eq!(format(bytes), text);
            assert_eq!(parse(text), Some(bytes));
        }
    }
}
