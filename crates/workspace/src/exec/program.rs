//! Why a program did not run: the machine has it and the command does not see it, or it is of a kind that does not run here.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use offshoot_protocol::{ExitCode, Visibility};

use super::envelope::ExecutionResult;
use super::request::{CommandLine, ExecutionRequest};
use super::runtime::{Execution, ProxyRuntime};
use super::sight::Sight;
use crate::standing::resolved;

/// What shells print after the name of a program that they did not find, and before it.
const NOT_FOUND: [&str; 2] = [": command not found", ": not found"];
const ZSH_NOT_FOUND: &str = "command not found: ";
/// At most so many names are looked up.
const MOST_LOOKED_UP: usize = 8;
/// Ended by a system call that is not allowed.
const SIGSYS: i32 = 31;
/// The beginning of a program, with the mark of one of 32 bits.
const ELF_32: [u8; 5] = [0x7f, b'E', b'L', b'F', 1];

/// What a command was looked for in.
pub(super) struct Search<'a> {
    pub(super) request: &'a ExecutionRequest,
    pub(super) result: &'a ExecutionResult,
    pub(super) sight: &'a Sight,
    /// The user's home, without links.
    pub(super) home: Option<&'a Path>,
    /// The folders of the vault.
    pub(super) folders: &'a [PathBuf],
}

impl ProxyRuntime<'_> {
    /// Looks for the reason why a command, or something in it, did not run.
    pub(super) fn search(
        &self,
        execution: &Execution<'_>,
        folders: &[PathBuf],
        sight: &Sight,
        find: impl FnOnce(&Search<'_>) -> Option<String>,
    ) -> Option<String> {
        let home = self.options.viewer.home.as_ref().and_then(|home| home.canonicalize().ok());
        let Execution { request, result, .. } = execution;
        find(&Search { request, result, sight, home: home.as_deref(), folders })
    }
}

impl Search<'_> {
    /// What to say about the program of a command that could not be executed.
    pub(super) fn unexecuted(&self) -> Option<String> {
        let program = self.request.command.arguments().into_iter().next()?;
        self.unseen(&program)
    }

    /// What to say about a command that ran and failed.
    pub(super) fn failed(&self) -> Option<String> {
        let result = self.result;
        if result.signal == Some(SIGSYS) || result.exit_code == Some(128 + SIGSYS) {
            return Some(
                "the command was ended for a system call that is not allowed (SIGSYS): `walls = { seccomp = \"off\" }` in a profile of your own allows all"
                    .to_owned(),
            );
        }
        if result.exit_code == Some(0) {
            return None;
        }
        if let Some(program) = self.of_32_bits() {
            return Some(format!(
                "{} is a 32-bit program, and commands cannot run those: `walls = {{ seccomp = \"off\" }}` in a profile of your own lets them",
                program.display()
            ));
        }
        if result.exit_code != Some(ExitCode::CommandNotFound.number().into()) {
            return None;
        }
        let printed = if result.terminal { result.stdout() } else { result.stderr() };
        let printed = String::from_utf8_lossy(printed);
        not_found(&printed).take(MOST_LOOKED_UP).find_map(|name| self.unseen(OsStr::new(name)))
    }

    /// The program of the command, where it is one of 32 bits on a machine of 64.
    fn of_32_bits(&self) -> Option<PathBuf> {
        let CommandLine::Argv(arguments) = &self.request.command else { return None };
        let program = self.find(arguments.first()?)?;
        let mut start = [0; ELF_32.len()];
        File::open(&program).ok()?.read_exact(&mut start).ok()?;
        (start == ELF_32).then_some(program)
    }

    /// What to say about a program that the machine has and the command does not see, or whose interpreter it does not.
    fn unseen(&self, name: &OsStr) -> Option<String> {
        let program = self.find(name)?;
        let target = program.canonicalize().ok()?;
        let needed = [Some(program), Some(target.clone()), interpreter(&target)];
        let hidden = needed.into_iter().flatten().find(|path| self.is_hidden(path))?;
        let (shown, directory) = (hidden.display(), hidden.parent()?.display());
        let profile = self.result.profile.as_ref();
        Some(match profile.filter(|profile| !profile.widen) {
            Some(profile) => format!(
                "{shown} is there, but profile {} does not show it to commands: --sandbox takes another one",
                profile.name
            ),
            None => format!(
                "{shown} is there, but commands do not see it: --show {directory} shows it to one, `show = [\"{directory}\"]` in a profile to all"
            ),
        })
    }

    /// Where the machine has a program of this name.
    fn find(&self, name: &OsStr) -> Option<PathBuf> {
        let cwd = self.result.cwd.as_deref()?;
        if name.as_bytes().contains(&b'/') {
            return Some(resolved(cwd, Path::new(name))).filter(|path| is_program(path));
        }
        let path = self.request.environment.iter().find(|(name, _)| name == "PATH")?;
        std::env::split_paths(&path.1)
            .map(|directory| directory.join(name))
            .find(|path| path.is_absolute() && is_program(path))
    }

    fn is_hidden(&self, path: &Path) -> bool {
        use Visibility::{Absent, Hidden, Private, Withheld};
        let is_there = path.symlink_metadata().is_ok();
        let seen = self.sight.explain(path, self.home, self.folders).visibility;
        is_there && matches!(seen, Absent | Hidden | Private | Withheld)
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// The program that a script names in its first line.
fn interpreter(script: &Path) -> Option<PathBuf> {
    const LONGEST: u64 = 256;
    let mut start = Vec::new();
    File::open(script).ok()?.take(LONGEST).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let words = line.split(|byte| byte.is_ascii_whitespace());
    let word = words.into_iter().find(|word| !word.is_empty())?;
    Some(PathBuf::from(OsString::from_vec(word.to_vec())))
}

/// The names of programs that shells say they did not find.
fn not_found(printed: &str) -> impl Iterator<Item = &str> {
    printed.lines().filter_map(|line| {
        if let Some((_, name)) = line.split_once(ZSH_NOT_FOUND) {
            return Some(name);
        }
        let before = NOT_FOUND.iter().find_map(|end| line.strip_suffix(end))?;
        Some(before.rsplit(": ").next().unwrap_or(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_name_what_they_did_not_find() {
        let printed = "sh: 1: one: not found\nbash: line 1: two: command not found\n/bin/sh: three: not found\n\
                       zsh:1: command not found: four\nfive: No such file or directory\nx.sh: 3: ./six: not found\n";
        let names: Vec<&str> = not_found(printed).collect();
        assert_eq!(names, ["one", "two", "three", "four", "./six"]);
    }

    #[test]
    fn scripts_name_their_interpreter() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("script");
        std::fs::write(&script, "#! /opt/py/bin/python -E\nprint()\n").unwrap();
        assert_eq!(interpreter(&script), Some(PathBuf::from("/opt/py/bin/python")));
        std::fs::write(&script, "\x7fELF").unwrap();
        assert_eq!(interpreter(&script), None);
    }
}
