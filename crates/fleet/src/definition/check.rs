//! What a file of an agent may not say.

use std::collections::BTreeSet;

use offshoot_transport::{PeerAddress, PeerName, PeerWay};

use super::{AgentDefinition, WorkDefinition};

/// The longest text of a role or a title.
const LONGEST: usize = 64 << 10;

/// What is wrong with it.
pub(super) fn check(agent: &AgentDefinition) -> Result<(), String> {
    if agent.version != 1 {
        return Err(format!("version is {}, and only 1 is known", agent.version));
    }
    let name = |name: &str| PeerName::parse(name).map(drop).map_err(|error| error.to_string());
    name(&agent.name)?;
    for other in agent.governance.tell.iter().chain(agent.operators()) {
        name(other)?;
    }
    if agent.operators().contains(&agent.name) {
        return Err(format!("{} cannot be an operator of itself", agent.name));
    }
    if agent.capabilities.len() > 64 || agent.capabilities.iter().any(String::is_empty) {
        return Err("capabilities has at most 64 names, none of them empty".to_owned());
    }
    let address: PeerAddress = agent.listen.address.parse().map_err(text)?;
    let listen = &agent.listen;
    match address.way {
        PeerWay::Plain if listen.certificate.is_some() || listen.authority.is_some() => {
            return Err("listen: certificates belong to tls:// and quic:// addresses".to_owned());
        }
        PeerWay::Tls | PeerWay::Quic if listen.certificate.is_none() || listen.key.is_none() => {
            return Err(format!("listen: {} needs certificate and key", listen.address));
        }
        PeerWay::Tls | PeerWay::Quic if listen.authority.is_none() && listen.tokens.is_none() => {
            return Err(format!(
                "listen: {} needs authority or tokens: nobody could prove who they are",
                listen.address
            ));
        }
        _ => {}
    }
    for registry in &agent.registries {
        let address: PeerAddress = registry.address.parse().map_err(text)?;
        if address.way != PeerWay::Plain && registry.authority.is_none() {
            return Err(format!("registry {}: needs authority", registry.address));
        }
    }
    let mut jobs = BTreeSet::new();
    if let Some(twice) = agent.jobs.iter().find(|job| !jobs.insert(&job.name)) {
        return Err(format!("there are two jobs {}", twice.name));
    }
    agent.kernel_jobs()?;
    match &agent.work {
        WorkDefinition::Coder(work) if work.role.len() > LONGEST => {
            Err("work: role has at most 64 KiB".to_owned())
        }
        WorkDefinition::Rules if agent.governance.rules.is_empty() => {
            Err("an agent of the kind rules needs governance.rules".to_owned())
        }
        WorkDefinition::Rules if !agent.jobs.is_empty() => {
            Err("an agent of the kind rules has no jobs".to_owned())
        }
        _ => Ok(()),
    }
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
