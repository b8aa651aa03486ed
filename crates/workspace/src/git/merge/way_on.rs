//! Commands that bring together what was kept apart.

use offshoot_protocol::Goal;
use offshoot_tree::VaultPath;

use super::report::NextStep;
use crate::exec::request::shell_word;

/// How a merge starts.
const MERGE: &str = "git merge ";
/// What two sides came from, up to the name of one.
const MERGE_BASE: &str = "$(git merge-base HEAD ";

/// At most so many files are taken one by one.
const MOST_TAKEN: usize = 3;

/// A ref as people call it.
pub(crate) fn short_ref(name: &str) -> &str {
    let kinds = ["refs/heads/", "refs/tags/"];
    kinds.iter().find_map(|kind| name.strip_prefix(kind)).unwrap_or(name)
}

impl NextStep {
    /// A merge of another ref into a branch, wherever that is checked out.
    pub(super) fn merge(branch: &str, kept: &str) -> Self {
        let when = Some(format!("on {}", short_ref(branch)));
        Self { goal: Goal::Merge, when, commands: vec![format!("git merge {}", word(kept))] }
    }

    /// `commit --git` of the workspace whose commits were kept apart, with all files of them that stayed there: without one, they stay apart.
    pub(super) fn git_commit(workspace: &str, stayed: &[VaultPath]) -> Self {
        let mut command = format!("offshoot commit -w {} --git", shell_word(workspace));
        if stayed.len() > MOST_TAKEN {
            command.push_str(" --allow trusted");
        } else {
            for path in stayed {
                command.push_str(&format!(" --take {}", shell_word(&path.to_string())));
            }
        }
        Self { goal: Goal::Merge, when: None, commands: vec![command] }
    }

    /// A merge of another ref that changes no file: they have its changes already. The index gets the files of both sides, so that each is
    /// committed as it is, and no other file.
    pub(crate) fn record(kept: &str) -> Self {
        let kept = word(kept);
        let commands = vec![
            format!("git merge --no-commit -s ours {kept}"),
            format!("git read-tree -i -m {MERGE_BASE}{kept}) HEAD {kept}"),
            "git commit -a --no-edit".to_owned(),
        ];
        Self { goal: Goal::Record, when: None, commands }
    }

    /// A pull into a workspace that is rebasing, once more when the rebase is finished: it would not go on over the files that came.
    pub(super) fn pull_again(workspace: &str) -> Self {
        let workspace = shell_word(workspace);
        let commands = vec![
            format!("offshoot undo -w {workspace}"),
            format!("offshoot exec -w {workspace} -- git -c core.editor=true rebase --continue"),
            format!("offshoot pull -w {workspace}"),
        ];
        Self { goal: Goal::Merge, when: None, commands }
    }

    /// The same where the two have no commit in common, which git merges only if it is told to.
    pub(crate) fn unrelated(mut self) -> Self {
        for command in &mut self.commands {
            if command.starts_with(MERGE) {
                *command = command.replacen(MERGE, "git merge --allow-unrelated-histories ", 1);
            } else if let Some((start, end)) = command.split_once(MERGE_BASE)
                && let Some((_, end)) = end.split_once(')')
            {
                *command = format!("{start}$(git hash-object -t tree /dev/null){end}");
            }
        }
        self
    }

    /// The same, once the workspace's files have reached the folder.
    pub(super) fn after_commit_of(self, workspace: &str) -> Self {
        self.after([format!("offshoot commit -w {}", shell_word(workspace))])
    }

    /// The same in a workspace, in a directory of it. What is done with a workspace is done outside of it.
    pub(super) fn inside(self, workspace: &str, directory: Option<&str>) -> Self {
        if self.commands.iter().all(|command| command.starts_with("offshoot ")) {
            return self;
        }
        let enter = directory.map(|directory| format!("cd {}", shell_word(directory)));
        let commands: Vec<String> = enter.into_iter().chain(self.commands).collect();
        let script = shell_word(&commands.join(" && "));
        let command = format!("offshoot exec -w {} --shell {script}", shell_word(workspace));
        Self { commands: vec![command], ..self }
    }

    /// The other ref in place of a branch that is being rebased.
    pub(super) fn quit_rebase(branch: &str, kept: &str) -> Self {
        let checkout = format!("git checkout -f -B {} {}", word(branch), word(kept));
        let commands = vec!["git rebase --quit".to_owned(), checkout];
        Self { goal: Goal::Replace, when: None, commands }
    }

    /// Something of another ref that is no branch.
    pub(super) fn look(name: &str, kept: &str) -> Self {
        let (goal, command) = match name {
            "refs/stash" => (Goal::Apply, "git stash apply"),
            _ => (Goal::Show, "git show"),
        };
        Self { goal, when: None, commands: vec![format!("{command} {}", word(kept))] }
    }

    /// The same, once what is staged is committed.
    pub(crate) fn after_commit(self) -> Self {
        self.after(["git commit".to_owned()])
    }

    /// The same, once what is in progress is finished.
    pub(super) fn after_progress(self) -> Self {
        Self { when: Some("once what is in progress there is finished".to_owned()), ..self }
    }

    /// The same, once what is in progress in the workspace is finished there, and the branch is checked out again.
    pub(super) fn after_progress_in(self, workspace: &str, branch: &str, is_busy: bool) -> Self {
        let when = match is_busy {
            true => format!("once what is in progress in {workspace} is finished"),
            false => format!("once {} is checked out in {workspace} again", short_ref(branch)),
        };
        Self { when: Some(when), ..self }
    }

    /// The same, once a search with `git bisect` is over, back on its branch. Where the other side ended the search, the files are those of
    /// the branch already, and only the index has to follow.
    pub(super) fn after_bisect(self, branch: &str, ended_there: bool) -> Self {
        let short = word(branch);
        match ended_there {
            true => self.after([
                format!("git read-tree -i -m HEAD {short}"),
                format!("git symbolic-ref HEAD {}", shell_word(branch)),
                "git bisect reset HEAD".to_owned(),
            ]),
            false => {
                self.after(["git bisect reset HEAD".to_owned(), format!("git checkout -m {short}")])
            }
        }
    }

    fn after<const N: usize>(self, first: [String; N]) -> Self {
        Self { commands: first.into_iter().chain(self.commands).collect(), ..self }
    }
}

/// A ref as a word of a command.
fn word(name: &str) -> String {
    shell_word(short_ref(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_of_a_shell() {
        let way = NextStep::quit_rebase("refs/heads/a&b", "refs/heads/offshoot/fix/a&b");
        let checkout = "git checkout -f -B 'a&b' 'offshoot/fix/a&b'";
        assert_eq!(way.commands, ["git rebase --quit", checkout]);
        let way =
            NextStep::merge("refs/heads/a", "refs/heads/b").unrelated().inside("it's", Some("d"));
        let merge = "'cd d && git merge --allow-unrelated-histories b'";
        assert_eq!(way.commands, [format!(r"offshoot exec -w 'it'\''s' --shell {merge}")]);
        let way = NextStep::git_commit("it's", &[]).after_commit();
        assert_eq!(way.commands, ["git commit", r"offshoot commit -w 'it'\''s' --git"]);
    }
}
