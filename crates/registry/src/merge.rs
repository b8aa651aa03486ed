//! One answer out of those of several registries, with all that they do not agree on.

use std::collections::BTreeMap;

use offshoot_mxp::{AgentCard, DiscoveredBody};

use crate::error::SilentRegistry;

/// What one registry answered.
pub type RegistryAnswer = (String, Result<DiscoveredBody, String>);

/// An agent that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredAgent {
    /// Its card; that of the first registry that knows it.
    pub card: AgentCard,
    /// The registries that know it.
    pub registries: Vec<String>,
}

/// An agent that registries do not say the same of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryDisagreement {
    /// The agent.
    pub agent_id: String,
    /// What each registry that answered says; nothing if it does not know the agent.
    pub cards: Vec<(String, Option<AgentCard>)>,
}

/// What all registries know together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryDiscovery {
    /// Every agent that somebody knows, by id.
    pub agents: Vec<DiscoveredAgent>,
    /// Registries that did not answer.
    pub silent: Vec<SilentRegistry>,
    /// Agents on which those that answered do not agree.
    pub disagreements: Vec<RegistryDisagreement>,
    /// Registries that know more agents than they listed.
    pub incomplete: Vec<String>,
}

impl RegistryDiscovery {
    /// Joins what registries answered, in the order of the list.
    pub fn merge(answers: Vec<RegistryAnswer>) -> Self {
        let mut discovery = Self::default();
        let mut answered: Vec<(String, BTreeMap<String, AgentCard>, bool)> = Vec::new();
        for (registry, answer) in answers {
            match answer {
                Ok(found) => {
                    let is_whole = found.count <= found.agents.len();
                    if !is_whole {
                        discovery.incomplete.push(registry.clone());
                    }
                    let cards = found.agents.into_iter().map(|card| (card.id.clone(), card));
                    answered.push((registry, cards.collect(), is_whole));
                }
                Err(reason) => discovery.silent.push(SilentRegistry { registry, reason }),
            }
        }
        let mut agents: BTreeMap<&str, DiscoveredAgent> = BTreeMap::new();
        for (registry, cards, _) in &answered {
            for (id, card) in cards {
                let new = || DiscoveredAgent { card: card.clone(), registries: Vec::new() };
                agents.entry(id).or_insert_with(new).registries.push(registry.clone());
            }
        }
        for (id, agent) in &agents {
            // Who did not list all says nothing about those that are missing.
            let agrees = |(_, cards, is_whole): &(String, BTreeMap<String, AgentCard>, bool)| {
                cards.get(*id).map_or(!is_whole, |card| *card == agent.card)
            };
            if !answered.iter().all(agrees) {
                let say = answered
                    .iter()
                    .map(|(registry, cards, _)| (registry.clone(), cards.get(*id).cloned()));
                let (agent_id, cards) = ((*id).to_owned(), say.collect());
                discovery.disagreements.push(RegistryDisagreement { agent_id, cards });
            }
        }
        discovery.agents = agents.into_values().collect();
        discovery
    }

    /// Whether all registries answered with all they have, and agree.
    pub fn is_whole(&self) -> bool {
        self.silent.is_empty() && self.disagreements.is_empty() && self.incomplete.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: &str, address: &str) -> AgentCard {
        AgentCard {
            id: id.to_owned(),
            name: id.to_owned(),
            capabilities: vec!["plan".to_owned()],
            address: address.to_owned(),
            metadata: BTreeMap::new(),
        }
    }

    fn found(agents: &[(&str, &str)], count: usize) -> Result<DiscoveredBody, String> {
        let agents = agents.iter().map(|(id, address)| card(id, address)).collect();
        Ok(DiscoveredBody { capability: "plan".to_owned(), agents, count })
    }

    fn merged(answers: Vec<Result<DiscoveredBody, String>>) -> RegistryDiscovery {
        let names = ["one", "two", "three"].map(str::to_owned);
        RegistryDiscovery::merge(names.into_iter().zip(answers).collect())
    }

    #[test]
    fn registries_that_agree_give_one_answer() {
        let all = [("a", "x"), ("b", "y")];
        let merged = merged(vec![found(&all, 2), found(&all, 2)]);
        assert!(merged.is_whole());
        let ids: Vec<&str> = merged.agents.iter().map(|it| it.card.id.as_str()).collect();
        assert_eq!(ids, ["a", "b"]);
        assert_eq!(merged.agents[0].registries, ["one", "two"]);
    }

    #[test]
    fn what_is_missing_or_different_is_told() {
        let merged = merged(vec![
            found(&[("a", "x"), ("b", "y")], 2),
            Err("it is down".to_owned()),
            found(&[("b", "z"), ("c", "y")], 2),
        ]);
        assert_eq!(merged.silent[0].registry, "two");
        let told: Vec<&str> = merged.disagreements.iter().map(|it| it.agent_id.as_str()).collect();
        assert_eq!(told, ["a", "b", "c"]);
        assert_eq!(merged.agents[1].card.address, "y");
        assert_eq!(merged.disagreements[0].cards[1], ("three".to_owned(), None));
    }

    #[test]
    fn a_list_that_is_cut_is_no_disagreement() {
        let merged = merged(vec![found(&[("a", "x"), ("b", "y")], 2), found(&[("a", "x")], 2)]);
        assert!(merged.disagreements.is_empty() && !merged.is_whole());
        assert_eq!(merged.incomplete, ["two"]);
    }
}
