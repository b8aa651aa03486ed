//! The system prompt.

use offshoot_agent::{PromptLayer, Skill, instructions, skills};
use offshoot_engine::Workspace;

use crate::files::WorkspaceFiles;

/// Where a project has skills.
const SKILLS: [&str; 2] = [".agents/skills", ".claude/skills"];

const BASE: &str = "\
You are a coding agent. You work in a workspace: a fork of the user's folder, which does not change until the user commits. \
Every call is recorded and can be undone, so act rather than ask where it is clear what is wanted.

- Look before you change: read the files that matter, and search for what refers to them.
- Change as little as the task needs, in the style of the code around it. `edit_file` replaces an exact piece of a file.
- Run the project's own checks or tests with `run_command` when you have changed something, and read what they say.
- A command may be denied or need the user's approval; the result says why and what to do instead. Do not work around it.
- Results may be shortened; they say how to read the rest.
- If a call fails, find out why before you repeat it.
- At the end, say in a few sentences what you changed and what you checked. Say plainly what does not work.";

/// The layers for a workspace, the skills of its project, and notes about what was left out. The directory is the one in which the agent works, relative
/// to the top.
pub(crate) fn layers(
    workspace: &Workspace,
    directory: &str,
) -> (Vec<PromptLayer>, Vec<Skill>, Vec<String>) {
    let mut notes = Vec::new();
    let files = WorkspaceFiles(workspace);
    let mut layers = vec![PromptLayer::Base { text: BASE.to_owned() }];
    layers.extend(instructions(&files, directory, &mut notes));
    let all = SKILLS.iter().flat_map(|place| skills(&files, place, &mut notes));
    let skills: Vec<Skill> = all.collect();
    layers.extend(skills.iter().map(Skill::layer));
    (layers, skills, notes)
}
