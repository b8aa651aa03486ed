//! Giving a command what its preset says.

use std::path::Path;

use offshoot_profile::Preset;

use super::agent::AgentRun;
use super::envelope::PresetUse;
use super::request::ExecutionRequest;
use super::runtime::{Execution, ProxyRuntime};
use super::sight::Sight;
use crate::audit::CREDENTIAL_WRITTEN;
use crate::error::{Result, ServiceError};

impl ProxyRuntime<'_> {
    /// The preset of a request.
    pub(super) fn preset_of(&self, request: &ExecutionRequest) -> Result<Option<Preset>> {
        let Some(name) = &request.preset else { return Ok(None) };
        let preset = self.options.profiles.presets.get(name).map_err(ServiceError::Request)?;
        Ok(Some(self.options.viewer.moved(preset).0))
    }

    /// Takes the home of an agent into use, and adds to what the command sees.
    pub(super) fn begin_agent(
        &self,
        execution: &mut Execution<'_>,
        sight: &mut Sight,
        project: &Path,
    ) -> Result<Option<AgentRun>> {
        let Some(name) = &execution.request.preset else { return Ok(None) };
        let viewer = &self.options.viewer;
        let preset = self.options.profiles.presets.get(name).map_err(ServiceError::Request)?;
        let (preset, told) = viewer.moved(preset);
        execution.result.warnings.extend(told);
        execution.result.preset = Some(PresetUse {
            name: preset.name.clone(),
            origin: preset.origin,
            own_sandbox: preset.own_sandbox,
            credentials: Vec::new(),
            host_state: Vec::new(),
        });
        let host = viewer.home.as_ref().and_then(|home| home.canonicalize().ok());
        let Some(host) = host.filter(|_| !self.vault.is_read_only()) else { return Ok(None) };
        // What nobody approved of yet gets no login, and leaves nothing.
        if execution.is_trial() {
            return Ok(None);
        }
        let nests = execution.result.profile.as_ref().is_some_and(|it| it.nested_namespaces);
        if nests && self.options.agents.shares_state(&preset.name) {
            return Err(ServiceError::Request(format!(
                "the state of {} cannot be shared by a profile with `nested_namespaces`: nothing keeps links, pipes and sockets out of it then; \
                 choose another profile with --sandbox, or run the agent without your own sessions by `-c agents.host_state=`",
                preset.name
            )));
        }
        let (copies, told) = sight.add_settings(viewer, &preset);
        execution.result.warnings.extend(told);
        let rules = self.options.agents.clone();
        let begun = AgentRun::begin(self.vault, preset, (host, project.to_owned()), rules, copies);
        match begun {
            Ok((run, warnings)) => {
                execution.result.warnings.extend(warnings);
                if let Some(used) = &mut execution.result.preset {
                    used.host_state = run.shared();
                }
                Ok(Some(run))
            }
            Err(error) => {
                let warning = format!("the home of the agent was not kept: {error}");
                execution.result.warnings.push(warning);
                Ok(None)
            }
        }
    }

    /// Leaves out refused hosts that an agent goes on without: nobody has to allow them.
    pub(super) fn forget_quiet_hosts(&self, execution: &mut Execution<'_>) {
        // What cannot be read was told before.
        let Some(preset) = self.preset_of(execution.request).ok().flatten() else { return };
        if let Some(report) = &mut execution.result.egress {
            report.refused.retain(|refused| !preset.is_quiet(&refused.host.to_string()));
        }
    }

    /// Records which files with credentials were written to the user's home.
    pub(super) fn note_credentials(&self, execution: &mut Execution<'_>) {
        let Some(used) = &execution.result.preset else { return };
        let (exec, actor) = (execution.result.id, &execution.request.actor);
        let workspace = execution.result.workspace.as_ref().map(|(id, _)| *id);
        let mut problems = Vec::new();
        for kept in used.credentials.iter().filter(|kept| kept.to_host > 0) {
            let noted = self.vault.record_event(CREDENTIAL_WRITTEN, actor, |tx| {
                if let Some(workspace) = workspace {
                    tx.scope(workspace);
                }
                tx.summary(format!("write {} of {} to the user's home", kept.path, used.name));
                tx.detail("exec", exec);
                tx.detail("preset", &used.name);
                tx.detail("path", &kept.path);
                tx.detail("times", kept.to_host);
                Ok(())
            });
            problems.extend(noted.err().map(|error| {
                format!("{} was written to your home, which is not recorded: {error}", kept.path)
            }));
        }
        execution.result.warnings.extend(problems);
    }
}
