//! What may run: a request that policy has let through, and nothing else.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use offshoot_policy::{Context, Policy, Verdict};
use offshoot_profile::Profile;
use offshoot_sandbox::Stdin;
use offshoot_store::Id;

use super::envelope::ExecutionResult;
use super::request::{CommandLine, ExecutionRequest, ExecutionWorkspace};
use crate::error::{Result, ServiceError};
use crate::policy::{CommandPaths, context_of, judge};

/// A request that may run, or be tried.
///
/// Only [`ProxyRuntime::clear`](super::runtime::ProxyRuntime::clear) makes one, by asking policy, and
/// [`ProxyRuntime::granted`](super::runtime::ProxyRuntime::granted), by a person's approval of that very request.
/// [`ProxyRuntime::run`](super::runtime::ProxyRuntime::run) takes nothing else. It is bound by a digest to that very request, to the vault,
/// to the rules and to the folders that policy saw: where one of them differs when it should run, it does not.
///
/// ```
/// use offshoot_workspace::{Cleared, ExecutionEnvelope, ExecutionRequest, ProxyRuntime};
///
/// fn once(runtime: &ProxyRuntime<'_>, request: ExecutionRequest) -> ExecutionEnvelope {
///     match runtime.clear(request) {
///         Ok(cleared) => runtime.run(cleared, &mut ()),
///         Err(refused) => *refused,
///     }
/// }
///
/// fn shown(cleared: &Cleared) -> String {
///     format!("{} {}", cleared.digest(), cleared.request().command.display())
/// }
/// ```
///
/// A request that nobody has cleared does not run:
///
/// ```compile_fail,E0308
/// # use offshoot_workspace::{ExecutionRequest, ProxyRuntime};
/// fn unasked(runtime: &ProxyRuntime<'_>, request: ExecutionRequest) {
///     runtime.run(request, &mut ());
/// }
/// ```
///
/// It runs once:
///
/// ```compile_fail,E0382
/// # use offshoot_workspace::{Cleared, ProxyRuntime};
/// fn twice(runtime: &ProxyRuntime<'_>, cleared: Cleared) {
///     runtime.run(cleared, &mut ());
///     runtime.run(cleared, &mut ());
/// }
/// ```
///
/// It cannot be kept for later by a copy:
///
/// ```compile_fail,E0277
/// # use offshoot_workspace::{Cleared, ProxyRuntime};
/// fn copied(runtime: &ProxyRuntime<'_>, cleared: &Cleared) {
///     runtime.run(Cleared::clone(cleared), &mut ());
/// }
/// ```
///
/// What was cleared cannot be altered:
///
/// ```compile_fail,E0594
/// # use offshoot_workspace::{Cleared, CommandLine};
/// fn altered(cleared: &mut Cleared) {
///     cleared.request().command = CommandLine::Shell("curl example.org | sh".into());
/// }
/// ```
///
/// ```compile_fail,E0616
/// # use offshoot_workspace::{Cleared, ExecutionRequest};
/// fn swapped(cleared: &mut Cleared, other: ExecutionRequest) {
///     cleared.request = other;
/// }
/// ```
///
/// And nobody else can make one:
///
/// ```compile_fail,E0451
/// # use offshoot_workspace::{Cleared, ExecutionRequest};
/// fn forged(request: ExecutionRequest, real: Cleared) -> Cleared {
///     Cleared { request, ..real }
/// }
/// ```
#[derive(Debug)]
pub struct Cleared {
    request: ExecutionRequest,
    result: ExecutionResult,
    clearance: Clearance,
    started: Instant,
}

impl Cleared {
    /// The request and what was found out about it so far, with the clearance that was given for it. Whether they belong together is
    /// looked at when it runs.
    pub(super) fn new(
        request: ExecutionRequest,
        mut result: ExecutionResult,
        clearance: Clearance,
        started: Instant,
    ) -> Self {
        result.decision = Some(clearance.verdict.clone());
        Self { request, result, clearance, started }
    }

    /// What may run.
    pub fn request(&self) -> &ExecutionRequest {
        &self.request
    }

    /// What was decided about it.
    pub fn verdict(&self) -> &Verdict {
        &self.clearance.verdict
    }

    /// What it is bound to.
    pub fn digest(&self) -> &RequestDigest {
        &self.clearance.digest
    }

    /// Takes it apart in order to run it.
    pub(super) fn into_parts(self) -> (ExecutionRequest, ExecutionResult, Clearance, Instant) {
        (self.request, self.result, self.clearance, self.started)
    }
}

/// That policy, or a person, lets one request run.
#[derive(Debug)]
pub(super) struct Clearance {
    verdict: Verdict,
    digest: RequestDigest,
    purpose: Purpose,
}

/// What a request may run for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// What it does becomes the next state of its workspace.
    Run,
    /// What it does waits for a person to decide. This is what it was asked as, before the network was taken from it.
    Trial(RequestDigest),
    /// A person decided that it runs, in the workspace as it was then.
    Granted(Grant),
}

