//! `offshoot worker`: one command for a program that uses Offshoot as a library. It is no command for people, and no option is read.

use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use offshoot_engine::exec::worker::{self, ARGUMENT};
use offshoot_engine::{Error, Options};

use crate::output::report_error;

/// Works for a host, where one started this process for that.
pub(crate) fn serve() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ARGUMENT || arguments.next().is_some() {
        return None;
    }
    let served = take()
        .map_err(|error| Error::usage(error.to_string()))
        .and_then(|(control, input)| worker::serve(control, input, Options::from_process()));
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => ExitCode::from(report_error(&error, false).number()),
    })
}

/// Takes the host's socket and what the command reads away from the places where every program that is started would have them.
fn take() -> std::io::Result<(OwnedFd, OwnedFd)> {
    let control = std::io::stdout().as_fd().try_clone_to_owned()?;
    let input = std::io::stdin().as_fd().try_clone_to_owned()?;
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((control, input))
}
