//! Where each agent keeps its settings, and what is put there.

use std::path::{Path, PathBuf};

use offshoot_protocol::{ExitCode, IntegratedAgent, IntegrationPart, IntegrationScope};
use serde_json::{Value, json};

use super::json_text::JsonEntry;
use super::record::Records;
use super::toml_keys::TomlKeys;
use super::toml_text::TomlEntry;
use crate::commands::policy::check::places;
use crate::context::Context;
use crate::error::{CliError, Result};

/// The plugin of opencode; `@PROGRAM@` stands for the program as a text of JavaScript.
const OPENCODE_PLUGIN: &str = include_str!("opencode.js");

/// Where Codex runs its tools; `@PROGRAM@` stands for the program as a text of TOML.
const CODEX_ENVIRONMENT: &str = include_str!("codex.toml");

/// Its own sandbox cannot be made inside, where the walls of Offshoot are around the tools; and a daemon would go on, and keep the
/// workspace busy, when Codex has ended.
const CODEX_KEYS: TomlKeys = TomlKeys(&[
    ("", "sandbox_mode", "\"danger-full-access\""),
    ("features", "daemon_auto_start", "false"),
]);

/// The workspace of Codex' tools.
pub(super) const CODEX_WORKSPACE: &str = "codex";

/// How long an agent waits for the hook, in seconds.
const HOOK_TIMEOUT: u64 = 30;

/// What is put into one file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) part: IntegrationPart,
    pub(super) path: PathBuf,
    pub(super) entry: Entry,
}

#[derive(Debug)]
pub(super) enum Entry {
    Json(JsonEntry),
    Toml(TomlEntry),
    Keys(TomlKeys),
    /// The whole file.
    File(String),
}

/// The parts for an agent.
pub(super) fn parts(
    agent: IntegratedAgent,
    scope: IntegrationScope,
    records: &Records,
    context: &Context,
) -> Result<Vec<Part>> {
    let base = base(agent, scope, context)?;
    let program = program(scope, context);
    // By the alphabet: whether the order is kept depends on what else is compiled with the program.
    let server = json!({"args": ["mcp"], "command": program});
    let is_user = scope == IntegrationScope::User;
    let hook_command = format!("{} hook {agent}", quoted(&program));
    let hook = json!({"command": hook_command, "timeout": HOOK_TIMEOUT, "type": "command"});
    let hook_entry = |matcher: &str| {
        let value = json!({"hooks": [hook], "matcher": matcher});
        Entry::Json(JsonEntry::Hook { path: &["hooks", "PreToolUse"], value })
    };
    let member = |path, value| Entry::Json(JsonEntry::Member { path, value });
    Ok(match agent {
        IntegratedAgent::Claude => {
            let settings = if is_user { "settings.json" } else { ".claude/settings.json" };
            let servers =
                if is_user { claude_file(&base, context) } else { base.join(".mcp.json") };
            vec![
                mcp(servers, member(&["mcpServers", "offshoot"], server)),
                Part {
                    part: IntegrationPart::Hook,
                    path: base.join(settings),
                    entry: hook_entry("Bash"),
                },
            ]
        }
        IntegratedAgent::Codex => {
            let table = TomlEntry { section: "mcp_servers", name: "offshoot", value: server };
            vec![
                mcp(base.join("config.toml"), Entry::Toml(table)),
                Part {
                    part: IntegrationPart::Hook,
                    path: base.join("hooks.json"),
                    entry: hook_entry("^Bash$"),
                },
            ]
        }
        IntegratedAgent::Opencode => {
            let value = json!({"command": [program, "mcp"], "enabled": true, "type": "local"});
            let plugins = if is_user { "plugin" } else { ".opencode/plugin" };
            let plugin = OPENCODE_PLUGIN.replace("@PROGRAM@", &Value::from(program).to_string());
            vec![
                mcp(opencode_file(&base, records), member(&["mcp", "offshoot"], value)),
                Part {
                    part: IntegrationPart::Hook,
                    path: base.join(plugins).join("offshoot.js"),
                    entry: Entry::File(plugin),
                },
            ]
        }
    })
}