/// A person's word for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// The approval, which is named like the exec that it is for.
    pub(super) approval: Id,
    /// The workspace that it is for; none where it was not there when it was asked for.
    pub(super) workspace: Option<Id>,
    /// The state that its workspace must have; none where the workspace is not there yet.
    pub(super) base: Option<Id>,
}

impl Clearance {
    /// Asks policy about a request; the verdict where it may not run.
    pub(super) fn ask(
        request: &ExecutionRequest,
        surroundings: &Surroundings<'_>,
    ) -> std::result::Result<Self, Verdict> {
        let context = surroundings.context(request);
        let verdict = judge(surroundings.policy, &request.command, &context);
        match verdict.decision.runs() {
            true => Ok(Self::new(request, surroundings, verdict, Purpose::Run)),
            false => Err(verdict),
        }
    }

    /// For a request that policy does not let run by itself.
    pub(super) fn new(
        request: &ExecutionRequest,
        surroundings: &Surroundings<'_>,
        verdict: Verdict,
        purpose: Purpose,
    ) -> Self {
        let digest = digest(request, surroundings, &surroundings.context(request));
        Self { verdict, digest, purpose }
    }

    /// What was decided.
    pub(super) fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The same.
    pub(super) fn into_verdict(self) -> Verdict {
        self.verdict
    }

    /// The workspace that it must start in, and the state that this must have.
    pub(super) fn starting(mut self, (workspace, base): (Option<Id>, Option<Id>)) -> Self {
        if let Purpose::Granted(grant) = &mut self.purpose {
            (grant.workspace, grant.base) = (workspace, base);
        }
        self
    }

    /// What it may run for.
    pub(super) fn purpose(&self) -> &Purpose {
        &self.purpose
    }

    /// Whether it was given for this request in these surroundings.
    pub(super) fn check(
        &self,
        request: &ExecutionRequest,
        surroundings: &Surroundings<'_>,
    ) -> Result<()> {
        let context = surroundings.context(request);
        match digest(request, surroundings, &context) == self.digest {
            true => Ok(()),
            false => Err(ServiceError::StaleClearance),
        }
    }
}

/// What a request that is not let run becomes.
pub(super) enum Referred {
    /// It may run all the same, or be tried.
    Cleared(Clearance),
    /// It waits, or does not run.
    Refused(Verdict),
}

/// What policy sees beside the request.
#[derive(Debug)]
pub(super) struct Surroundings<'a> {
    /// The vault that it is for.
    pub(super) vault: Id,
    /// The rules.
    pub(super) policy: &'a Policy,
    /// Where the workspace is seen.
    pub(super) workspace: &'a Path,
    /// Where further folders of it are seen.
    pub(super) folders: &'a [PathBuf],
    /// Where the command starts.
    pub(super) cwd: &'a Path,
    /// The user's home.
    pub(super) user_home: Option<&'a Path>,
    /// What it may read, reach and use.
    pub(super) profile: &'a Profile,
}

impl Surroundings<'_> {
    fn context(&self, request: &ExecutionRequest) -> Context {
        let Self { vault: _, policy: _, workspace, folders, cwd, user_home, profile } = *self;
        let unconfined = profile.is_open();
        context_of(request, &CommandPaths { workspace, folders, cwd, user_home, unconfined })
    }
}

/// What a request is recognised by: everything that it asks for, and everything that policy sees of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestDigest([u8; blake3::OUT_LEN]);

impl fmt::Display for RequestDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RequestDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestDigest({self})")
    }
}

/// What the same command of the same session is recognised by, whatever its id is and whenever it comes; [`in_workspace`] adds where.
pub(super) fn repeats(request: &ExecutionRequest, surroundings: &Surroundings<'_>) -> String {
    let mut feed = Feed(blake3::Hasher::new_derive_key("offshoot repeated request 1"));
    feed.text(&surroundings.vault);
    feed.arguments(&request.command);
    feed.os(surroundings.cwd);
    // What the caller says, and what decides which program a name is.
    let given =
        |(name, _): &&(OsString, OsString)| request.set_by_caller.contains(name) || name == "PATH";
    feed.list(request.environment.iter().filter(given), |feed, (name, value)| {
        feed.os(name);
        feed.os(value);
    });
    match &request.stdin {
        Stdin::Empty => feed.bytes(b"empty"),
        Stdin::Bytes(bytes) => feed.list([bytes], |feed, bytes| feed.bytes(bytes)),
        // Nobody knows what comes there.
        Stdin::From(_) => feed.text(&request.id),
    }
    feed.word(&(request.reach(), request.read_only, &request.allow, &request.sandbox));
    feed.list(&request.show, |feed, path| feed.os(path));
    feed.list(&request.preset, |feed, name| feed.os(name));
    feed.word(surroundings.profile);
    feed.word(&request.actor);
    RequestDigest(*feed.0.finalize().as_bytes()).to_string()
}

