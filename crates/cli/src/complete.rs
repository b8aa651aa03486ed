//! Completions with the names that there are.
//!
//! A shell asks in the middle of a line: the answer has to be quick, changes nothing, and is never an error.

mod paths;

pub(crate) use paths::paths;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::CompleteEnv;
use offshoot_engine::Options;
use offshoot_engine::cache::CacheService;
use offshoot_engine::operation::{Operation, Scope};
use offshoot_engine::preset::Presets;
use offshoot_engine::session::{SessionHead, SessionRecord};
use offshoot_engine::settings;
use offshoot_engine::vault::{Registry, Vault};
use offshoot_provider::ModelCatalog;

/// The variable by which a shell asks; the registration of each shell sets it.
pub(crate) const VARIABLE: &str = "OFFSHOOT_COMPLETE";

/// Whoever writes just now is not waited for.
const PATIENCE: Duration = Duration::from_millis(5);

/// At most so many commands are offered, the newest.
const MOST_EXECS: u32 = 50;

/// Answers a shell that asks for completions; false where none does. `grammar` is the command line as a whole.
pub(crate) fn answer(grammar: fn() -> clap::Command) -> bool {
    if std::env::var_os(VARIABLE).is_none_or(|asked| asked.is_empty()) {
        return false;
    }
    let here = std::env::current_dir().ok();
    let completing = CompleteEnv::with_factory(grammar).var(VARIABLE);
    // An error has no place on the line that somebody is typing.
    drop(completing.try_complete(std::env::args_os(), here.as_deref()));
    true
}

/// The workspaces of the vault.
pub(crate) fn workspaces() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| Some(vault.workspaces().ok()?.into_iter().map(|w| plain(w.name)).collect()))
    })
}

/// The checkpoints that have been named, and those that were made by themselves.
pub(crate) fn checkpoints() -> ArgValueCandidates {
    ArgValueCandidates::new(|| look(|vault| Some(checkpoints_of(vault)?.0)))
}

/// Everything that a REF can be by name.
pub(crate) fn references() -> ArgValueCandidates {
    ArgValueCandidates::new(|| look(references_of))
}

fn references_of(vault: &Vault) -> Option<Vec<CompletionCandidate>> {
    let workspaces = vault.workspaces().ok()?;
    let names = workspaces.iter().map(|workspace| plain(workspace.name.clone()));
    let mut all: Vec<CompletionCandidate> = [plain("head")].into_iter().chain(names).collect();
    all.extend(checkpoints_of(vault)?.1);
    Some(all)
}

/// Commands that were run, by the start of their ids.
pub(crate) fn execs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| look(execs_of))
}

/// Everything that can be shown.
pub(crate) fn shown() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| Some(references_of(vault)?.into_iter().chain(execs_of(vault)?).collect()))
    })
}

fn execs_of(vault: &Vault) -> Option<Vec<CompletionCandidate>> {
    let execs = vault.execs(None, None, MOST_EXECS).ok()?;
    let shown = |exec: &offshoot_engine::exec::ExecRecord| {
        plain(exec.id.short()).help(Some(exec.command.clone().into()))
    };
    Some(execs.iter().map(shown).collect())
}

/// Interrupted commands that left something, by the start of their ids.
pub(crate) fn left() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| Some(vault.left().ok()?.iter().map(|exec| plain(exec.short())).collect()))
    })
}

/// Approvals that wait, by the start of their ids.
pub(crate) fn approvals() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| {
            let found = vault.approvals().ok()?.into_iter();
            let pending = found.filter(|approval| approval.state.is_pending());
            let shown = |id: String, command: String| plain(id).help(Some(command.into()));
            Some(pending.map(|one| shown(one.id.short(), one.command)).collect())
        })
    })
}

/// Sessions, by name.
pub(crate) fn sessions() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| {
            let found = vault.sessions().ok()?.into_iter();
            let shown = |(record, _): (SessionRecord, SessionHead)| {
                plain(record.name).help(Some(record.id.short().into()))
            };
            Some(found.map(shown).collect())
        })
    })
}

/// Commands that run, by the start of their ids.
pub(crate) fn running() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| {
            let running = vault.running().ok()?;
            let shown = |note: &offshoot_engine::exec::ExecNote| {
                plain(note.exec.short()).help(Some(note.command.clone().into()))
            };
            Some(running.iter().map(|running| shown(&running.note)).collect())
        })
    })
}

