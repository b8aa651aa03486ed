//! Running git so that nothing runs besides: no hooks, no pagers, no editors, nothing that asks, nothing from elsewhere.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::drivers::Overrides;
use super::error::{GitError, GitResult};
use super::options::{GitOptions, IDENTITY};

/// Settings that win over those of files. What has names of its own, such as filters, is found by `drivers`.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=false",
    "sequence.editor=false",
    "core.askPass=",
    "core.sshCommand=false",
    "core.alternateRefsCommand=true",
    "core.gitProxy=",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "init.templateDir=",
    "uploadpack.packObjectsHook=",
    "credential.helper=",
    "protocol.allow=never",
    "diff.external=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "log.showSignature=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "user.useConfigOnly=true",
];

/// Variables that say the same to programs that git starts.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    // A protocol that a repository allows by its name would win over `protocol.allow`.
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_ASKPASS", "false"),
    ("SSH_ASKPASS", "false"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_EDITOR", "false"),
    ("GIT_PAGER", "cat"),
];

/// Git in a directory.
#[derive(Clone, Debug)]
pub(crate) struct Git {
    options: GitOptions,
    directory: PathBuf,
    /// Another index than the repository's own.
    index: Option<PathBuf>,
    /// Another repository than the directory's, and the working tree.
    repository: Option<[PathBuf; 2]>,
    /// What is set in the place of programs that the repository names, once somebody asked.
    overrides: Arc<OnceLock<Overrides>>,
}

/// What a run of git gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

impl Git {
    pub(crate) fn new(options: &GitOptions, directory: &Path) -> Self {
        let (options, directory) = (options.clone(), directory.to_owned());
        Self { options, directory, index: None, repository: None, overrides: Arc::default() }
    }

    /// The same with another index.
    pub(crate) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// The same with another repository for a working tree.
    pub(crate) fn with_repository(&self, repository: &Path, tree: &Path) -> Self {
        let repository = Some([repository.to_owned(), tree.to_owned()]);
        Self { repository, overrides: Arc::default(), ..self.clone() }
    }

    /// The same in another directory of the same repository.
    pub(crate) fn in_directory(&self, directory: &Path) -> Self {
        Self { directory: directory.to_owned(), ..self.clone() }
    }

    pub(crate) fn options(&self) -> &GitOptions {
        &self.options
    }

    /// What it prints; anything but success is an error.
    pub(crate) fn output<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Vec<u8>> {
        self.output_of(arguments, &[])
    }

    /// What it prints when it is given some input.
    pub(crate) fn output_of<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> GitResult<Vec<u8>> {
        succeeded(arguments, self.run(self.command(arguments)?, arguments, input)?)
    }

    /// The first line that it prints, as text.
    pub(crate) fn line<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<String> {
        let bytes = self.output(arguments)?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
    }

