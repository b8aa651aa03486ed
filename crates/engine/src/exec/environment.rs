//! Which variables a command gets.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use offshoot_workspace::EnvironmentRules;

/// Variables of the caller that every command gets: what it needs to find programs and to print as people read. All
/// others, among them keys and tokens, are passed on only when named.
const PASSED: [&str; 26] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "COLORTERM",
    "TERMINFO",
    "TERMINFO_DIRS",
    "NO_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "TZ",
    "CI",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "PYENV_*",
    "NVM_DIR",
];

/// How git compares files with its index inside: by size and time alone. A vault keeps those, while the inodes and change
/// times of its copies are others, so without this the first `git status` in every workspace would read every file. Nor does it
/// ask a monitor of the project's, which could be any program and knows nothing of a workspace. And it signs only what it is told to
/// sign: the keys are not there, and a setting of the user's would have every `git commit` fail.
const GIT: [(&str, &str); 13] = [
    ("GIT_CONFIG_COUNT", "6"),
    ("GIT_CONFIG_KEY_0", "core.checkStat"),
    ("GIT_CONFIG_VALUE_0", "minimal"),
    ("GIT_CONFIG_KEY_1", "core.trustctime"),
    ("GIT_CONFIG_VALUE_1", "false"),
    ("GIT_CONFIG_KEY_2", "core.fsmonitor"),
    ("GIT_CONFIG_VALUE_2", "false"),
    ("GIT_CONFIG_KEY_3", "commit.gpgSign"),
    ("GIT_CONFIG_VALUE_3", "false"),
    ("GIT_CONFIG_KEY_4", "tag.gpgSign"),
    ("GIT_CONFIG_VALUE_4", "false"),
    ("GIT_CONFIG_KEY_5", "tag.forceSignAnnotated"),
    ("GIT_CONFIG_VALUE_5", "false"),
];

/// What a command gets of the caller's variables, with those that were named for it.
pub(super) fn rules(named: &[OsString]) -> EnvironmentRules {
    let mut rules = EnvironmentRules {
        pass: PASSED.map(str::to_owned).to_vec(),
        set: vec![("OFFSHOOT".into(), "1".into())],
    };
    // Who configures git by such variables knows better.
    if !named.iter().any(|item| item.as_bytes().starts_with(b"GIT_CONFIG_COUNT")) {
        rules.set.extend(GIT.map(|(name, value)| (name.into(), value.into())));
    }
    for item in named {
        match item.as_bytes().iter().position(|byte| *byte == b'=') {
            Some(at) => {
                let (name, value) = item.as_bytes().split_at(at);
                let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
                rules.set.push((text(name), text(&value[1..])));
            }
            None => rules.pass.push(item.to_string_lossy().into_owned()),
        }
    }
    rules
}

/// The name in `NAME` or `NAME=VALUE`.
pub(super) fn name(item: &OsStr) -> OsString {
    let bytes = item.as_bytes();
    let end = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    OsString::from_vec(bytes[..end].to_vec())
}
