//! Names as file systems compare them that fold cases.

use std::borrow::Cow;

use offshoot_text::characters::is_invisible;

/// A name as the most forgiving file system compares it: in lower case, also of characters that fold to ASCII letters (ext4, APFS), without
/// characters that nobody sees (HFS+, ext4), and without what NTFS takes for no part of a name: dots and spaces at its end, and a stream behind a colon.
pub(crate) fn folded(name: &[u8]) -> Vec<u8> {
    let text = match str::from_utf8(name) {
        Ok(text) if !text.is_ascii() => Cow::Owned(text.chars().fold(String::new(), push_folded)),
        Ok(text) => Cow::Borrowed(text),
        Err(_) => return name.to_ascii_lowercase(),
    };
    let file = text.split(':').next().filter(|file| !file.is_empty()).unwrap_or(&text);
    file.trim_end_matches([' ', '.']).to_ascii_lowercase().into_bytes()
}

fn push_folded(mut out: String, c: char) -> String {
    match c {
        '\u{17f}' => out.push('s'),
        '\u{212a}' => out.push('k'),
        '\u{df}' | '\u{1e9e}' => out.push_str("ss"),
        '\u{fb00}' => out.push_str("ff"),
        '\u{fb01}' => out.push_str("fi"),
        '\u{fb02}' => out.push_str("fl"),
        '\u{fb03}' => out.push_str("ffi"),
        '\u{fb04}' => out.push_str("ffl"),
        '\u{fb05}' | '\u{fb06}' => out.push_str("st"),
        c if is_invisible(c) => {}
        c => out.push(c),
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_file_systems_take_for_one_name_is_one() {
        for (name, expected) in [
            (".envrc", ".envrc"),
            (".ENVRC", ".envrc"),
            (".env\u{200b}rc", ".envrc"),
            ("\u{feff}.envrc", ".envrc"),
            (".envrc. .", ".envrc"),
            (".envrc::$DATA", ".envrc"),
            (".git::$INDEX_ALLOCATION", ".git"),
            (".git .:x", ".git"),
            (".vscode", ".vscode"),
            (".v\u{17f}code", ".vscode"),
            (".hus\u{212a}y", ".husky"),
            (".\u{df}h", ".ssh"),
            (".gitcon\u{fb01}g", ".gitconfig"),
            (":x", ":x"),
            ("a:b", "a"),
            ("größe", "größe"),
            ("...", ""),
        ] {
            assert_eq!(folded(name.as_bytes()), expected.replace('ß', "ss").as_bytes(), "{name:?}");
        }
        assert_eq!(folded(b".A\xff. "), b".a\xff. ");
    }
}