    /// How it ends, whatever that is.
    pub(crate) fn try_output<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        input: &[u8],
    ) -> GitResult<Ran> {
        self.run(self.command(arguments)?, arguments, input)
    }

    /// The same in a language that can be read by a program.
    pub(crate) fn try_plain<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Ran> {
        let mut command = self.command(arguments)?;
        command.env("LC_ALL", "C");
        self.run(command, arguments, &[])
    }

    /// What it prints with some variables more.
    pub(crate) fn output_with<A: AsRef<OsStr>>(
        &self,
        arguments: &[A],
        variables: &[(&str, impl AsRef<OsStr>)],
        input: &[u8],
    ) -> GitResult<Vec<u8>> {
        let mut command = self.command(arguments)?;
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        succeeded(arguments, self.run(command, arguments, input)?)
    }

    /// Starts it, to be talked to.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Talk> {
        let mut command = self.command(arguments)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.not_run(arguments, error))?;
        let missing = "the child's ends are pipes";
        let input = child.stdin.take().expect(missing);
        let output = child.stdout.take().expect(missing);
        let errors = read_beside(child.stderr.take().expect(missing));
        let (input, output) = (io::BufWriter::new(input), io::BufReader::new(output));
        Ok(Talk { what: text_of(arguments), child, input, output, errors })
    }

    /// Filters that only the repository names: they do not run, so no file that has one may be stored.
    pub(crate) fn missing_filters(&self) -> GitResult<&BTreeSet<String>> {
        Ok(&self.overrides()?.filters)
    }

    fn overrides(&self) -> GitResult<&Overrides> {
        if let Some(known) = self.overrides.get() {
            return Ok(known);
        }
        let listed = self.settings()?;
        Ok(self.overrides.get_or_init(|| Overrides::read(&listed)))
    }

    /// All settings, as `git config --list -z --show-scope` prints them.
    pub(super) fn settings(&self) -> GitResult<Vec<u8>> {
        let arguments = ["config", "--list", "-z", "--show-scope"];
        let command = self.bare_command(&arguments)?;
        succeeded(&arguments, self.run(command, &arguments, &[])?)
    }

    /// The one place where git is started from: nothing that a repository names runs with it.
    fn command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Command> {
        let mut command = self.bare_command(arguments)?;
        command.envs(self.overrides()?.variables());
        Ok(command)
    }

    /// The same before it is known which programs the repository names.
    fn bare_command<A: AsRef<OsStr>>(&self, arguments: &[A]) -> GitResult<Command> {
        let directories = self.program_directories();
        let mut command = Command::new(self.program(&directories)?);
        command.env_clear().current_dir(&self.directory);
        for (name, value) in &self.options.environment {
            let steers = name.as_encoded_bytes().starts_with(b"GIT_");
            if !steers || IDENTITY.iter().any(|known| name == known) {
                command.env(name, value);
            }
        }
        if let Ok(path) = std::env::join_paths(&directories) {
            command.env("PATH", path);
        }
        command.envs(VARIABLES.iter().copied());
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        if let Some([repository, tree]) = &self.repository {
            command.env("GIT_DIR", repository).env("GIT_WORK_TREE", tree);
        }
        command.arg("--no-pager");
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(arguments);
        // Ctrl-C ends us, and what git is at is finished rather than left half done.
        command.process_group(0);
        Ok(command)
    }

    /// Where git and what it starts are looked for: nowhere that a workspace could bring a program to.
    fn program_directories(&self) -> Vec<PathBuf> {
        let path = self.options.environment.iter().find(|(name, _)| name == "PATH");
        let all = path.into_iter().flat_map(|(_, value)| std::env::split_paths(value));
        let real = self.directory.canonicalize().unwrap_or_else(|_| self.directory.clone());
        let is_inside = |directory: &Path| {
            let found = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
            directory.starts_with(&self.directory) || found.starts_with(&real)
        };
        all.filter(|directory| directory.is_absolute() && !is_inside(directory)).collect()
    }

    fn program(&self, directories: &[PathBuf]) -> GitResult<PathBuf> {
        let program = &self.options.program;
        let is_known = program.parent().is_none_or(|parent| {
            parent.as_os_str().is_empty() || directories.iter().any(|directory| directory == parent)
        });
        // One from a directory that does not count is looked for once more in those that do.
        match is_known || !program.starts_with(&self.directory) {
            true => Ok(program.clone()),
            false => {
                let mut found = directories.iter().map(|directory| directory.join("git"));
                found
                    .find(|program| program.is_file())
                    .ok_or_else(|| GitError::Missing(program.clone()))
            }
        }
    }

    fn run<A: AsRef<OsStr>>(
        &self,
        mut command: Command,
        arguments: &[A],
        input: &[u8],
    ) -> GitResult<Ran> {
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| self.not_run(arguments, error))?;
        if let Some(pipe) = child.stdin.take() {
            write_beside(pipe, input.to_vec()).map_err(|error| {
                end(&mut child);
                self.not_run(arguments, error)
            })?;
        }
        let stdout = child.stdout.take().map(read_beside);
        let stderr = child.stderr.take().map(read_beside);
        let limit = self.options.limit;
        match wait(&mut child, stdout, stderr, limit) {
            Ok(ran) => Ok(ran),
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                end(&mut child);
                Err(GitError::Slow { what: text_of(arguments), seconds: limit.as_secs() })
            }
            Err(error) => {
                end(&mut child);
                Err(self.not_run(arguments, error))
            }
        }
    }

    fn not_run<A: AsRef<OsStr>>(&self, arguments: &[A], source: io::Error) -> GitError {
        let missing = source.kind() == io::ErrorKind::NotFound && self.directory.is_dir();
        if missing {
            return GitError::Missing(self.options.program.clone());
        }
        GitError::Run { what: text_of(arguments), source }
    }
}

