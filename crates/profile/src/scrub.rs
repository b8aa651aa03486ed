//! Settings without what seems to be a credential.

use crate::reads::{CREDENTIAL_NAMES, CREDENTIALS, CREDENTIALS_IN};

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
    let own = CREDENTIALS_IN.iter().find(|(end, _)| name.ends_with(end));
    let own = own.map_or(&[][..], |(_, words)| words);
    let tells_of_credential = |line: &[u8]| tells_of_credential(line, own);
    if !content.split(|byte| *byte == b'\n').any(tells_of_credential) {
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

/// Whether a line holds one of the words, some of which only count in this file, or has the form of a credential.
fn tells_of_credential(line: &[u8], own: &[&str]) -> bool {
    let lower = line.to_ascii_lowercase();
    let has = |word: &&str| lower.windows(word.len()).any(|at| at == word.as_bytes());
    CREDENTIALS.iter().chain(own).any(has)
        || names_a_user(&lower)
        || has_login(&lower)
        || has_credential_name(line)
}

/// Whether a line has a login without a scheme: `NAME:PASSWORD@HOST`.
fn has_login(line: &[u8]) -> bool {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'=,;<>".contains(byte);
    let is_login = |part: &[u8]| {
        let (colon, at) =
            (part.iter().position(|b| *b == b':'), part.iter().rposition(|b| *b == b'@'));
        matches!((colon, at), (Some(colon), Some(at)) if 0 < colon && colon < at && at + 1 < part.len())
    };
    line.split(ends).any(is_login)
}

/// Whether a line has a name of several words, the last of which says that it is a credential: `GH_PAT`, `smtpPass`, `nexusPwd`.
fn has_credential_name(line: &[u8]) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.split(|byte| !is_part(*byte)).any(|name| {
        let is_capital =
            |at: usize| name[at].is_ascii_uppercase() && !name[at - 1].is_ascii_uppercase();
        // A word starts after `_`, or with the one capital after small letters.
        let start = (1..name.len()).rev().find(|at| name[at - 1] == b'_' || is_capital(*at));
        let last = start.map(|start| name[start..].to_ascii_lowercase());
        last.is_some_and(|last| CREDENTIAL_NAMES.iter().any(|word| last == word.as_bytes()))
    })
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

    /// No word of the table is in these values: it is the name, the form or the file that tells.
    #[test]
    fn credentials_are_told_by_their_names_and_forms() {
        for (file, kept, line) in [
            (".curlrc", "silent", "user = \"me:abc\""),
            (".curlrc", "silent", "-u me:abc"),
            (".npmrc", "save=true", "key=\"-----BEGIN PRIVATE KEY-----\\nabc\""),
            (".gitconfig", "\tsmtpUser = me", "\tsmtpPass = abc"),
            (".condarc", "auto_update_conda: false", "  - https://conda.test/t/abc/mine"),
            (".bundle/config", "BUNDLE_JOBS: \"4\"", "BUNDLE_GEMS__HOST__TEST: \"me:abc\""),
            ("gradle.properties", "org.gradle.caching=true", "nexusPwd=abc"),
            ("config.toml", "retry = 1", "proxy = \"me:abc@proxy.test:3128\""),
            ("config.toml", "monkey = 1", "STRIPE_KEY = \"abc\""),
            (".curlrc", "silent", "proxy = ghp_abc"),
        ] {
            assert_eq!(rest(file, &format!("{kept}\n{line}\n")), format!("{kept}\n"), "{line}");
        }
        for (file, text) in [
            (".bashrc", "export GH_PAT=abc"),
            (".yarnrc.yml", "npmAuthIdent: \"me:abc\""),
            ("settings.xml", "<passphrase>abc</passphrase>"),
            ("composer.json", "{\"github-oauth\": {\"github.com\": \"abc\"}}"),
        ] {
            assert_eq!(scrub(file, text.as_bytes()), Scrubbed::Nothing, "{text}");
        }
    }

    #[test]
    fn what_only_resembles_a_credential_stays() {
        for (file, text) in [
            (".bashrc", "PS1='\\u@\\h:\\w$ '; cd \"$OLDPWD\"; export LD_LIBRARY_PATH=$PWD/lib\n"),
            (
                ".gitconfig",
                "[url \"git@host.test:\"]\n\tinsteadOf = host:\n[user]\n\tsigningkey = AB12\n",
            ),
            (".tmux.conf", "bind-key r source-file ~/.tmux.conf\n"),
            (".vimrc", "let g:some_keymap = 1\n"),
            ("gradle.properties", "systemProp.http.proxyHost=proxy.test\n"),
        ] {
            assert_eq!(scrub(file, text.as_bytes()), Scrubbed::Whole, "{text}");
        }
    }

    #[test]
    fn what_cannot_be_divided_goes() {
        assert_eq!(scrub("settings.xml", b"<password>x</password>"), Scrubbed::Nothing);
    }
}
