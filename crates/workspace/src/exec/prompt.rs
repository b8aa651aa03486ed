//! Marking the prompt of a shell that a person works in, without touching their own files.
//!
//! The shell is told to read a file that reads the user's own first and then puts the name of the workspace before whatever
//! prompt they have. Shells that offer no way to do that stay as they are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use offshoot_sandbox::WrittenFile;

/// Where the files are: below a directory that is private to every command.
const FOLDER: &str = "/run/offshoot";

/// How a shell with a marked prompt is started.
#[derive(Debug, Default)]
pub(super) struct MarkedShell {
    /// Arguments beyond the shell itself.
    pub(super) arguments: Vec<OsString>,
    /// Variables beyond its own.
    pub(super) environment: Vec<(OsString, OsString)>,
    /// Files that it reads.
    pub(super) files: Vec<WrittenFile>,
}

/// Marks the prompt of a shell by the name of its workspace; nothing where there is no way to.
pub(super) fn mark(
    shell: &OsStr,
    workspace: &str,
    environment: &[(OsString, OsString)],
) -> Option<MarkedShell> {
    let name = Path::new(shell).file_name()?.to_str()?;
    match name {
        "bash" if Path::new("/run").is_dir() => Some(bash(workspace)),
        "zsh" if Path::new("/run").is_dir() => Some(zsh(workspace, environment)),
        "fish" => Some(fish(workspace)),
        _ => None,
    }
}

/// The files that shells with a marked prompt read.
pub(super) fn files(workspace: &str) -> Vec<WrittenFile> {
    match Path::new("/run").is_dir() {
        true => [bash(workspace).files, zsh(workspace, &[]).files].concat(),
        false => Vec::new(),
    }
}

fn bash(workspace: &str) -> MarkedShell {
    let text = format!(
        r#"[ -f ~/.bashrc ] && . ~/.bashrc
__offshoot_prompt() {{ case $PS1 in *"({workspace}) "*) ;; *) PS1="({workspace}) $PS1" ;; esac; }}
if [[ "$(declare -p PROMPT_COMMAND 2> /dev/null)" == "declare -a"* ]]; then
    PROMPT_COMMAND+=(__offshoot_prompt)
else
    PROMPT_COMMAND="${{PROMPT_COMMAND:+$PROMPT_COMMAND
}}__offshoot_prompt"
fi
"#
    );
    let file = written("bashrc", text);
    let arguments = vec!["--rcfile".into(), file.path.clone().into(), "-i".into()];
    MarkedShell { arguments, files: vec![file], ..MarkedShell::default() }
}

fn zsh(workspace: &str, environment: &[(OsString, OsString)]) -> MarkedShell {
    // The user's own folder of startup files, which is theirs again as soon as zsh has found these.
    let own = environment.iter().find(|(name, _)| name == "ZDOTDIR");
    let own = own.map(|(_, value)| ("OFFSHOOT_ZDOTDIR".into(), value.clone()));
    let before = r#"__offshoot_folder=$ZDOTDIR
ZDOTDIR=${OFFSHOOT_ZDOTDIR:-$HOME}
[[ -f $ZDOTDIR/.zshenv ]] && . $ZDOTDIR/.zshenv
__offshoot_own=$ZDOTDIR
ZDOTDIR=$__offshoot_folder
unset OFFSHOOT_ZDOTDIR __offshoot_folder
"#;
    let after = format!(
        r#"ZDOTDIR=$__offshoot_own
unset __offshoot_own
[[ $ZDOTDIR == $HOME ]] && typeset +x ZDOTDIR
[[ -f $ZDOTDIR/.zshrc ]] && . $ZDOTDIR/.zshrc
__offshoot_prompt() {{ [[ $PROMPT == *"({workspace}) "* ]] || PROMPT="({workspace}) $PROMPT" }}
precmd_functions+=(__offshoot_prompt)
"#
    );
    let folder = PathBuf::from(FOLDER);
    let environment = [("ZDOTDIR".into(), folder.into())].into_iter().chain(own).collect();
    let files = vec![written(".zshenv", before.to_owned()), written(".zshrc", after)];
    MarkedShell { arguments: vec!["-i".into()], environment, files }
}

fn fish(workspace: &str) -> MarkedShell {
    let text = format!(
        "function __offshoot_status; return $argv[1]; end; \
         functions -q fish_prompt; and functions -c fish_prompt __offshoot_own_prompt; \
         or function __offshoot_own_prompt; printf '> '; end; \
         function fish_prompt; set -l last $status; printf '({workspace}) '; \
         __offshoot_status $last; __offshoot_own_prompt; end"
    );
    let arguments = vec!["-i".into(), "-C".into(), text.into()];
    MarkedShell { arguments, ..MarkedShell::default() }
}

fn written(name: &str, text: String) -> WrittenFile {
    WrittenFile { path: Path::new(FOLDER).join(name), content: text.into_bytes(), modified: None }
}