/// A git that reads what it is to do and answers.
#[derive(Debug)]
pub(crate) struct Talk {
    what: String,
    child: Child,
    pub(crate) input: io::BufWriter<ChildStdin>,
    pub(crate) output: io::BufReader<std::process::ChildStdout>,
    errors: Receiver<io::Result<Vec<u8>>>,
}

impl Talk {
    /// Closes its input and waits for its end.
    pub(crate) fn finish(mut self) -> GitResult<()> {
        let failed = |source| GitError::Run { what: self.what.clone(), source };
        self.input.flush().map_err(failed)?;
        let Self { what, mut child, input, mut output, errors } = self;
        drop(input);
        let mut rest = Vec::new();
        let ended = output.read_to_end(&mut rest).and_then(|_| child.wait());
        let status = ended.map_err(|source| GitError::Run { what: what.clone(), source })?;
        if status.success() {
            return Ok(());
        }
        let stderr = errors.recv().ok().and_then(Result::ok).unwrap_or_default();
        Err(failure(what, status, &stderr))
    }

    /// Ends it where it is. What it said about it, if it ended by itself, is the better error.
    pub(crate) fn abandon(mut self, error: GitError) -> GitError {
        let ended = self.child.try_wait().ok().flatten();
        end(&mut self.child);
        let said = self.errors.recv_timeout(Duration::from_secs(1)).ok().and_then(Result::ok);
        match (ended, said) {
            (Some(status), Some(stderr)) if !stderr.is_empty() => {
                failure(self.what, status, &stderr)
            }
            _ => error,
        }
    }

    /// Ends it where it is.
    pub(crate) fn end(mut self) {
        end(&mut self.child);
    }

    /// The number of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// What it is doing, for errors.
    pub(crate) fn what(&self) -> &str {
        &self.what
    }
}

/// What went wrong, when it ended with anything but success.
pub(crate) fn succeeded<A: AsRef<OsStr>>(arguments: &[A], ran: Ran) -> GitResult<Vec<u8>> {
    if ran.status.success() {
        return Ok(ran.stdout);
    }
    Err(failure(text_of(arguments), ran.status, &ran.stderr))
}

fn failure(what: String, status: ExitStatus, stderr: &[u8]) -> GitError {
    let stderr = String::from_utf8_lossy(stderr).trim().to_owned();
    GitError::Failed { what, code: status.code(), stderr }
}

/// The subcommand, for errors.
fn text_of<A: AsRef<OsStr>>(arguments: &[A]) -> String {
    arguments
        .first()
        .map_or_else(String::new, |first| first.as_ref().to_string_lossy().into_owned())
}

fn read_beside(mut pipe: impl Read + Send + 'static) -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel();
    let told = sender.clone();
    let read = move || {
        let mut bytes = Vec::new();
        let read = pipe.read_to_end(&mut bytes).map(|_| bytes);
        // Nobody listens any more where the time was over.
        drop(told.send(read));
    };
    if let Err(error) = std::thread::Builder::new().spawn(read) {
        drop(sender.send(Err(error)));
    }
    receiver
}

fn write_beside(mut pipe: ChildStdin, bytes: Vec<u8>) -> io::Result<()> {
    // A git that does not read all of it says why by how it ends.
    let write = move || drop(pipe.write_all(&bytes));
    std::thread::Builder::new().spawn(write).map(drop)
}

type Reading = Option<Receiver<io::Result<Vec<u8>>>>;

fn wait(child: &mut Child, stdout: Reading, stderr: Reading, limit: Duration) -> io::Result<Ran> {
    let deadline = Instant::now() + limit;
    let stdout = received(stdout, deadline)?;
    let stderr = received(stderr, deadline)?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ran { status, stdout, stderr });
        }
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        // It has closed both of its outputs, so this is its very end.
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn received(reading: Reading, deadline: Instant) -> io::Result<Vec<u8>> {
    let Some(receiver) = reading else { return Ok(Vec::new()) };
    let left = deadline.saturating_duration_since(Instant::now());
    match receiver.recv_timeout(left) {
        Ok(bytes) => bytes,
        Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
        Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Ends a git with everything that it started.
fn end(child: &mut Child) {
    let group = rustix::process::Pid::from_child(child);
    // It may be over already; then there is nothing to end.
    let killed = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    drop(killed.map_err(io::Error::from).or_else(|_| child.kill()));
    drop(child.wait());
}