/// The same in one workspace, whatever it is called.
pub(super) fn in_workspace(repeats: &str, workspace: &Id) -> String {
    let mut feed = Feed(blake3::Hasher::new_derive_key("offshoot repeated request 1 place"));
    feed.bytes(repeats.as_bytes());
    feed.text(workspace);
    RequestDigest(*feed.0.finalize().as_bytes()).to_string()
}

/// The digest of a request as it stands.
pub(super) fn digest_of(
    request: &ExecutionRequest,
    surroundings: &Surroundings<'_>,
) -> RequestDigest {
    digest(request, surroundings, &surroundings.context(request))
}

/// Every field is named, so that a new one is not forgotten.
fn digest(
    request: &ExecutionRequest,
    surroundings: &Surroundings<'_>,
    context: &Context,
) -> RequestDigest {
    let ExecutionRequest {
        id,
        command,
        cwd,
        environment,
        set_by_caller,
        stdin,
        has_stdin,
        terminal,
        mark_prompt,
        session,
        joins,
        record,
        timeout,
        read_only,
        place,
        checkpoint,
        network,
        allow,
        sandbox,
        preset,
        show,
        driver,
        verify,
        patch,
        wait,
        keep,
        actor,
        call,
        // Nor does how long somebody waits.
        wait_approval: _,
        // How it is ended changes nothing of what it does.
        cancel: _,
    } = request;
    let mut feed = Feed(blake3::Hasher::new_derive_key("offshoot request 1"));
    feed.text(&surroundings.vault);
    feed.bytes(&surroundings.policy.digest());
    let Context {
        workspace: seen_at,
        folders,
        cwd: starts_in,
        home,
        network: reach,
        read_only: _,
        unconfined: _,
        terminal: _,
        stdin: _,
        environment: judged,
    } = context;
    feed.os(seen_at);
    feed.list(folders, |feed, folder| feed.os(folder));
    feed.os(starts_in);
    feed.list(home, |feed, home| feed.os(home));
    feed.word(reach);
    feed.list(judged, |feed, (name, value)| {
        feed.os(name);
        feed.os(value);
    });
    feed.text(id);
    feed.arguments(command);
    feed.list(cwd, |feed, cwd| feed.os(cwd));
    feed.list(environment, |feed, (name, value)| {
        feed.os(name);
        feed.os(value);
    });
    feed.list(set_by_caller, |feed, name| feed.os(name));
    match stdin {
        Stdin::Empty => feed.bytes(b"empty"),
        Stdin::Bytes(bytes) => feed.list([bytes], |feed, bytes| feed.bytes(bytes)),
        Stdin::From(_) => feed.bytes(b"stream"),
    }
    let flags = [
        *has_stdin,
        terminal.is_some(),
        *mark_prompt,
        *session,
        *joins,
        *record,
        *read_only,
        *verify,
        *patch,
        *keep,
    ];
    feed.word(&flags);
    match place {
        ExecutionWorkspace::Workspace(name) => feed.os(name),
        ExecutionWorkspace::Existing { id, name } => {
            feed.word(id);
            feed.os(name);
        }
        ExecutionWorkspace::Fork { from, lifetime } => {
            feed.list(from, |feed, from| feed.os(from));
            feed.word(lifetime);
        }
    }
    feed.word(&(timeout, checkpoint, network, driver, wait));
    feed.list(allow, |feed, rule| feed.os(rule));
    feed.list(call, |feed, call| {
        feed.text(&call.session);
        feed.os(&call.call);
    });
    feed.list(sandbox, |feed, name| feed.os(name));
    feed.list(preset, |feed, name| feed.os(name));
    feed.list(show, |feed, path| feed.os(path));
    feed.word(surroundings.profile);
    feed.word(actor);
    RequestDigest(*feed.0.finalize().as_bytes())
}

/// Parts of a digest, each with its length, so that no two lists of parts look the same.
struct Feed(blake3::Hasher);

impl Feed {
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update(&(bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn os(&mut self, text: impl AsRef<OsStr>) {
        self.bytes(text.as_ref().as_bytes());
    }

    fn arguments(&mut self, command: &CommandLine) {
        match command {
            CommandLine::Argv(arguments) => self.list(arguments, |feed, word| feed.os(word)),
            CommandLine::Shell(text) => {
                self.bytes(b"shell");
                self.os(text);
            }
        }
    }

    fn text(&mut self, shown: &impl fmt::Display) {
        self.bytes(shown.to_string().as_bytes());
    }

    /// Values of few words and numbers.
    fn word(&mut self, value: &impl fmt::Debug) {
        self.bytes(format!("{value:?}").as_bytes());
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut add: impl FnMut(&mut Self, T)) {
        let mut count: u64 = 0;
        for item in items {
            self.0.update(&[1]);
            add(self, item);
            count += 1;
        }
        self.0.update(&[0]);
        self.0.update(&count.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
