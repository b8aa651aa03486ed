//! Git repositories beside and in the folders of a vault, and the user's own git that is run for them.

use std::ffi::OsStr;
use std::path::PathBuf;

use offshoot_vault::Vault;
pub use offshoot_workspace::GitActivity;
use offshoot_workspace::git::{DueGitCommit, GitAuthor, GitOptions, git_dues, settle_git_due};
pub use offshoot_workspace::git::{
    ExportRequest, GitEvent, GitFolder, GitNote, GitReport, InUse, Planted, TrackedPaths, export,
};
use offshoot_workspace::{CommitEvent, CommitService};

use crate::error::{Error, Hint, Result};
use crate::notice::Topic;
use crate::offshoot::Offshoot;

impl Offshoot {
    /// Git as the user has it, with an author that was given as `NAME <MAIL>`.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let git = offshoot.git(Some("An Agent <agent@example.org>"))?;
    /// println!("{} is run", git.program.display());
    /// # Ok(())
    /// # }
    /// ```
    pub fn git(&self, author: Option<&str>) -> Result<GitOptions> {
        let options = self.options();
        Ok(GitOptions {
            program: program(options.variable("PATH")),
            environment: options.environment.clone(),
            author: author.map(GitAuthor::parse).transpose()?,
            ..GitOptions::default()
        })
    }

    /// What git keeps track of in the folders of a vault.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// use offshoot_engine::file::VaultPath;
    ///
    /// let known = engine.tracked(vault)?.has(&VaultPath::parse(b"/src/main.rs")?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tracked(&self, vault: &Vault) -> Result<TrackedPaths> {
        let folders = vault.bindings()?.iter().map(|b| (b.at(), b.host_path())).collect();
        Ok(TrackedPaths::new(folders, self.git(None)?))
    }

    /// Tells which git commits were asked for and not made. Those that somebody else made are forgotten.
    ///
    /// ```
    /// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
    /// let (engine, vault) = (project.engine(), project.vault());
    /// engine.tell_git_due(vault);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tell_git_due(&self, vault: &Vault) {
        // Where it cannot be told, the command itself has more to say about that.
        for due in git_dues(vault).unwrap_or_default() {
            let Ok(Some(workspace)) = vault.workspace(&due.workspace) else { continue };
            if self.was_made(vault, &due) {
                continue;
            }
            let told = |event: &CommitEvent| self.tell_event(event);
            let options = self.commit_options(&told);
            let service = CommitService::new(vault, self.actor(), options, self.diff_options());
            let git = self.git(due.asked.author.as_deref());
            if git.is_ok_and(|git| {
                matches!(service.has_pending_git_commit(&workspace, &git), Ok(false))
            }) {
                continue;
            }
            let name = workspace.name;
            let text = Hint::from(format!(
                "the git commit of what was committed from {name} was not made: "
            ));
            let text = text.then("offshoot commit -w").arg(name).words("--git").text(" makes it");
            self.tell(Topic::GitCommitDue, text);
        }
    }

    /// Whether the git commit was made after all, by somebody who died before that was remembered. Then it is now.
    fn was_made(&self, vault: &Vault, due: &DueGitCommit) -> bool {
        let settle = || -> Result<bool> {
            let folder = folder(vault)?;
            let folder = GitFolder::require(&folder, &self.git(None)?)?;
            Ok(settle_git_due(vault, self.actor(), &folder, due)?)
        };
        !vault.is_read_only() && settle().unwrap_or(false)
    }
}

/// The first folder of a vault.
///
/// ```
/// # fn example(project: &offshoot_engine::Project) -> offshoot_engine::Result<()> {
/// let (engine, vault) = (project.engine(), project.vault());
/// use offshoot_engine::git;
///
/// println!("{}", git::folder(vault)?.display());
/// # Ok(())
/// # }
/// ```
pub fn folder(vault: &Vault) -> Result<PathBuf> {
    let bindings = vault.bindings()?;
    let first = bindings.iter().find(|binding| binding.at().is_top());
    let first = first.ok_or_else(|| Error::usage("the vault belongs to no folder"))?;
    Ok(first.host_path())
}

/// The first git in a directory of the path. Relative ones do not count: they may be in a workspace's reach.
fn program(path: Option<&OsStr>) -> PathBuf {
    let directories = path.into_iter().flat_map(std::env::split_paths);
    let mut programs = directories.filter(|dir| dir.is_absolute()).map(|dir| dir.join("git"));
    programs.find(|program| program.is_file()).unwrap_or_else(|| PathBuf::from("/usr/bin/git"))
}
