//! From a command to a request.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::ErrorBody;
use offshoot_sandbox::{Cancel, InotifyLimit, Limits, Signals, Stdin};
use offshoot_store::Id;
use offshoot_vault::LinkLimit;
use offshoot_workspace::{
    AgentRules, ApprovalTerms, CacheRules, ExecutionRequest, ExecutionTimeout, ExecutionWorkspace,
    FurtherHints, RuntimeOptions, ServiceError,
};

use super::command::{Command, Input};
use super::environment;
use crate::error::Error;
use crate::offshoot::Offshoot;
use crate::sandbox::Rules;
use crate::settings::AgentSettings;

/// More names than this are not kept linked, however small their files are: each costs a call before every command.
const MOST_LINKED_NAMES: u64 = 10_000;

impl Offshoot {
    /// The request for a command of somebody who stands `below` the top of a workspace.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::{Command, ExecutionWorkspace};
    ///
    /// let place = ExecutionWorkspace::Workspace("fix".to_owned());
    /// let request = offshoot.request(Command::new(["make"]), place, None, None);
    /// println!("it will be recorded as {}", request.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(
        &self,
        command: Command,
        place: ExecutionWorkspace,
        below: Option<&Path>,
        cancel: Option<Arc<Cancel>>,
    ) -> ExecutionRequest {
        let exec = &self.config().exec;
        let has_stdin = !matches!(command.input, Input::Nothing);
        let (stdin, terminal) = match command.input {
            Input::Nothing => (Stdin::Empty, None),
            Input::Bytes(bytes) => (Stdin::Bytes(bytes), None),
            Input::From(descriptor) => (Stdin::From(descriptor), None),
            Input::Terminal(terminal) => (Stdin::Empty, Some(terminal)),
        };
        let directory = command.directory.or_else(|| below.map(Path::to_owned));
        let rules = environment::rules(&command.variables);
        let at_terminal = terminal.is_some();
        ExecutionRequest {
            id: Id::random(),
            command: command.line,
            cwd: directory.filter(|directory| !directory.as_os_str().is_empty()),
            environment: rules.apply(self.options().environment.iter().cloned()),
            set_by_caller: command.variables.iter().map(|item| environment::name(item)).collect(),
            stdin,
            has_stdin,
            terminal,
            mark_prompt: command.mark_prompt && at_terminal,
            session: command.session && at_terminal,
            joins: command.joins && at_terminal,
            record: command.record,
            timeout: command.timeout.unwrap_or_else(|| time(exec.timeout)),
            read_only: command.read_only,
            place,
            checkpoint: command.checkpoint,
            network: command.network,
            allow: command.allow,
            sandbox: command.sandbox,
            preset: command.preset,
            show: command.show,
            driver: command.driver.unwrap_or(exec.driver),
            verify: command.verify,
            patch: command.patch,
            wait: command.wait,
            wait_approval: command.wait_approval,
            keep: command.keep,
            actor: self.actor().clone(),
            call: command.call,
            cancel,
        }
    }

    /// What is the same for all commands.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::Error;
    /// use offshoot_engine::exec::{Command, ExecutionWorkspace, ProxyRuntime};
    ///
    /// let rules = engine.rules(project.folder()?.as_deref(), &[])?;
    /// let options = engine.runtime_options(rules, true, None, |error, further| {
    ///     Error::from(error).further(further).body()
    /// });
    /// let runtime = ProxyRuntime::new(vault, project.name(), &options);
    /// # Ok(())
    /// # }
    /// ```
    pub fn runtime_options(
        &self,
        rules: Rules,
        caches: bool,
        signals: Option<Signals>,
        explain: fn(ServiceError, FurtherHints) -> ErrorBody,
    ) -> RuntimeOptions {
        let (exec, cache) = (&self.config().exec, &self.config().cache);
        let limit = |value: u64| Some(value).filter(|value| *value > 0);
        RuntimeOptions {
            viewer: self.viewer(),
            profiles: rules.profiles,
            hidden: vec![self.registry().dir().to_owned()],
            limits: Limits {
                open_files: self.options().open_files,
                processes: limit(exec.max_processes),
                file_size: limit(exec.max_file_size),
                memory: Some(limit(exec.max_memory).unwrap_or_else(usual_memory)),
                cpu: Some(exec.max_cpu).filter(|cpu| !cpu.is_zero()),
                tmpfs: limit(exec.max_tmpfs),
                inotify: InotifyLimit::half(),
            },
            max_disk: limit(exec.max_disk),
            broker: exec.broker,
            lasting: self.lasting(),
            output_limit: usize::try_from(exec.output_limit).unwrap_or(usize::MAX),
            grace: exec.grace,
            links: LinkLimit { names: MOST_LINKED_NAMES, bytes: exec.hard_link_bytes },
            diff: self.diff_options(),
            shared: signals.is_none(),
            signals,
            caches: (cache.enabled && caches)
                .then(|| CacheRules { skip: cache.skipped(), max_size: cache.max_size }),
            agents: AgentRules {
                credentials: self.config().agents.credentials,
                max_cache: self.config().agents.max_cache,
                inject: AgentSettings::presets(&self.config().agents.inject),
                host_state: AgentSettings::presets(&self.config().agents.host_state),
            },
            policy: rules.policy,
            request_rules: rules.request,
            approvals: ApprovalTerms {
                expire: self.approval_settings().expire,
                fallback: self.approval_settings().fallback,
                now: self.rules_now(),
            },
            explain,
        }
    }

    /// What the settings say that walls are made of, but for what was given for this process alone.
    fn lasting(&self) -> Vec<(&'static str, Option<String>)> {
        let exec = &self.config().exec;
        let walls = [
            ("exec.max_processes", exec.max_processes.to_string()),
            ("exec.max_file_size", exec.max_file_size.to_string()),
            ("exec.max_memory", exec.max_memory.to_string()),
            ("exec.max_cpu", format!("{:?}", exec.max_cpu)),
            ("exec.max_tmpfs", exec.max_tmpfs.to_string()),
            ("exec.max_disk", exec.max_disk.to_string()),
            ("exec.broker", exec.broker.to_string()),
        ];
        let said = |(key, value)| (key, Some(value).filter(|_| !self.settings().is_for_now(key)));
        walls.into_iter().map(said).collect()
    }
}

/// How much memory a command may have where nobody says: it leaves some for the machine's own work.
fn usual_memory() -> u64 {
    let machine = rustix::system::sysinfo();
    let total = (machine.totalram as u64).saturating_mul(machine.mem_unit.into());
    total / 4 * 3
}

/// How long a command may take; zero for as long as it wants.
pub(crate) fn time(limit: Duration) -> ExecutionTimeout {
    match limit {
        none if none.is_zero() => ExecutionTimeout::None,
        limit => ExecutionTimeout::Millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)),
    }
}

/// How an error is told to whoever reads an envelope.
pub(crate) fn explain(error: ServiceError, further: FurtherHints) -> ErrorBody {
    Error::from(error).further(further).body()
}

#[cfg(test)]
mod tests;
