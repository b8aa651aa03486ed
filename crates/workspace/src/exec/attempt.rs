//! Running a command once, or a second time: what policy judged read-only runs on a read-only mount, and if it tries to write there it is
//! run again with a checkpoint. So a wrong judgement changes nothing.

use std::sync::Arc;

use offshoot_profile::Profile;
use offshoot_protocol::{CheckpointMode, Network, PolicyDecision, RerunReason};
use offshoot_sandbox::{InForce, Room, Stdin, Stream};

use super::envelope::{ExecutionResult, Rerun};
use super::executor::ExecutionObserver;
use super::request::ExecutionRequest;
use super::runtime::{Execution, ProxyRuntime};
use super::scene::{Ran, Scene};
use crate::error::Result;

/// How programs say that a file system is read-only (EROFS), by the C library, Node.js, Python and Rust.
const READ_ONLY: [&str; 5] =
    ["Read-only file system", "read-only file system", "EROFS", "[Errno 30]", "os error 30"];

/// How a message ends that a program prints about a file, and hardly any line of a text does.
const MESSAGE_END: &str = ": Read-only file system\n";

/// What is said where a command could be run again, and was not.
const TOO_MUCH_PRINTED: &str = "policy judged this command read-only, but it tried to write; it was not run again because it printed more than \
                                exec.output_limit: --checkpoint always lets it write";

impl<'v> ProxyRuntime<'v> {
    /// Runs a command: on a read-only mount first if policy judged it read-only and a second run would do no harm.
    pub(super) fn run_once_or_twice(
        &self,
        execution: &mut Execution<'_>,
        scene: &Scene<'_>,
        observer: &mut dyn ExecutionObserver,
    ) -> Result<Ran<'v>> {
        let again = match is_judged_read_only(&execution.result) {
            true => again(execution.request, scene.profile),
            false => None,
        };
        let Some(stdin) = again else { return self.attempt(execution, scene, observer) };
        let before = execution.result.clone();
        execution.result.read_only = true;
        let ran = self.attempt(execution, scene, observer)?;
        if !met_read_only(&execution.result) {
            return Ok(ran);
        }
        if is_cut(&execution.result) {
            execution.result.warnings.push(TOO_MUCH_PRINTED.to_owned());
            return Ok(ran);
        }
        ran.session.discard();
        drop((ran.ended, ran.caches));
        let first = std::mem::replace(&mut execution.result, before);
        execution.result.rerun = Some(Rerun {
            reason: RerunReason::WroteToReadOnly,
            exit_code: first.exit_code,
            signal: first.signal,
            duration: first.duration,
        });
        execution.request.stdin = stdin;
        let told = [first.stdout.bytes, first.stderr.bytes];
        self.attempt(execution, scene, &mut Resumed { observer, told, at: [0; 2] })
    }
}

fn is_judged_read_only(result: &ExecutionResult) -> bool {
    result.decision.as_ref().is_some_and(|verdict| {
        verdict.decision == PolicyDecision::Allow && verdict.categories.is_read_only()
    })
}

/// What a second run would read; none where it could not be the same as the first, or would do something twice that others notice.
fn again(request: &ExecutionRequest, profile: &Profile) -> Option<Stdin> {
    let at_terminal = request.terminal.is_some() || request.session || request.joins;
    let reaches_out = request.reach() != Network::None || profile.is_open();
    // What was printed says whether it tried to write.
    let is_known = request.record;
    // Whoever wants a checkpoint in any case expects that it writes.
    let writes = request.read_only || request.checkpoint == CheckpointMode::Always;
    if at_terminal || reaches_out || !is_known || writes {
        return None;
    }
    match &request.stdin {
        Stdin::Empty => Some(Stdin::Empty),
        Stdin::Bytes(bytes) => Some(Stdin::Bytes(bytes.clone())),
        Stdin::From(_) => None,
    }
}

