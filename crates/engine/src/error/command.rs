//! Errors around commands as people see them.

use offshoot_mount::MountError;
use offshoot_protocol::{ExitCode, Hint};
use offshoot_sandbox::SandboxError;
use offshoot_workspace::PolicyFileError;

use super::Error;

impl From<MountError> for Error {
    fn from(error: MountError) -> Self {
        let message = error.to_string();
        match error {
            MountError::Vault(error) => error.into(),
            MountError::UnknownDriver { .. } | MountError::UnknownOwner => {
                Self::new(ExitCode::Conflict, message).hint(
                    Hint::from("recover it with the Offshoot that ran it; ")
                        .then("offshoot recover drop")
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
                let text = program.to_string_lossy().replace('\'', r"'\''");
                told.hint(format!("for a line of shell: --shell '{text}'"))
            }
            _ => told,
        }
    }
}

impl From<PolicyFileError> for Error {
    fn from(error: PolicyFileError) -> Self {
        let hint = match &error {
            PolicyFileError::Read { .. } => Hint::from("nothing runs by rules that cannot be read"),
            PolicyFileError::TooLarge { .. } => Hint::from("name another file"),
            PolicyFileError::Rules(_) => Hint::from("nothing runs until it is mended; ")
                .then("offshoot policy test")
                .text(" checks it again"),
        };
        Self::new(ExitCode::Usage, error.to_string()).hint(hint)
    }
}
