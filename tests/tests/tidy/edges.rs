//! Which crate may depend on which: the architecture as a table.

use std::collections::BTreeMap;

use toml::Value;

use crate::listing::Listing;
use crate::manifests::{Manifest, parse};

/// What one crate may depend on, among the crates of this repository.
pub(crate) struct Rule {
    pub(crate) name: &'static str,
    /// What it depends on: no more, and no less, so that the table stays true.
    pub(crate) uses: &'static [&'static str],
    /// What it is free to depend on or not.
    pub(crate) may_use: &'static [&'static str],
    /// What its tests may depend on besides.
    pub(crate) tests_may_use: &'static [&'static str],
}

const NOTHING: Rule = Rule { name: "", uses: &[], may_use: &[], tests_may_use: &[] };

/// What a surface depends on: everything below reaches it through the engine.
const SURFACE: &[&str] = &["offshoot-engine", "offshoot-protocol"];

/// What tests from outside may look into, and what says which of them can run.
const INSIDE: &[&str] = &[
    "offshoot-folder",
    "offshoot-host",
    "offshoot-machine",
    "offshoot-mount",
    "offshoot-needs",
    "offshoot-policy",
    "offshoot-protocol",
    "offshoot-sandbox",
    "offshoot-store",
    "offshoot-text",
    "offshoot-tree",
    "offshoot-vault",
    "offshoot-vocabulary",
    "offshoot-workspace",
];