/// Whether a command said that it could not write. The kernel tells nobody else.
fn met_read_only(result: &ExecutionResult) -> bool {
    if result.timed_out || result.interrupted || result.limit_reached.is_some() {
        return false;
    }
    let says = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        // Rules refuse in other words than a mount does.
        let ruled = result.in_force.as_ref().is_some_and(InForce::is_bare);
        READ_ONLY.iter().any(|words| text.contains(words))
            || ruled && text.contains("ermission denied")
    };
    // A command that succeeds may well print a text with such words in it.
    let prints = match result.exit_code {
        Some(0) => String::from_utf8_lossy(result.stdout()).contains(MESSAGE_END),
        _ => says(result.stdout()),
    };
    prints || says(result.stderr())
}

/// Whether more was printed than is kept: then nobody knows what was told to the observer.
fn is_cut(result: &ExecutionResult) -> bool {
    result.stdout.dropped > 0 || result.stderr.dropped > 0
}

/// An observer of the second run, who knows the first. What both printed alike is told once.
struct Resumed<'o> {
    observer: &'o mut dyn ExecutionObserver,
    /// What the first run printed, by stream.
    told: [Vec<u8>; 2],
    /// How much of that the second has printed too.
    at: [usize; 2],
}

impl Resumed<'_> {
    /// How many of these bytes were told before.
    fn known(&mut self, stream: Stream, bytes: &[u8]) -> usize {
        let (told, at) = (&mut self.told[stream as usize], &mut self.at[stream as usize]);
        let rest = &told[*at..];
        let alike = rest.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        *at += alike;
        if alike < bytes.len() {
            // From here on they differ.
            told.truncate(*at);
        }
        alike
    }
}

impl ExecutionObserver for Resumed<'_> {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        let known = self.known(stream, bytes);
        if let Some(room) = self.observer.room() {
            room.free(stream, known);
        }
        if known < bytes.len() {
            self.observer.output(stream, &bytes[known..]);
        }
    }

    fn room(&self) -> Option<Arc<Room>> {
        self.observer.room()
    }

    fn waiting(&mut self, others: u64) {
        self.observer.waiting(others);
    }
}

#[cfg(test)]
mod tests {
    use offshoot_store::Id;

    use super::*;

    #[derive(Default)]
    struct Printed(Vec<u8>);

    impl ExecutionObserver for Printed {
        fn output(&mut self, _stream: Stream, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }

    #[test]
    fn what_both_runs_print_alike_is_told_once() {
        for (first, second, told) in [
            ("", &["a", "b"][..], "ab"),
            ("abc", &["a", "bc", "d"], "d"),
            ("abc", &["ab"], ""),
            ("abx", &["a", "bc", "abx"], "cabx"),
            ("abx", &["c", "abx"], "cabx"),
        ] {
            let mut printed = Printed::default();
            let told_before = [first.as_bytes().to_vec(), Vec::new()];
            let mut resumed = Resumed { observer: &mut printed, told: told_before, at: [0; 2] };
            second.iter().for_each(|piece| resumed.output(Stream::Stdout, piece.as_bytes()));
            assert_eq!(String::from_utf8_lossy(&printed.0), told, "{first:?} {second:?}");
        }
    }

    #[test]
    fn a_command_says_that_it_could_not_write() {
        let met = |exit_code, stdout: &str, stderr: &str| {
            let mut result = ExecutionResult::new(Id::random(), "");
            result.exit_code = Some(exit_code);
            result.stdout.push(stdout.as_bytes(), usize::MAX);
            result.stderr.push(stderr.as_bytes(), usize::MAX);
            met_read_only(&result)
        };
        assert!(met(1, "", "touch: cannot touch 'x': Read-only file system\n"));
        assert!(met(1, "Error: EROFS: read-only file system, open 'x'\n", ""));
        assert!(met(1, "", "OSError: [Errno 30] Das Dateisystem ist nur lesbar: 'x'"));
        assert!(met(0, "", "sh: 1: cannot create x: Read-only file system\n"), "in a pipeline");
        assert!(met(0, "sh: 1: cannot create x: Read-only file system\n", ""), "2>&1 | head");
        assert!(!met(0, "src/errno.rs: EROFS: Read-only file system, errno 30\n", ""));
        assert!(!met(1, "", "No such file or directory\n"));
    }
}
