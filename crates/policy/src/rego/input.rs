//! The document that Rego sees.

use offshoot_vocabulary::{CommandPart, EffectCategory, PolicyDecision};
use serde_json::{Map, Value, json};

use crate::category::Categories;
use crate::context::Context;
use crate::judged::Judged;
use crate::rules::facts::{name, text};
use crate::script::ShellWord;
use crate::verdict::part::PartVerdict;

/// The document that Rego sees as `input`:
///
/// | name | what it is |
/// |---|---|
/// | `version` | 1; names may be added to a version, never removed or changed |
/// | `decision` | what stands before Rego is asked, one of the words of decisions |
/// | `category` | the worst category of all commands |
/// | `categories` | all categories of all commands, the worst last; `["read_only"]` where there is no other |
/// | `commands` | every part that was judged, in the order of the text |
/// | `context` | what surrounds the request |
///
/// Each of `commands`:
///
/// | name | what it is |
/// |---|---|
/// | `part` | `program`, `redirection`, `assignment` or `unclear` |
/// | `program` | the name of the program, without its directory; `null` where it is not known or where the part is no program |
/// | `words` | the program and its arguments, wrappers removed, `…` for what only the shell knows |
/// | `known` | whether all words are known |
/// | `wrappers` | the programs that were looked through, outermost first |
/// | `category`, `categories` | what kinds of thing it does |
/// | `reasons` | why: objects with `category` and `why` |
/// | `paths` | what it is known to touch: objects with `access` (`read`, `write`, `delete`) and `path` |
/// | `decision` | what rules decided about it alone |
/// | `rule` | the rule that did: `layer`, `name`, and `file` or `null` |
///
/// `context`: `workspace`, `folders` (further ones that belong to it), `cwd`, `home` (or `null`), `network` (`none` or `host`), `read_only`, `unconfined` (it runs without walls), `terminal`, `stdin`, and
/// `environment`, an object with the variables that the caller set.
pub fn input_document(parts: &[PartVerdict], stands: PolicyDecision, context: &Context) -> Value {
    let categories =
        parts.iter().fold(Categories::READ_ONLY, |all, part| all.union(part.judged.categories));
    json!({
        "version": 1,
        "decision": stands.as_str(),
        "category": categories.worst().as_str(),
        "categories": words_of(categories),
        "commands": parts.iter().map(command).collect::<Vec<_>>(),
        "context": surroundings(context),
    })
}

fn command(part: &PartVerdict) -> Value {
    let judged = &part.judged;
    let words: Vec<String> = judged.words.iter().map(ShellWord::display).collect();
    json!({
        "part": judged.part.as_str(),
        "program": program(judged),
        "words": words,
        "known": judged.words.iter().all(|word| text(word).is_some()),
        "wrappers": judged.wrappers,
        "category": judged.categories.worst().as_str(),
        "categories": words_of(judged.categories),
        "reasons": judged.reasons.iter().map(|reason| json!({
            "category": reason.category.as_str(),
            "why": reason.why,
        })).collect::<Vec<_>>(),
        "paths": judged.paths.iter().map(|touched| json!({
            "access": touched.access.as_str(),
            "path": touched.path,
        })).collect::<Vec<_>>(),
        "decision": part.decision.as_str(),
        "rule": {
            "layer": part.rule.layer.as_str(),
            "name": part.rule.name,
            "file": part.rule.file.as_deref(),
        },
    })
}

fn program(judged: &Judged) -> Option<String> {
    if judged.part != CommandPart::Program {
        return None;
    }
    let program = text(judged.words.first()?)?;
    Some(name(&program).to_owned())
}

fn words_of(categories: Categories) -> Vec<&'static str> {
    categories.iter().map(EffectCategory::as_str).collect()
}

fn surroundings(context: &Context) -> Value {
    let environment: Map<String, Value> =
        context.environment.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({
        "workspace": context.workspace.to_string_lossy(),
        "folders": context.folders.iter().map(|folder| folder.to_string_lossy()).collect::<Vec<_>>(),
        "cwd": context.cwd.to_string_lossy(),
        "home": context.home.as_ref().map(|home| home.to_string_lossy()),
        "network": context.network.as_str(),
        "read_only": context.read_only,
        "unconfined": context.unconfined,
        "terminal": context.terminal,
        "stdin": context.stdin,
        "environment": environment,
    })
}