/// Every crate of the repository.
pub(crate) const RULES: &[Rule] = &[
    Rule { name: "offshoot-store", ..NOTHING },
    // The words that flags, settings, catalogs and documents share.
    Rule { name: "offshoot-vocabulary", ..NOTHING },
    Rule { name: "offshoot-text", ..NOTHING },
    Rule { name: "offshoot-protocol", uses: &["offshoot-vocabulary"], ..NOTHING },
    Rule { name: "offshoot-policy", uses: &["offshoot-vocabulary"], ..NOTHING },
    Rule { name: "offshoot-profile", uses: &["offshoot-vocabulary"], ..NOTHING },
    // What is a credential, in settings that commands see and in texts that models and logs get.
    Rule { name: "offshoot-scrub", ..NOTHING },
    // Messages between agents: bytes, and who carries them.
    Rule { name: "offshoot-mxp", ..NOTHING },
    // How they get there, and who is there. Neither knows what an agent is made of.
    Rule { name: "offshoot-transport", uses: &["offshoot-mxp"], ..NOTHING },
    Rule { name: "offshoot-registry", uses: &["offshoot-mxp", "offshoot-transport"], ..NOTHING },
    // Agents for others: tasks and cards, over HTTP. Who does the tasks is above.
    Rule { name: "offshoot-a2a", ..NOTHING },
    // The life of an agent and its work, durable: it knows no message, no model and no workspace.
    Rule { name: "offshoot-kernel", ..NOTHING },
    // What agents may do, say and send: pure.
    Rule {
        name: "offshoot-governance",
        uses: &["offshoot-policy", "offshoot-vocabulary"],
        may_use: &["offshoot-scrub"],
        ..NOTHING
    },
    Rule { name: "offshoot-prompt", uses: &["offshoot-scrub"], ..NOTHING },
    // Turns of an agent: it knows no workspace and no vault; whoever joins them with it is above.
    Rule { name: "offshoot-agent", uses: &["offshoot-provider", "offshoot-scrub"], ..NOTHING },
    // Language models are asked without knowing what for.
    Rule { name: "offshoot-provider", ..NOTHING },
    // The proxy is a thing of its own: who makes its sockets and what its report becomes is above.
    Rule {
        name: "offshoot-egress",
        tests_may_use: &["offshoot-needs", "offshoot-tests"],
        ..NOTHING
    },
    Rule { name: "offshoot-host", uses: &["offshoot-store"], ..NOTHING },
    Rule {
        name: "offshoot-tree",
        uses: &["offshoot-host", "offshoot-store", "offshoot-text"],
        tests_may_use: &["offshoot-tests"],
        ..NOTHING
    },
    Rule {
        name: "offshoot-vault",
        uses: &["offshoot-host", "offshoot-store", "offshoot-tree", "offshoot-vocabulary"],
        tests_may_use: &["offshoot-needs", "offshoot-tests", "offshoot-text"],
        ..NOTHING
    },
    Rule {
        name: "offshoot-folder",
        uses: &["offshoot-host", "offshoot-store", "offshoot-tree", "offshoot-vault"],
        tests_may_use: &["offshoot-needs", "offshoot-tests"],
        ..NOTHING
    },
    Rule { name: "offshoot-sandbox", uses: &["offshoot-vocabulary"], ..NOTHING },
    Rule {
        // Stacks and directories: who runs commands in them is above.
        name: "offshoot-mount",
        uses: &[
            "offshoot-host",
            "offshoot-store",
            "offshoot-tree",
            "offshoot-vault",
            "offshoot-vocabulary",
        ],
        tests_may_use: &["offshoot-tests"],
        ..NOTHING
    },
    Rule {
        name: "offshoot-workspace",
        uses: &[
            "offshoot-egress",
            "offshoot-folder",
            "offshoot-host",
            "offshoot-mount",
            "offshoot-policy",
            "offshoot-profile",
            "offshoot-protocol",
            "offshoot-sandbox",
            "offshoot-scrub",
            "offshoot-store",
            "offshoot-text",
            "offshoot-tree",
            "offshoot-vault",
        ],
        tests_may_use: &["offshoot-tests"],
        ..NOTHING
    },
    Rule {
        // Of the proxy it needs what fetches a page for itself.
        name: "offshoot-engine",
        uses: &[
            "offshoot-egress",
            "offshoot-folder",
            "offshoot-host",
            "offshoot-mount",
            "offshoot-policy",
            "offshoot-protocol",
            "offshoot-sandbox",
            "offshoot-store",
            "offshoot-text",
            "offshoot-tree",
            "offshoot-vault",
            "offshoot-workspace",
        ],
        tests_may_use: &["offshoot-needs", "offshoot-tests"],
        ..NOTHING
    },
    // Offshoot's own agent: its turns, tools and a model joined with a workspace.
    Rule {
        name: "offshoot-coder",
        uses: &[
            "offshoot-agent",
            "offshoot-engine",
            "offshoot-protocol",
            "offshoot-provider",
            "offshoot-scrub",
            "offshoot-tool",
        ],
        tests_may_use: &["offshoot-needs"],
        ..NOTHING
    },
    // Agents that serve others: the parts above joined with a workspace.
    Rule {
        name: "offshoot-fleet",
        uses: &[
            "offshoot-coder",
            "offshoot-engine",
            "offshoot-governance",
            "offshoot-kernel",
            "offshoot-mxp",
            "offshoot-protocol",
            "offshoot-provider",
            "offshoot-registry",
            "offshoot-tool",
            "offshoot-transport",
        ],
        tests_may_use: &["offshoot-needs"],
        ..NOTHING
    },
    // Whatever people or programs reach Offshoot by stands on these two alone. The program starts the other surfaces, and makes
    // providers of what its user asks for.
    Rule { name: "offshoot-acp", uses: SURFACE, ..NOTHING },
    Rule { name: "offshoot-mcp", uses: SURFACE, ..NOTHING },
    // Tools of agents know no language model: a contract is plain, and so is a result.
    Rule { name: "offshoot-tool-macros", ..NOTHING },
    Rule {
        name: "offshoot-tool",
        uses: &["offshoot-engine", "offshoot-protocol", "offshoot-tool-macros"],
        tests_may_use: &["offshoot-needs"],
        ..NOTHING
    },
    Rule {
        name: "offshoot-cli",
        uses: &[
            "offshoot-acp",
            "offshoot-coder",
            "offshoot-engine",
            "offshoot-fleet",
            "offshoot-mcp",
            "offshoot-protocol",
            "offshoot-provider",
            "offshoot-tool",
        ],
        ..NOTHING
    },
    // The support library must not share code with what it judges; a test may still look inside.
    Rule { name: "offshoot-tests", tests_may_use: INSIDE, ..NOTHING },
    Rule { name: "offshoot-machine", ..NOTHING },
    // It looks around when it is built. A crate with tests would bring along what those depend on.
    Rule { name: "offshoot-needs", uses: &["offshoot-machine"], ..NOTHING },
    // Merging and deciding are measured where they are done: neither has a mount or a command of its own. So is a program
    // that uses the engine.
    Rule {
        name: "offshoot-benches",
        uses: &[
            "offshoot-coder",
            "offshoot-engine",
            "offshoot-policy",
            "offshoot-provider",
            "offshoot-store",
            "offshoot-tests",
            "offshoot-tool",
            "offshoot-tree",
            "offshoot-vault",
        ],
        ..NOTHING
    },
    Rule { name: "xtask", ..NOTHING },
];

/// Fails on a crate or an edge that the table lacks, and on one that only the table has.
pub(crate) fn check(listing: &Listing, rules: &[Rule]) -> Vec<String> {
    let manifests = Manifest::all(listing);
    let aliases = aliases(listing);
    let exists = |name: &str| manifests.iter().any(|manifest| manifest.name == name);
    let mut problems = Vec::new();
    for manifest in &manifests {
        match rules.iter().find(|rule| rule.name == manifest.name) {
            Some(rule) => {
                let edges = edges(manifest, &aliases, exists);
                problems.extend(compare(&manifest.name, &edges, rule));
            }
            None => problems.push(format!("{} is not in the table of crates", manifest.name)),
        }
    }
    for rule in rules {
        let named = [&[rule.name], rule.may_use, rule.tests_may_use].concat();
        let gone = named.iter().filter(|name| !exists(name));
        problems.extend(gone.map(|name| format!("the table has {name}, which is no crate")));
    }
    problems
}

