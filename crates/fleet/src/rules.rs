//! The rules of an agent.

use std::fs;
use std::path::Path;

use offshoot_governance::{GovernanceEngine, GovernanceLayer, GovernanceOptions, GovernanceSource};

use crate::definition::AgentDefinition;
use crate::error::FleetError;

/// The longest file of rules that is read.
const LONGEST: u64 = 1 << 20;

/// Reads the rules that the file of an agent names, and says whether they can be used.
pub fn check_rules(agent: &AgentDefinition) -> Result<(), FleetError> {
    engine(agent).map(drop)
}

/// Reads the rules that a file names. They are those of whoever serves the agent.
pub(crate) fn engine(agent: &AgentDefinition) -> Result<GovernanceEngine, FleetError> {
    let mut sources = Vec::new();
    for path in &agent.governance.rules {
        let (text, name) = (read(path)?, path.display().to_string());
        sources.push(match path.extension().is_some_and(|it| it == "rego") {
            true => GovernanceSource::rego(GovernanceLayer::User, &name, &text),
            false => GovernanceSource::toml(GovernanceLayer::User, &name, &text),
        });
    }
    Ok(GovernanceEngine::new(&GovernanceOptions::of(sources))?)
}

fn read(path: &Path) -> Result<String, FleetError> {
    let failed = |why: std::io::Error| FleetError::file(path, why);
    let found = fs::metadata(path).map_err(failed)?;
    if !found.is_file() || found.len() > LONGEST {
        return Err(FleetError::file(path, "not a file of at most 1 MiB"));
    }
    fs::read_to_string(path).map_err(failed)
}
