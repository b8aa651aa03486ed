//! Errors around commands as people see them.

use std::path::Path;

use offshoot_mount::MountError;
use offshoot_protocol::{ExitCode, Hint};
use offshoot_sandbox::SandboxError;
use offshoot_workspace::{PolicyFile, PolicyFileError};
use rustix::io::Errno;

use super::Error;

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        let message = error.to_string();
        match error {
            MountError::Vault(error) => error.into(),
            MountError::UnknownDriver { .. } | MountError::UnknownOwner => {
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::from("recover it with the Offshoot that ran it; ")
                        .then("offshoot recover drop EXEC")
                        .text(" throws it away"),
                )
            }
        }
    }
}

impl From<SandboxError> for Error {
    fn from(error: SandboxError) -> Self {
        let message = error.to_string();
        let code = match &error {
            SandboxError::NotExecuted { errno, .. } => match errno.kind() {
                std::io::ErrorKind::NotFound => ExitCode::CommandNotFound,
                _ => ExitCode::NotExecutable,
            },
            SandboxError::Nul(_) => ExitCode::Usage,
            _ => ExitCode::Failure,
        };
        let told = Self::new(code, message);
        match (error.hint(), &error) {
            (Some(hint), _) => told.hint(hint),
            (None, SandboxError::NotExecuted { program, .. })
                if code == ExitCode::CommandNotFound && program == "cd" =>
            {
                told.hint(
                    Hint::from("a shell does that itself: ")
                        .then("offshoot exec --cwd DIR -- CMD")
                        .text(" runs CMD there, ")
                        .then("offshoot run")
                        .text(" opens a shell"),
                )
            }
            // One word with blanks in it is a whole command line, more often than not.
            (None, SandboxError::NotExecuted { program, .. })
                if code == ExitCode::CommandNotFound
                    && program.to_string_lossy().contains(char::is_whitespace) =>
            {
                let line = program.to_string_lossy();
                told.hint(
                    Hint::from("for a line of shell: ").then("offshoot exec --shell").arg(line),
                )
            }
            (None, SandboxError::NotExecuted { errno: Errno::TOOBIG, .. }) => told.hint(
                "its arguments and variables are longer than the kernel takes: pass less of them, or write them to a file that the command reads",
            ),
            (None, SandboxError::NotExecuted { program, .. }) => {
                told.hint(not_executed(program, code))
            }
            _ => told,
        }
    }
}

/// What to look at where a program cannot be run.
fn not_executed(program: &Path, code: ExitCode) -> Hint {
    let is_path = program.components().count() > 1;
    match (code, is_path) {
        (ExitCode::CommandNotFound, false) => Hint::from(
            "install it on the host, or give its path; commands look for it in the PATH that ",
        )
        .then("offshoot exec -- env")
        .text(" prints"),
        (ExitCode::CommandNotFound, true) => Hint::from(
            "neither the workspace nor the host has that file, or the interpreter that its first line names: ",
        )
        .then("offshoot fs ls")
        .text(" lists files of the workspace"),
        _ => Hint::from(
            "check its mode and its first line; a file without `#!` needs its interpreter in front",
        ),
    }
}

impl From<PolicyFileError> for Error {
    fn from(error: PolicyFileError) -> Self {
        let hint = match &error {
            PolicyFileError::Read { .. } => Hint::from("nothing runs by rules that cannot be read"),
            PolicyFileError::TooLarge { .. } => Hint::from("name another file"),
            PolicyFileError::Rules { files, .. } => {
                let test = |hint: Hint, file: &PolicyFile| {
                    let test =
                        Hint::command("offshoot policy test").arg(file.path.to_string_lossy());
                    let layer = format!("--layer {}", file.layer);
                    hint.and(test.words(&layer).text(" checks it again"))
                };
                files.iter().fold(Hint::from("nothing runs until it is mended"), test)
            }
        };
        Self::new(ExitCode::Usage, error.to_string()).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_too_long_are_no_matter_of_modes() {
        let hint = |errno| {
            let error = SandboxError::NotExecuted { program: "tool".into(), errno };
            let error = Error::from(error);
            assert_eq!(error.code, ExitCode::NotExecutable);
            error.hint.unwrap_or_default().to_string()
        };
        assert!(hint(Errno::TOOBIG).contains("longer than the kernel takes"));
        assert!(hint(Errno::ACCESS).contains("check its mode"));
    }
}