/// The crates of this repository that a manifest names, and whether only for tests.
fn edges(
    manifest: &Manifest,
    aliases: &BTreeMap<String, String>,
    exists: impl Fn(&str) -> bool,
) -> Vec<(String, bool)> {
    manifest
        .dependencies()
        .iter()
        .map(|dependency| {
            let own = dependency.value.get("package").and_then(Value::as_str);
            let alias = aliases.get(dependency.name).map(String::as_str);
            let name = own.or(alias).unwrap_or(dependency.name);
            (name.to_owned(), dependency.dev)
        })
        .filter(|(name, _)| exists(name))
        .collect()
}

fn compare(name: &str, edges: &[(String, bool)], rule: &Rule) -> Vec<String> {
    let mut problems = Vec::new();
    for (to, dev) in edges {
        let to = to.as_str();
        let for_all = rule.uses.contains(&to) || rule.may_use.contains(&to);
        let for_tests = *dev && rule.tests_may_use.contains(&to);
        if !for_all && !for_tests {
            problems.push(format!("{name} may not depend on {to}"));
        }
    }
    for expected in rule.uses {
        if !edges.iter().any(|(to, dev)| to == expected && !dev) {
            problems.push(format!("the table has {name} -> {expected}, which is gone"));
        }
    }
    problems
}

/// Packages that the workspace gives another name.
fn aliases(listing: &Listing) -> BTreeMap<String, String> {
    let Some(text) = listing.text("Cargo.toml") else {
        return BTreeMap::new();
    };
    let table = parse("Cargo.toml", &text);
    let entries = table
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(Value::as_table);
    entries
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| {
            let package = value.get("package")?.as_str()?;
            Some((name.clone(), package.to_owned()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.dependencies]\nother = { package = \"top\", path = \"top\" }\n";

    const TABLE: &[Rule] = &[
        Rule { name: "base", tests_may_use: &["helper"], ..NOTHING },
        Rule { name: "top", uses: &["base"], may_use: &["helper"], ..NOTHING },
        Rule { name: "helper", ..NOTHING },
    ];

    /// The problems of three crates, to two of which these lines are added.
    fn problems(base: &str, top: &str) -> Vec<String> {
        let manifest = |name: &str, rest: &str| format!("[package]\nname = \"{name}\"\n{rest}\n");
        check(
            &Listing::of(&[
                ("Cargo.toml", ROOT),
                ("base/Cargo.toml", &manifest("base", base)),
                ("helper/Cargo.toml", &manifest("helper", "")),
                ("top/Cargo.toml", &manifest("top", top)),
            ]),
            TABLE,
        )
    }

    const TO_BASE: &str = "[dependencies]\nbase.workspace = true\n";

    #[test]
    fn the_allowed_is_allowed() {
        assert!(problems("[dependencies]\nserde.workspace = true", TO_BASE).is_empty());
        let more = format!("{TO_BASE}helper.workspace = true");
        let for_tests = "[dev-dependencies]\nhelper.workspace = true";
        assert!(problems(for_tests, &more).is_empty());
    }

    #[test]
    fn another_edge_fails_in_every_disguise() {
        for edge in [
            "[dependencies]\ntop.workspace = true",
            "[dev-dependencies]\ntop.workspace = true",
            "[build-dependencies]\ntop.workspace = true",
            "[target.'cfg(unix)'.dependencies]\ntop.workspace = true",
            "[dependencies]\nother.workspace = true",
            "[dependencies]\nx = { package = \"top\", path = \"../top\" }",
        ] {
            assert_eq!(problems(edge, TO_BASE), ["base may not depend on top"], "{edge}");
        }
        let for_all = "[dependencies]\nhelper.workspace = true";
        assert_eq!(problems(for_all, TO_BASE), ["base may not depend on helper"]);
    }

    #[test]
    fn a_table_that_is_out_of_date_fails() {
        assert_eq!(problems("", ""), ["the table has top -> base, which is gone"]);
        let only_tests = "[dev-dependencies]\nbase.workspace = true";
        assert_eq!(problems("", only_tests), ["the table has top -> base, which is gone"]);
        let empty = Listing::of(&[]);
        assert_eq!(check(&empty, &TABLE[2..]), ["the table has helper, which is no crate"]);
        let new = Listing::of(&[("n/Cargo.toml", "[package]\nname = \"new\"\n")]);
        assert_eq!(check(&new, &[]), ["new is not in the table of crates"]);
    }
}
