//! Settings of git that name nothing to run. Whatever is not known to be so counts as something to run.

/// What the settings of a submodule's repository say, where they say nothing else than git itself writes there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// The working tree that they name.
    pub(super) worktree: Option<String>,
}

/// One setting: section and key in small letters, the name between as it is.
struct Setting<'t> {
    section: String,
    name: Option<&'t str>,
    key: String,
    value: &'t str,
}

impl Settings {
    /// Reads them; none where anything else is in them.
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let mut settings = Self::default();
        for setting in parse(text)? {
            match (setting.section.as_str(), setting.name, setting.key.as_str()) {
                // The last one counts, so a second one would hide the first.
                ("core", None, "worktree") if settings.worktree.is_none() => {
                    settings.worktree = Some(setting.value.to_owned());
                }
                _ if setting.is_plain() => {}
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// Whether settings are others with nothing added but lines that name submodules.
pub(super) fn adds_only_submodules(before: &[u8], after: &[u8]) -> bool {
    let Some(added) = after.strip_prefix(before) else { return false };
    let whole = before.is_empty() || before.ends_with(b"\n");
    let settings = parse(added).filter(|_| whole).unwrap_or_default();
    let is_one = |setting: &Setting<'_>| setting.section == "submodule" && setting.is_plain();
    !settings.is_empty() && settings.iter().all(is_one)
}

/// The working tree that settings name, where nothing else is different from what they were.
pub(in crate::git) fn moved_to(before: &[u8], after: &[u8]) -> Option<String> {
    let lines = |text| Some(std::str::from_utf8(text).ok()?.lines().collect::<Vec<_>>());
    let (old, new) = (lines(before)?, lines(after)?);
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (was, is) = (old.get(same)?, new.get(same)?);
    let header = new[..same].iter().rev().find(|line| line.trim_start().starts_with('['))?;
    let value = |line: &str| {
        let (key, value) = line.split_once('=')?;
        let is_plain = !value.chars().any(|c| c.is_control() || "\"\\#;".contains(c));
        (is_plain && key.trim() == "worktree").then(|| value.trim().to_owned())
    };
    value(was)?;
    value(is).filter(|_| header.trim() == "[core]" && old[same + 1..] == new[same + 1..])
}

impl Setting<'_> {
    /// Whether git writes this by itself, and runs nothing for it.
    fn is_plain(&self) -> bool {
        let value = self.value;
        let is_switch = matches!(value, "true" | "false");
        match (self.section.as_str(), self.name, self.key.as_str()) {
            ("core", None, "repositoryformatversion") => value == "0",
            ("core", None, "bare") => value == "false",
            ("core", None, "filemode" | "ignorecase" | "symlinks" | "precomposeunicode") => {
                is_switch
            }
            ("core", None, "logallrefupdates") => is_switch || value == "always",
            ("remote" | "submodule", Some(_), "url") => is_address(value),
            ("remote", Some(_), "fetch") => {
                value.strip_prefix('+').unwrap_or(value).starts_with("refs/")
            }
            ("branch", Some(_), "remote") => is_word(value),
            ("branch", Some(_), "merge") => value.starts_with("refs/"),
            ("submodule", Some(_), "active") => is_switch,
            ("submodule", Some(_), "update") => {
                matches!(value, "checkout" | "rebase" | "merge" | "none")
            }
            _ => false,
        }
    }
}

/// Whether git fetches from an address by itself: `NAME::ADDRESS` runs the program that is called so.
fn is_address(value: &str) -> bool {
    !value.is_empty() && !value.starts_with('-') && !value.contains("::")
}

fn is_word(value: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !value.is_empty() && !value.starts_with('-') && value.chars().all(is_part)
}

/// The settings of a text; none where it has anything but sections and plain values: no comments, no quotes, no escapes.
fn parse(text: &[u8]) -> Option<Vec<Setting<'_>>> {
    let text = std::str::from_utf8(text).ok()?;
    let (mut settings, mut around) = (Vec::new(), None);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return None;
        }
        if let Some(header) = line.strip_prefix('[') {
            around = Some(section(header.strip_suffix(']')?)?);
            continue;
        }
        let (key, value) = line.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let (section, name) = around.clone().filter(|_| is_key && !key.is_empty())?;
        if value.contains(['"', '\\', '#', ';']) {
            return None;
        }
        settings.push(Setting { section, name, key: key.to_ascii_lowercase(), value });
    }
    Some(settings)
}