/// The vaults.
pub(crate) fn vaults() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let names = registry_of(&words()).and_then(|registry| registry.peek_names().ok());
        names.unwrap_or_default().into_iter().map(plain).collect()
    })
}

/// The keys of the configuration.
pub(crate) fn keys() -> ArgValueCandidates {
    ArgValueCandidates::new(|| settings::key_names().map(plain).collect())
}

/// The further folders of the vault, by their names.
pub(crate) fn bindings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| {
            let bindings = vault.bindings().ok()?;
            let further = bindings.iter().filter(|binding| !binding.is_first());
            Some(further.map(|binding| plain(binding.name.clone())).collect())
        })
    })
}

/// The package caches of the vault.
pub(crate) fn caches() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| {
            let found = CacheService::new(vault).list().ok()?;
            Some(found.into_iter().map(|cache| plain(cache.name)).collect())
        })
    })
}

/// The presets of coding agents that everybody has.
pub(crate) fn presets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| Presets::default().names().into_iter().map(plain).collect())
}

/// The providers of language models that everybody has.
pub(crate) fn providers() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        ModelCatalog::built_in().providers().map(|id| plain(id.to_string())).collect()
    })
}

/// The language models that everybody knows.
pub(crate) fn models() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let catalog = ModelCatalog::built_in();
        let models = catalog.providers().flat_map(|id| catalog.models(id));
        models.map(|model| plain(model.full_name())).collect()
    })
}

/// Operations, by the start of their ids.
pub(crate) fn operations() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        look(|vault| {
            let log = vault.operation_log(Scope::Vault, MOST_EXECS);
            let shown = |operation: &Operation| {
                plain(operation.id.short()).help(Some(operation.summary.clone().into()))
            };
            Some(log.ok()?.operations.iter().map(shown).collect())
        })
    })
}

fn plain(name: impl Into<std::ffi::OsString>) -> CompletionCandidate {
    CompletionCandidate::new(name)
}

/// Checkpoints by their names, and by those of their workspaces as well.
fn checkpoints_of(vault: &Vault) -> Option<(Vec<CompletionCandidate>, Vec<CompletionCandidate>)> {
    let workspaces = vault.workspaces().ok()?;
    let (mut short, mut full) = (Vec::new(), Vec::new());
    for checkpoint in vault.checkpoints().ok()? {
        let reason = Some(checkpoint.state.reason.clone().into());
        if let Some(workspace) = workspaces.iter().find(|w| w.id == checkpoint.workspace) {
            let name = format!("{}@{}", workspace.name, checkpoint.name);
            full.push(plain(name).help(reason.clone()));
        }
        short.push(plain(checkpoint.name).help(reason));
    }
    Some((short, full))
}

/// What is found in the vault that the line is about; nothing where there is none.
fn look(find: impl Fn(&Vault) -> Option<Vec<CompletionCandidate>>) -> Vec<CompletionCandidate> {
    let words = words();
    let found = registry_of(&words).and_then(|registry| {
        let named = value_of(&words, "--vault").or_else(|| std::env::var("OFFSHOOT_VAULT").ok());
        let named = named.filter(|name| !name.is_empty());
        let here = std::env::current_dir().ok()?.canonicalize().ok()?;
        registry.peek(named.as_deref(), &here).ok().flatten()
    });
    found.as_ref().and_then(find).unwrap_or_default()
}

fn registry_of(words: &[String]) -> Option<Registry> {
    let registry = value_of(words, "--home").map(|home| expanded(&home));
    Options { registry, ..Options::from_process() }.peek(PATIENCE).ok()
}

/// The shell has not yet put the user's home in place of `~`.
fn expanded(path: &str) -> PathBuf {
    let home = std::env::var_os("HOME");
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => PathBuf::from(path),
    }
}

/// The words of the line so far.
fn words() -> Vec<String> {
    let own = std::env::args_os().skip_while(|word| word != "--").skip(1);
    own.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The value of an option, in either form.
fn value_of(words: &[String], option: &str) -> Option<String> {
    let joined = format!("{option}=");
    words.iter().enumerate().find_map(|(at, word)| match word.strip_prefix(&joined) {
        Some(value) => Some(value.to_owned()),
        None if word == option => words.get(at + 1).cloned(),
        None => None,
    })
}
