//! Settings without what seems to be a credential.

use crate::reads::CREDENTIALS;

/// What became of a settings file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scrubbed {
    /// It holds nothing that looks like a credential.
    Whole,
    /// It holds some; this is the rest, without so many lines.
    Without(Vec<u8>, usize),
    /// It holds some, and parts of it cannot be left out.
    Nothing,
}

/// Endings of names of files that are no files without one of their lines.
const INDIVISIBLE: [&str; 15] = [
    ".xml",
    ".json",
    ".lua",
    ".vim",
    ".jl",
    ".gradle",
    ".yml",
    ".yaml",
    "bashrc",
    "zshrc",
    "profile",
    ".zshenv",
    "_aliases",
    ".fish",
    ".tmux.conf",
];

/// Leaves out what seems to be a credential. In files with sections, a section whose title tells of one goes as a whole, since its lines would
/// otherwise belong to the one before.
pub fn scrub(name: &str, content: &[u8]) -> Scrubbed {
    let tells = content.split(|byte| *byte == b'\n').any(tells_of_credential);
    if !tells {
        return Scrubbed::Whole;
    }
    if INDIVISIBLE.iter().any(|end| name.ends_with(end)) {
        return Scrubbed::Nothing;
    }
    let (mut kept, mut dropped) = (Vec::with_capacity(content.len()), 0);
    let mut in_dropped_section = false;
    let mut continues = false;
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        let text = line.trim_ascii();
        if text.starts_with(b"[") && !continues {
            in_dropped_section = tells_of_credential(text);
        }
        let drop = in_dropped_section || tells_of_credential(text);
        // A line that goes on in the next one goes with it.
        let goes_on = text.ends_with(b"\\");
        if drop || (continues && dropped > 0) {
            dropped += 1;
            continues = goes_on;
        } else {
            continues = false;
            kept.extend_from_slice(line);
        }
    }
    Scrubbed::Without(kept, dropped)
}

fn tells_of_credential(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let has = |word: &&str| line.windows(word.len()).any(|at| at == word.as_bytes());
    CREDENTIALS.iter().any(has) || names_a_user(&line)
}

/// Whether an address in a line has a name before its host: `https://NAME@HOST`.
fn names_a_user(line: &[u8]) -> bool {
    let mut rest = line;
    while let Some(at) = rest.windows(3).position(|part| part == b"://") {
        rest = &rest[at + 3..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'?#".contains(byte);
        let host = rest.split(ends).next().unwrap_or_default();
        if host.contains(&b'@') {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(name: &str, text: &str) -> String {
        match scrub(name, text.as_bytes()) {
            Scrubbed::Whole => text.to_owned(),
            Scrubbed::Without(kept, _) => String::from_utf8(kept).unwrap(),
            Scrubbed::Nothing => String::new(),
        }
    }

    #[test]
    fn settings_without_credentials_stay_whole() {
        let text = "[user]\n\tname = A B\n\temail = a@b.example\n";
        assert_eq!(scrub(".gitconfig", text.as_bytes()), Scrubbed::Whole);
        assert_eq!(scrub("x.xml", b"<a/>"), Scrubbed::Whole);
    }

    #[test]
    fn a_section_about_credentials_goes_as_a_whole() {
        let text = "[user]\n\tname = A\n[credential \"https://x\"]\n\thelper = !gh auth\n[core]\n\teditor = vi\n";
        assert_eq!(rest(".gitconfig", text), "[user]\n\tname = A\n[core]\n\teditor = vi\n");
        let text = "[url \"https://me:pw@host/\"]\n\tinsteadOf = x\n[http]\n\textraHeader = \"Authorization: \\\n  more\"\n\tproxy = p\n";
        assert_eq!(rest(".gitconfig", text), "[http]\n\tproxy = p\n");
    }

    #[test]
    fn lines_with_credentials_go() {
        assert_eq!(
            rest(".npmrc", "registry=https://r/\n//r/:_authToken=abc\nsave=true\n"),
            "registry=https://r/\nsave=true\n"
        );
        assert_eq!(
            rest("pip.conf", "[global]\nindex-url = https://u:p@h/simple\ntimeout = 3\n"),
            "[global]\ntimeout = 3\n"
        );
        assert_eq!(
            rest("config.toml", "[registry]\nToken = \"x\"\n[net]\nretry = 1"),
            "[registry]\n[net]\nretry = 1"
        );
    }

    #[test]
    fn what_cannot_be_divided_goes() {
        assert_eq!(scrub("settings.xml", b"<password>x</password>"), Scrubbed::Nothing);
    }
}