/// The parts that have an agent run all of its tools inside, while it runs outside itself. Only Codex has some, for the user.
pub(super) fn environment(
    agent: IntegratedAgent,
    scope: IntegrationScope,
    context: &Context,
) -> Result<Vec<Part>> {
    if agent != IntegratedAgent::Codex || scope != IntegrationScope::User {
        return Ok(Vec::new());
    }
    let base = base(agent, scope, context)?;
    let text = CODEX_ENVIRONMENT
        .replace("@WORKSPACE@", CODEX_WORKSPACE)
        .replace("@PROGRAM@", &toml_edit::Value::from(program(scope, context)).to_string());
    let part = |name: &str, entry| Part {
        part: IntegrationPart::Environment,
        path: base.join(name),
        entry,
    };
    Ok(vec![
        part("environments.toml", Entry::File(text)),
        part("config.toml", Entry::Keys(CODEX_KEYS)),
    ])
}

fn mcp(path: PathBuf, entry: Entry) -> Part {
    Part { part: IntegrationPart::Mcp, path, entry }
}

/// The folder of an agent's settings.
fn base(agent: IntegratedAgent, scope: IntegrationScope, context: &Context) -> Result<PathBuf> {
    if scope == IntegrationScope::Project {
        let project = places(context)?.0;
        return Ok(match agent {
            IntegratedAgent::Codex => project.join(".codex"),
            IntegratedAgent::Claude | IntegratedAgent::Opencode => project,
        });
    }
    let absolute = |name: &str| variable(name, context).filter(|path| path.is_absolute());
    let home = || {
        context.engine.options().user_home().ok_or_else(|| {
            CliError::new(ExitCode::Usage, "there is no place for your settings: HOME is not set")
                .hint("set HOME, or use --scope project")
        })
    };
    Ok(match agent {
        IntegratedAgent::Claude => match absolute("CLAUDE_CONFIG_DIR") {
            Some(folder) => folder,
            None => home()?.join(".claude"),
        },
        IntegratedAgent::Codex => match absolute("CODEX_HOME") {
            Some(folder) => folder,
            None => home()?.join(".codex"),
        },
        IntegratedAgent::Opencode => match absolute("XDG_CONFIG_HOME") {
            Some(folder) => folder.join("opencode"),
            None => home()?.join(".config/opencode"),
        },
    })
}

/// The file with the servers of the user: beside `~/.claude`, or in the folder that the variable names.
fn claude_file(base: &Path, context: &Context) -> PathBuf {
    match variable("CLAUDE_CONFIG_DIR", context).filter(|path| path.is_absolute()) {
        Some(folder) => folder.join(".claude.json"),
        None => base.with_file_name(".claude.json"),
    }
}

/// opencode reads both; the one that has the entry, else the one that is there.
fn opencode_file(base: &Path, records: &Records) -> PathBuf {
    let files = [base.join("opencode.json"), base.join("opencode.jsonc")];
    let recorded = files.iter().find(|file| records.of(file).is_some());
    let there = || files.iter().find(|file| file.exists());
    recorded.or_else(there).unwrap_or(&files[0]).clone()
}

fn variable(name: &str, context: &Context) -> Option<PathBuf> {
    let mut variables = context.engine.options().environment.iter();
    variables.find(|(other, _)| other == name).map(|(_, value)| PathBuf::from(value))
}

/// What agents start: `offshoot` where that is this program, else its path. What a project has is for everybody who works on it.
fn program(scope: IntegrationScope, context: &Context) -> String {
    const NAME: &str = "offshoot";
    let Ok(own) = std::env::current_exe() else { return NAME.to_owned() };
    let path = variable("PATH", context).unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(NAME)).find(|at| at.is_file());
    let is_own = found.and_then(|at| at.canonicalize().ok()).is_some_and(|at| at == own);
    match (scope, is_own, own.to_str()) {
        (IntegrationScope::User, false, Some(own)) => own.to_owned(),
        _ => NAME.to_owned(),
    }
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}
