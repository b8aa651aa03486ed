//! Giving a command what its preset says.

use std::path::Path;

use offshoot_profile::Preset;

use super::agent::AgentRun;
use super::envelope::PresetUse;
use super::runtime::{Execution, ProxyRuntime};
use super::sight::Sight;
use crate::error::{Result, ServiceError};

impl ProxyRuntime<'_> {
    /// The preset of a request.
    pub(super) fn preset(&self, execution: &Execution<'_>) -> Result<Option<Preset>> {
        let Some(name) = &execution.request.preset else { return Ok(None) };
        self.options.profiles.presets.get(name).map(Some).map_err(ServiceError::Request)
    }

    /// Takes the home of an agent into use, and adds to what the command sees.
    pub(super) fn begin_agent(
        &self,
        execution: &mut Execution<'_>,
        sight: &mut Sight,
        project: &Path,
    ) -> Result<Option<AgentRun>> {
        let Some(preset) = self.preset(execution)? else { return Ok(None) };
        let viewer = &self.options.viewer;
        execution.result.preset = Some(PresetUse {
            name: preset.name.clone(),
            origin: preset.origin,
            credentials: Vec::new(),
        });
        let host = viewer.home.as_ref().and_then(|home| home.canonicalize().ok());
        let Some(host) = host.filter(|_| !self.vault.is_read_only()) else { return Ok(None) };
        // What nobody approved of yet gets no login, and leaves nothing.
        if execution.is_trial() {
            return Ok(None);
        }
        let (copies, told) = sight.add_settings(viewer, &preset);
        execution.result.warnings.extend(told);
        let rules = self.options.agents;
        let begun = AgentRun::begin(self.vault, preset, (host, project.to_owned()), rules, copies);
        match begun {
            Ok((run, warnings)) => {
                execution.result.warnings.extend(warnings);
                Ok(Some(run))
            }
            Err(error) => {
                let warning = format!("the home of the agent was not kept: {error}");
                execution.result.warnings.push(warning);
                Ok(None)
            }
        }
    }
}
