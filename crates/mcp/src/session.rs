//! A session: who acts, on which vault, in which workspace.

use std::sync::{Arc, Mutex};

use offshoot_engine::commit::Pattern;
use offshoot_engine::exec::{Exec, check_named_hosts, start_directory};
use offshoot_engine::file::{PathContext, RootId, VaultPath};
use offshoot_engine::reference::{Point, Resolver};
use offshoot_engine::{Error, Notice, Offshoot, Options, Project, Result, Workspace};

use crate::shared::{Shared, locked};

/// How a person lets calls ask for more hosts.
pub(crate) const ALLOWS: &str = "a person starts `offshoot mcp --net allow={hosts}`";
/// Longer names of clients are cut.
const LONGEST_NAME: usize = 40;

/// A session: who acts, on which vault, in which workspace.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) project: Project,
    /// The client's name, as it is recorded.
    pub(crate) client: String,
    /// What is recorded as the session.
    pub(crate) id: String,
    /// Where paths that do not start at the top start.
    standing: PathContext,
    /// The same for commands.
    pub(crate) directory: Option<std::path::PathBuf>,
    shared: Arc<Shared>,
    /// The name of its workspace, once it was chosen.
    workspace: Mutex<Option<String>>,
    /// What people should know, until an answer takes it along.
    notices: Arc<Mutex<Vec<String>>>,
    /// Commands that may run.
    running: Mutex<Vec<Exec>>,
}

/// A state of files to look at.
#[derive(Debug)]
pub(crate) struct Place {
    /// What it is called.
    pub(crate) label: String,
    pub(crate) root: RootId,
}

