//! How the workspace of an agent is called.

use std::ffi::OsString;
use std::path::Path;

use crate::settings::AcpSettings;

/// Programs that run others, whose names say nothing about the agent.
const RUNNERS: &[&str] =
    &["bun", "bunx", "deno", "env", "node", "npx", "pnpm", "python", "python3", "sh", "uv", "uvx"];

/// The preset of any program, which says nothing about the agent.
const GENERIC: &str = "generic";

/// What the agent is called, here and as a name of workspaces to which a number is added.
pub(crate) fn agent(settings: &AcpSettings) -> String {
    let preset = settings.preset.as_ref().map(|preset| preset.name.as_str());
    match preset.filter(|name| *name != GENERIC) {
        Some(name) => name.to_owned(),
        None => by_command(&settings.command),
    }
}

fn by_command(command: &[OsString]) -> String {
    let names = command.iter().map(|word| plain(&word.to_string_lossy()));
    let mut told = names.filter(|name| !name.is_empty() && !RUNNERS.contains(&name.as_str()));
    told.next().unwrap_or_else(|| "agent".to_owned())
}

/// The last part of a path or of a package, in characters that names of workspaces have.
fn plain(word: &str) -> String {
    if word.starts_with('-') || word.contains('=') {
        return String::new();
    }
    let last = Path::new(word).file_stem().map(|name| name.to_string_lossy().into_owned());
    let last = last.unwrap_or_default();
    let last = last.split('@').find(|part| !part.is_empty()).unwrap_or_default();
    let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    last.chars()
        .filter(|letter| good(*letter))
        .take(32)
        .collect::<String>()
        .trim_matches('-')
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_called_after_the_agent() {
        let name =
            |words: &[&str]| by_command(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(name(&["gemini", "--experimental-acp"]), "gemini");
        assert_eq!(name(&["/usr/bin/goose", "acp"]), "goose");
        assert_eq!(
            name(&["npx", "-y", "@zed-industries/claude-code-acp@latest"]),
            "claude-code-acp"
        );
        assert_eq!(name(&["python3", "/srv/my agent.py"]), "myagent");
        assert_eq!(name(&["npx"]), "agent");
    }
}