/// The parts of a header: `NAME`, or `NAME "OF WHAT"`.
fn section(header: &str) -> Option<(String, Option<&str>)> {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
    let (name, of) = match header.split_once(" \"") {
        None => (header, None),
        Some((name, of)) => (name, Some(of.strip_suffix('"')?)),
    };
    let escaped = of.is_some_and(|of| of.contains(['"', '\\']));
    (is_name(name) && !escaped).then(|| (name.to_ascii_lowercase(), of))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\tworktree = ../../../lib\n[remote \"origin\"]\n\turl = https://example.org/lib.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn what_git_writes_is_read() {
        let settings = Settings::read(WRITTEN.as_bytes()).unwrap();
        assert_eq!(settings.worktree.as_deref(), Some("../../../lib"));
        let inner =
            "[submodule \"in/ner\"]\n\tactive = true\n\turl = ../inner\n\tupdate = rebase\n";
        assert!(Settings::read(format!("{WRITTEN}{inner}").as_bytes()).is_some());
    }

    /// Taking any one of these checks out lets a program in.
    #[test]
    fn what_runs_or_redirects_is_not() {
        for added in [
            "[core]\n\tfsmonitor = /tmp/x\n",
            "[core]\n\thooksPath = /tmp/x\n",
            "[core]\n\tsshCommand = x\n",
            "[core]\n\tworktree = /\n",
            "[core]\n\tbare = true\n",
            "[core]\n\trepositoryformatversion = 1\n",
            "[core] fsmonitor = x\n",
            "[include]\n\tpath = x\n",
            "[includeIf \"gitdir:/\"]\n\tpath = x\n",
            "[remote \"origin\"]\n\tuploadpack = x\n",
            "[remote \"origin\"]\n\turl = ext::sh -c x\n",
            "[remote \"origin\"]\n\turl = --upload-pack=x\n",
            "[branch \"main\"]\n\tremote = ext::x\n",
            "[submodule \"a\"]\n\tupdate = !x\n",
            "[filter \"x\"]\n\tclean = x\n",
            "[alias]\n\tstatus = !x\n",
            "[extensions]\n\tworktreeConfig = true\n",
            "[remote \"origin\"]\n\turl = a\\\n[core]\n\tfsmonitor = x\n",
            "[remote \"a\\\"]\n\tfetch = refs/x\n",
            "# said\n",
            "\tfsmonitor\n",
            "\u{1}",
        ] {
            assert_eq!(Settings::read(format!("{WRITTEN}{added}").as_bytes()), None, "{added:?}");
        }
        assert_eq!(Settings::read(b"bare = false\n"), None);
    }

    #[test]
    fn only_the_working_tree_may_be_another() {
        let before = "[user]\n\tname = \"A; b\"\n[core]\n\tbare = false\n\tworktree = ../../../lib\n[x]\n\ty = z\n";
        let to =
            |from: &str, to: &str| moved_to(before.as_bytes(), before.replace(from, to).as_bytes());
        assert_eq!(to("../lib", "../other").as_deref(), Some("../../../other"));
        assert_eq!(to("../lib", "../a b").as_deref(), Some("../../../a b"));
        for (from, by) in [
            ("../lib", "../lib"),
            ("../lib", "../x\\"),
            ("../lib", "../x\"y\""),
            ("../lib\n", "../x\n\tfsmonitor = y\n"),
            ("worktree", "fsmonitor"),
            ("false", "true"),
            ("../lib\n[x]\n\ty = z", "../x\n[x]\n\ty = a"),
            ("../lib\n[x]\n\ty = z\n", "../x\n"),
        ] {
            assert_eq!(to(from, by), None, "{by}");
        }
        let elsewhere = |value: &str| format!("[alias]\n\tworktree = {value}\n");
        assert_eq!(moved_to(elsewhere("a").as_bytes(), elsewhere("b").as_bytes()), None);
    }

    #[test]
    fn settings_around_may_gain_submodules_and_nothing_else() {
        let before = "[core]\n\tfsmonitor = mine\n";
        let gain = "[submodule \"lib\"]\n\turl = /lib\n\tactive = true\n";
        let adds = |after: &str| adds_only_submodules(before.as_bytes(), after.as_bytes());
        assert!(adds(&format!("{before}{gain}")));
        assert!(!adds(before), "nothing");
        assert!(!adds(gain), "something is gone");
        assert!(!adds(&format!("{before}\tbare = false\n{gain}")), "in the section before");
        assert!(!adds(&format!("{before}{gain}[core]\n\tbare = false\n")), "another section");
        assert!(!adds(&format!("{before}[submodule \"lib\"]\n\tupdate = !x\n")));
        let open = before.trim_end();
        assert!(!adds_only_submodules(open.as_bytes(), format!("{open}{gain}").as_bytes()));
    }
}