impl Session {
    pub(crate) fn open(shared: Arc<Shared>, client: &str, id: &str) -> Result<Self> {
        let options = &shared.options;
        let client = clean(client);
        let notices: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&notices);
        let actor = Offshoot::open(options.engine.clone())?.actor().through(&client, id);
        let engine = Offshoot::open(Options {
            actor: Some(actor),
            directory: Some(options.folder.clone()),
            listener: Some(Arc::new(move |notice: &Notice| {
                locked(&told).push(notice.to_string());
            })),
            progress: None,
            ..options.engine.clone()
        })?;
        let project = match &options.vault {
            Some(name) => engine.vault(name)?,
            None => engine.project(&options.folder)?,
        };
        let here = options.folder.canonicalize().unwrap_or_else(|_| options.folder.clone());
        let standing = PathContext::new(project.vault(), &here)?;
        let directory = start_directory(project.vault(), &here)?;
        let id = id.to_owned();
        Ok(Self {
            project,
            client,
            id,
            standing,
            directory,
            workspace: Mutex::new(shared.options.workspace.clone()),
            shared,
            notices,
            running: Mutex::default(),
        })
    }

    /// What people should know that nobody was told yet.
    pub(crate) fn notes(&self) -> Vec<String> {
        std::mem::take(&mut *locked(&self.notices))
    }

    /// The path that a call means: from the top, from where the server stands, or as commands see it.
    pub(crate) fn path(&self, text: &str) -> Result<VaultPath> {
        self.project.path(&self.standing, text)
    }

    /// A pattern of paths.
    pub(crate) fn pattern(&self, text: &str) -> Result<Pattern> {
        Ok(self.standing.pattern(text.as_bytes())?)
    }

    /// The name of the workspace that calls are about; none where none was chosen yet.
    pub(crate) fn workspace_name(&self, asked: Option<&str>) -> Result<Option<String>> {
        let own = locked(&self.workspace).clone();
        match asked {
            Some(asked) if self.shared.options.any_workspace => Ok(Some(asked.to_owned())),
            Some(asked) if own.as_deref() != Some(asked) => Err(Error::usage(format!(
                "this server works in one workspace{}: leave `workspace` out",
                own.map(|own| format!(", {own}")).unwrap_or_default()
            ))),
            _ => Ok(own),
        }
    }

    /// The workspace that calls are about, if there is one.
    pub(crate) fn workspace(&self, asked: Option<&str>) -> Result<Option<Workspace>> {
        let Some(name) = self.workspace_name(asked)? else { return Ok(None) };
        // A workspace that was named is looked for, and missed; one's own may not be forked yet.
        if asked.is_none() && !self.resolver().has_workspace(&name)? {
            return Ok(None);
        }
        self.project.workspace(&name).map(Some)
    }

    /// What a call looks at: the workspace, or the main line as long as there is none.
    pub(crate) fn place(&self, asked: Option<&str>) -> Result<Place> {
        match self.workspace(asked)? {
            Some(workspace) => Self::place_of(&workspace),
            None => {
                self.project.refresh()?;
                let head = self.resolver().head()?;
                Ok(Place { label: head.label, root: head.snapshot.root })
            }
        }
    }

    pub(crate) fn place_of(workspace: &Workspace) -> Result<Place> {
        let record = workspace.record()?;
        let root = workspace.project().vault().snapshot(&record.state.head)?.root;
        Ok(Place { label: record.name, root })
    }

    /// The name of the workspace that a call runs in, chosen now if need be. A command forks it if policy lets it run.
    pub(crate) fn name_to_run(&self, asked: Option<&str>) -> Result<String> {
        if let Some(name) = self.workspace_name(asked)? {
            return Ok(name);
        }
        let mut own = locked(&self.workspace);
        if let Some(name) = &*own {
            return Ok(name.clone());
        }
        let is_free = |name: &str| Ok(!self.resolver().has_workspace(name)?);
        let name = self.shared.take_name(&workspace_name(&self.client), is_free)?;
        *own = Some(name.clone());
        Ok(name)
    }

    /// The workspace that a call changes, forked now if need be.
    pub(crate) fn to_change(&self, asked: Option<&str>) -> Result<Workspace> {
        let name = self.name_to_run(asked)?;
        // Two calls at once fork one workspace.
        let _one = locked(&self.workspace);
        match self.resolver().has_workspace(&name)? {
            true => self.project.workspace(&name),
            false => self.project.fork(&name),
        }
    }

    /// Whether a call may see what belongs to this workspace or was asked for by this session.
    pub(crate) fn may_see(&self, workspace: Option<&str>, session: Option<&str>) -> bool {
        let own = locked(&self.workspace).clone();
        self.shared.options.any_workspace
            || session == Some(&self.id)
            || (workspace.is_some() && workspace == own.as_deref())
    }

    /// Remembers a command that runs, to end it with the session.
    pub(crate) fn runs(&self, exec: &Exec) {
        let mut running = locked(&self.running);
        running.retain(|one| one.outcome().is_none());
        running.push(exec.clone());
    }

    /// Ends what runs.
    pub(crate) fn end(&self) {
        for exec in locked(&self.running).drain(..) {
            if exec.outcome().is_none() {
                exec.cancel();
            }
        }
    }

    /// What a text names, for a workspace: its own states and the main line. What is of other workspaces is there only for who may see those, and
    /// so is its name in an error.
    pub(crate) fn point(&self, text: &str, workspace: &Workspace) -> Result<Point> {
        if !self.shared.options.any_workspace {
            return workspace.own_point(text);
        }
        Ok(self.resolver().point(text, Some(&workspace.record()?))?)
    }

    /// The hosts that a call may ask for.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.shared.options.hosts
    }

    /// Fails for hosts that the user did not name when the server was started.
    pub(crate) fn check_hosts(&self, asked: &[String]) -> Result<()> {
        check_named_hosts(self.hosts(), asked, ALLOWS)
    }

    pub(crate) fn resolver(&self) -> Resolver<'_> {
        Resolver::new(self.project.vault())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

/// The name of a client, as it is recorded: nobody is nobody, but never a person.
fn clean(client: &str) -> String {
    let text: String = client.chars().filter(|letter| !letter.is_control()).take(64).collect();
    let text = text.trim();
    if text.is_empty() { "mcp".to_owned() } else { text.to_owned() }
}

/// What the workspace of a client is called.
fn workspace_name(client: &str) -> String {
    let mut name = String::new();
    for letter in client.chars().take(LONGEST_NAME) {
        match letter {
            letter if letter.is_ascii_alphanumeric() => name.push(letter.to_ascii_lowercase()),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_end_matches('-');
    match name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        true => name.to_owned(),
        false => format!("mcp-{name}").trim_end_matches('-').to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_named_after_clients() {
        for (client, name) in [
            ("claude-code", "claude-code"),
            ("Visual Studio Code", "visual-studio-code"),
            ("codex-mcp-client/1.0", "codex-mcp-client-1-0"),
            ("../../etc", "etc"),
            ("", "mcp"),
            ("42", "mcp-42"),
        ] {
            assert_eq!(workspace_name(&clean(client)), name, "{client}");
        }
        assert_eq!(clean("a\u{1b}[31m\n"), "a[31m");
        assert_eq!(clean(" \t"), "mcp");
    }
}
