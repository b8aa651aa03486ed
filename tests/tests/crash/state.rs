//! What a home holds, in terms that are the same for each run: names and contents, not ids and times.

use std::path::{Path, PathBuf};

use offshoot_store::Id;
use offshoot_vault::{ListedVault, Scope, Vault, VaultOptions, VaultRegistry};

/// Folders beside the project that may be bound too.
const FOLDERS: [&str; 2] = ["in", "in-2"];

/// Everything that a user can see of a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) vaults: Vec<VaultState>,
}

/// Everything that a user can see of a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VaultState {
    pub(crate) name: String,
    /// Whether the project leads to it.
    bound: bool,
    /// The names of its folders and their paths.
    folders: Vec<(String, PathBuf)>,
    /// Those of the folders that tests bind which lead to it.
    found: Vec<&'static str>,
    head: String,
    /// Names, with the contents of head and base.
    workspaces: Vec<(String, String, String)>,
    /// How many layers show each of them.
    layers: Vec<usize>,
    /// Workspaces and names, with the contents.
    checkpoints: Vec<(String, String, String)>,
    /// What waits for a person or was decided, and what the record of its command says.
    approvals: Vec<(String, String)>,
    /// Workspaces and names, and how far their logs are.
    sessions: Vec<(String, String, u64)>,
    /// Kinds, newest first.
    operations: Vec<String>,
}

impl State {
    /// Reads a home; an error says what cannot be read.
    pub(crate) fn read(home: &Path, project: &Path) -> Result<Self, String> {
        let home = VaultRegistry::new(home.to_owned(), VaultOptions::default());
        let bound = home.find_bound(project).map_err(text)?;
        let bound = bound.map(|(listed, _)| listed.id);
        let mut found = Vec::new();
        for name in FOLDERS {
            let folder = project.with_file_name(name);
            if home.find_bound(&folder).map_err(text)?.is_some() {
                found.push(name);
            }
        }
        let listed = home.list().map_err(text)?;
        let vaults: Result<Vec<VaultState>, String> =
            listed.iter().map(|listed| read_vault(&home, listed, bound, &found)).collect();
        Ok(Self { vaults: vaults? })
    }
}

fn read_vault(
    home: &VaultRegistry,
    listed: &ListedVault,
    bound: Option<Id>,
    found: &[&'static str],
) -> Result<VaultState, String> {
    let vault = home.open_listed(listed).map_err(text)?;
    let content = |id: &Id| Ok::<_, String>(vault.snapshot(id).map_err(text)?.content.to_hex());
    let all = vault.workspaces().map_err(text)?;
    let (mut workspaces, mut layers) = (Vec::new(), Vec::new());
    for workspace in &all {
        let root = vault.snapshot(&workspace.state.head).map_err(text)?.root;
        layers.push(vault.stack_depth(&root).map_err(text)?);
        let (head, base) = (content(&workspace.state.head)?, content(&workspace.state.base)?);
        workspaces.push((workspace.name.clone(), head, base));
    }
    let mut checkpoints = Vec::new();
    for checkpoint in vault.checkpoints().map_err(text)? {
        let of = all.iter().find(|workspace| workspace.id == checkpoint.workspace);
        let of = of.map_or("gone", |workspace| &workspace.name).to_owned();
        // Those that nobody named are called by when they were made.
        let name =
            if checkpoint.state.automatic { "automatic".to_owned() } else { checkpoint.name };
        checkpoints.push((of, name, content(&checkpoint.state.snapshot)?));
    }
    let mut sessions = Vec::new();
    for (session, head) in vault.sessions().map_err(text)? {
        let of = all.iter().find(|workspace| workspace.id == session.workspace);
        let of = of.map_or("gone", |workspace| &workspace.name).to_owned();
        let mut events = 0;
        loop {
            let page = vault.session_events(&session.id, events + 1, 256).map_err(text)?;
            let Some(last) = page.last() else { break };
            events = last.number;
        }
        if events != head.events {
            return Err(format!(
                "session {} has {events} events, not {}",
                session.name, head.events
            ));
        }
        sessions.push((of, session.name, events));
    }
    if !sessions.is_empty() {
        let differences = vault.audit_differences().map_err(text)?;
        if !differences.is_empty() {
            return Err(differences.join("; "));
        }
    }
    let mut approvals = Vec::new();
    for approval in vault.approvals().map_err(text)? {
        let exec = vault.exec(&approval.id).map_err(text)?.map(|exec| exec.state);
        approvals.push((approval.state.to_string(), exec.unwrap_or_default()));
    }
    Ok(VaultState {
        name: listed.name.clone(),
        bound: bound == Some(listed.id),
        folders: vault
            .bindings()
            .map_err(text)?
            .iter()
            .map(|binding| (binding.name.clone(), binding.host_path()))
            .collect(),
        found: found.to_vec(),
        head: vault.head().map_err(text)?.content.to_hex(),
        workspaces,
        layers,
        checkpoints,
        approvals,
        sessions,
        operations: operations(&vault)?,
    })
}

fn operations(vault: &Vault) -> Result<Vec<String>, String> {
    let all = vault.operations(Scope::Vault, None, 1000).map_err(text)?;
    // Upkeep is told by the log where it did something, which a first try may have done.
    let kinds = all.into_iter().map(|operation| operation.kind);
    Ok(kinds.filter(|kind| kind != "gc" && kind != "vault pack").collect())
}

fn text(error: impl ToString) -> String {
    error.to_string()
}
