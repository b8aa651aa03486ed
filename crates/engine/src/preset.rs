//! Presets of coding agents: which there are, and what a command becomes by one.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use offshoot_host::read_regular;
use offshoot_protocol::Network;
pub use offshoot_protocol::{CredentialFormat, CredentialMode, HomeKeep, PresetOrigin};
pub use offshoot_workspace::{
    AgentRules, HomePath, HomeRow, LostArgument, Preset, PresetAcp, PresetArguments, PresetHosts,
    PresetKey, PresetLogin, PresetVariables, Presets,
};
use offshoot_workspace::{CommandLine, Viewer, check_preset, host_of};

use crate::error::{Error, Result};
use crate::notice::Topic;
use crate::offshoot::Offshoot;
use crate::sandbox::Rules;
use crate::settings::{self, AgentSettings};

/// The directory of the user's presets, beside the configuration.
const USER_DIRECTORY: &str = "presets";
/// Presets are written by people; anything larger is a mistake.
const LARGEST: u64 = 1 << 20;
/// The name that stands for no preset.
const NONE: &str = "none";
/// What stands for the path of the project in arguments.
const PROJECT: &str = "{project}";

/// What becomes of a command by a preset.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// use offshoot_engine::exec::CommandLine;
/// use offshoot_engine::preset::PresetFit;
///
/// let line = CommandLine::Argv(vec!["claude".into()]);
/// if let Some(preset) = offshoot.preset_for(&line, None)? {
///     let fit = PresetFit { preset: &preset, terminal: true, trusted: false };
///     println!("{}", fit.line(&line).display());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct PresetFit<'a> {
    /// The preset.
    pub preset: &'a Preset,
    /// The command has a terminal.
    pub terminal: bool,
    /// The agent asks nothing.
    pub trusted: bool,
}

/// What an agent is let reach by its preset.
///
/// ```
/// use offshoot_engine::preset::PresetReach;
///
/// # fn example(reach: PresetReach) {
/// if let PresetReach::Hosts(hosts) = reach {
///     println!("{}", hosts.join(","));
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresetReach {
    /// These hosts, by the proxy, beside those that were asked for.
    Hosts(Vec<String>),
    /// What was asked for: somebody said otherwise, it has all of the network, or the preset names no host.
    AsAsked,
    /// None of its hosts: the profile does not let it.
    Barred,
}

impl PresetFit<'_> {
    /// What the agent is let reach, where somebody asked for this network or for none in particular.
    ///
    /// ```
    /// # fn example(fit: offshoot_engine::preset::PresetFit<'_>, offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// let rules = offshoot.rules(None, &[])?;
    /// println!("{:?}", fit.reach(&rules, None, None, (&offshoot.viewer(), &[]))?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reach(
        &self,
        rules: &Rules,
        sandbox: Option<&str>,
        asked: Option<Network>,
        (caller, given): (&Viewer, &[OsString]),
    ) -> Result<PresetReach> {
        let usual = rules.profiles.profile(sandbox)?.network;
        let hosts = self.hosts(caller, given);
        let is_settled = asked.is_some_and(|network| network != Network::Proxy);
        if hosts.is_empty() || is_settled || usual == Network::Host {
            return Ok(PresetReach::AsAsked);
        }
        Ok(match rules.profiles.may_reach(sandbox, Network::Proxy, &hosts) {
            true => PresetReach::Hosts(hosts),
            false => PresetReach::Barred,
        })
    }

    /// The command with the arguments of the preset before its own, but for those that it has.
    ///
    /// ```
    /// # fn example(fit: offshoot_engine::preset::PresetFit<'_>) {
    /// use offshoot_engine::exec::CommandLine;
    ///
    /// let line = fit.line(&CommandLine::Argv(vec!["claude".into()]));
    /// # }
    /// ```
    pub fn line(&self, line: &CommandLine) -> CommandLine {
        let CommandLine::Argv(words) = line else { return line.clone() };
        // Behind a program that runs packages its options end nowhere in particular.
        let Some(at) = self.program_at(words) else { return line.clone() };
        let PresetArguments { always, interactive, headless, trusted, .. } = &self.preset.args;
        let by_input = if self.terminal { interactive } else { headless };
        let trusted: &[String] = if self.trusted { trusted } else { &[] };
        let mut added: Vec<OsString> = Vec::new();
        for group in [always.as_slice(), by_input, trusted] {
            let has = |argument: &String| words.iter().any(|word| word == argument.as_str());
            // An option and its value come together.
            let is_there = group.iter().all(has);
            added.extend(group.iter().filter(|_| !is_there).map(OsString::from));
        }
        let mut all = words.clone();
        all.splice(at + 1..at + 1, added);
        CommandLine::Argv(all)
    }

    /// The command with the path of the project where arguments of the preset have `{project}`. In them it stands in single quotes: a path that has some
    /// itself is not put there, and the agent asks as usual.
    ///
    /// ```
    /// # fn example(fit: offshoot_engine::preset::PresetFit<'_>, line: &offshoot_engine::exec::CommandLine) {
    /// let line = fit.in_project(line, std::path::Path::new("/srv/project"));
    /// # }
    /// ```
    pub fn in_project(&self, line: &CommandLine, project: &Path) -> CommandLine {
        let CommandLine::Argv(words) = line else { return line.clone() };
        let Some(path) = project.to_str().filter(|path| !path.contains('\'')) else {
            return line.clone();
        };
        let PresetArguments { always, interactive, headless, trusted, .. } = &self.preset.args;
        let given = [always, interactive, headless, trusted].into_iter().flatten();
        let given: Vec<&String> = given.filter(|word| word.contains(PROJECT)).collect();
        let place = |word: &OsString| {
            let of_preset = given.iter().find(|given| word == given.as_str());
            of_preset.map_or_else(|| word.clone(), |given| given.replace(PROJECT, path).into())
        };
        CommandLine::Argv(words.iter().map(place).collect())
    }

    /// Where the agent stands in a command.
    fn program_at(&self, words: &[OsString]) -> Option<usize> {
        let is_it = |word: &OsString| {
            let name = Path::new(word).file_name().unwrap_or_default();
            let known = |program: &String| {
                let versioned = word.as_bytes().strip_prefix(program.as_bytes());
                name == program.as_str()
                    || versioned.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"@"))
            };
            self.preset.programs.iter().any(known)
        };
        words.iter().position(is_it).or_else(|| (!words.is_empty()).then_some(0))
    }

    /// Arguments of the command by which work is lost, with the reason.
    ///
    /// ```
    /// # fn example(fit: offshoot_engine::preset::PresetFit<'_>, line: &offshoot_engine::exec::CommandLine) {
    /// for lost in fit.lost(line) {
    ///     println!("{}: {}", lost.argument, lost.why);
    /// }
    /// # }
    /// ```
    pub fn lost(&self, line: &CommandLine) -> Vec<&LostArgument> {
        let CommandLine::Argv(words) = line else { return Vec::new() };
        let has = |lost: &&LostArgument| words.iter().any(|word| word == lost.argument.as_str());
        self.preset.args.lost.iter().filter(has).collect()
    }

    /// The hosts that the agent reaches: those of the preset, and those that variables of the caller name.
    ///
    /// ```
    /// # fn example(fit: offshoot_engine::preset::PresetFit<'_>, offshoot: &offshoot_engine::Offshoot) {
    /// println!("{}", fit.hosts(&offshoot.viewer(), &[]).join(","));
    /// # }
    /// ```
    pub fn hosts(&self, caller: &Viewer, given: &[OsString]) -> Vec<String> {
        let hosts = self.preset.allowed().map(str::to_owned);
        let named = self.preset.hosts.from.iter().filter_map(|name| {
            let given = given.iter().rev().find_map(|item| {
                let text = item.to_str()?.strip_prefix(name.as_str())?;
                text.strip_prefix('=').map(str::to_owned)
            });
            let own = || {
                let mut own = caller.variables.iter().rev();
                own.find(|(set, _)| set == name.as_str())?.1.to_str().map(str::to_owned)
            };
            host_of(&given.or_else(own)?)
        });
        let mut all: Vec<String> = hosts.chain(named).collect();
        let mut known = std::collections::BTreeSet::new();
        all.retain(|host| known.insert(host.clone()));
        all
    }

    /// Whether somebody seems to be logged in; none where the preset does not say.
    ///
    /// ```
    /// # fn example(fit: offshoot_engine::preset::PresetFit<'_>, offshoot: &offshoot_engine::Offshoot) {
    /// println!("{:?}", fit.is_logged_in(&offshoot.viewer(), &[]));
    /// # }
    /// ```
    pub fn is_logged_in(&self, caller: &Viewer, given: &[OsString]) -> Option<bool> {
        let login = self.preset.login.as_ref()?;
        let in_file =
            |path: &String| caller.home.as_ref().is_some_and(|home| home.join(path).is_file());
        let in_variable = |name: &String| {
            let is_set =
                |(set, value): &(OsString, OsString)| set == name.as_str() && !value.is_empty();
            caller.variables.iter().any(is_set)
                || given
                    .iter()
                    .any(|item| item.as_bytes().starts_with(format!("{name}=").as_bytes()))
        };
        Some(login.files.iter().any(in_file) || login.variables.iter().any(in_variable))
    }
}

impl Offshoot {
    /// The presets that there are: those that everybody has, and the user's own.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) {
    /// println!("{}", offshoot.presets().names().join(" "));
    /// # }
    /// ```
    pub fn presets(&self) -> Presets {
        let Some(directory) = self.preset_directory() else { return Presets::default() };
        let Ok(entries) = std::fs::read_dir(&directory) else { return Presets::default() };
        let file = |path: PathBuf| {
            let is_toml = path.extension().is_some_and(|extension| extension == "toml");
            let name = path.file_stem().filter(|_| is_toml)?.to_str()?.to_owned();
            let text =
                read_regular(&path, LARGEST).map_err(|error| format!("cannot be read: {error}"));
            let text = text.and_then(|bytes| {
                String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
            });
            Some((name, path.display().to_string(), text))
        };
        let files = entries.flatten().filter_map(|entry| file(entry.path())).collect();
        Presets::load(files, check_preset)
    }

    /// Where the user's own presets belong; none where the user has no folder for settings.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) {
    /// if let Some(directory) = offshoot.preset_directory() {
    ///     println!("your presets belong in {}", directory.display());
    /// }
    /// # }
    /// ```
    pub fn preset_directory(&self) -> Option<PathBuf> {
        let directory = settings::user_directory(&self.options().environment);
        directory.map(|directory| directory.join(USER_DIRECTORY))
    }

    /// The preset for a command: the one that is asked for, or the one of its program. `none` asks for none. An agent gets none by itself: what it calls
    /// like another would have that one's login.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::CommandLine;
    ///
    /// let line = CommandLine::Argv(vec!["claude".into()]);
    /// println!("{:?}", offshoot.preset_for(&line, None)?.map(|preset| preset.name));
    /// # Ok(())
    /// # }
    /// ```
    pub fn preset_for(&self, line: &CommandLine, asked: Option<&str>) -> Result<Option<Preset>> {
        self.preset_by(line, asked, Presets::recognise)
    }

    /// The same for an agent that speaks to an editor, which may be an adapter.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// use offshoot_engine::exec::CommandLine;
    ///
    /// let line = CommandLine::Argv(vec!["claude-agent-acp".into()]);
    /// println!("{:?}", offshoot.preset_for_acp(&line, None)?.map(|preset| preset.name));
    /// # Ok(())
    /// # }
    /// ```
    pub fn preset_for_acp(
        &self,
        line: &CommandLine,
        asked: Option<&str>,
    ) -> Result<Option<Preset>> {
        self.preset_by(line, asked, Presets::recognise_acp)
    }

    fn preset_by(
        &self,
        line: &CommandLine,
        asked: Option<&str>,
        recognise: impl Fn(&Presets, &[&[u8]]) -> Option<String>,
    ) -> Result<Option<Preset>> {
        let is_agent = self.actor().agent.is_some();
        let name = match (asked, line) {
            (Some(NONE), _) => None,
            (Some(name), _) if is_agent => {
                return Err(Error::usage(format!("an agent cannot ask for preset {name}"))
                    .hint("a person gives a command the login of a coding agent"));
            }
            (Some(name), _) => Some(name.to_owned()),
            (None, CommandLine::Argv(words)) if !is_agent => {
                let bytes: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
                let found = recognise(&self.presets(), &bytes);
                found.filter(|name| {
                    let is_own = self.runs_of_project(words);
                    if is_own {
                        let told = format!(
                            "no preset: this program may be a file of the project. If you trust it, add --preset {name}"
                        );
                        self.tell(Topic::NoPreset, told.as_str());
                    }
                    !is_own
                })
            }
            _ => None,
        };
        let Some(name) = name else { return Ok(None) };
        let presets = self.presets();
        let preset = self.viewer().moved(presets.get(&name).map_err(Error::usage)?).0;
        self.check_agent_lists(&presets)?;
        Ok(Some(preset))
    }

    /// Whether a program may be a file of the project, or of a workspace of it: anybody can call one there like an agent. What `PATH` finds
    /// in the project counts whether it is there or not, since it may be in the workspace.
    fn runs_of_project(&self, words: &[OsString]) -> bool {
        let Some(program) = words.first().map(Path::new) else { return false };
        let Ok(here) = self.directory() else { return true };
        let project = here.ancestors().find(|folder| folder.join(".git").exists());
        let project = project.unwrap_or(&here);
        let is_bound = |path: &Path| !matches!(self.bound_to(path), Ok(None));
        let is_inside = |path: &Path| {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            let is_there = |path: &Path| path.starts_with(project) || is_bound(path);
            !path.is_absolute() || is_there(path) || is_there(&real)
        };
        if program.components().count() > 1 {
            return is_inside(program);
        }
        let viewer = self.viewer();
        let path = viewer.variables.iter().rev().find(|(name, _)| name == "PATH");
        let Some((_, path)) = path else { return false };
        for directory in std::env::split_paths(path) {
            // An empty one is the current directory.
            if directory.as_os_str().is_empty() || is_inside(&directory) {
                return true;
            }
            let file = directory.join(program);
            if file.is_file() {
                return is_inside(&file);
            }
        }
        false
    }

    /// Whether the settings name presets that there are: a name that is misspelled would give an agent what it is not to have.
    fn check_agent_lists(&self, presets: &Presets) -> Result<()> {
        let lists = self.config().agents.lists();
        lists.into_iter().try_for_each(|(key, list)| check_agent_list(presets, key, list))
    }

    /// Fails where a setting names presets that there are not.
    pub(crate) fn check_setting(&self, key: &str, value: &str) -> Result<()> {
        match self.config().agents.lists().iter().any(|(list, _)| *list == key) {
            true => check_agent_list(&self.presets(), key, value),
            false => Ok(()),
        }
    }
}

fn check_agent_list(presets: &Presets, key: &str, list: &str) -> Result<()> {
    for name in AgentSettings::presets(list) {
        if presets.find(&name).is_none() {
            let problem = presets.get(&name).err().unwrap_or_default();
            return Err(Error::usage(format!("{key}: {problem}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_of_an_address_is_allowed_with_its_port() {
        for (address, host) in [
            ("https://api.example.com/v1", Some("api.example.com")),
            ("http://127.0.0.1:8080", Some("127.0.0.1:8080")),
            ("https://user:secret@example.com:8443/x?y", Some("example.com:8443")),
            ("example.com", Some("example.com")),
            ("", None),
            ("https://", None),
            ("http://*/", None),
        ] {
            assert_eq!(host_of(address).as_deref(), host, "{address}");
        }
    }

    #[test]
    fn arguments_stand_behind_the_agent() {
        let codex = Presets::default().get("codex").unwrap();
        let line = |text: &str, terminal, trusted| {
            let words = text.split(' ').map(OsString::from).collect();
            let fit = PresetFit { preset: &codex, terminal, trusted };
            fit.line(&CommandLine::Argv(words)).display()
        };
        let open = "-c sandbox_mode=danger-full-access";
        let quiet = "-c features.daemon_auto_start=false";
        assert_eq!(line("codex exec hi", false, false), format!("codex {open} exec hi"));
        assert_eq!(line("codex hi", true, false), format!("codex {open} {quiet} hi"));
        let both = format!("codex {open} {quiet}");
        assert_eq!(line(&both, true, false), both);
        let words = |text: &str| text.split(' ').map(OsString::from).collect();
        let fit = PresetFit { preset: &codex, terminal: false, trusted: true };
        let trusted = fit.line(&CommandLine::Argv(words("npx -y @openai/codex@1 {project}")));
        let placed = |path: &str| match fit.in_project(&trusted, Path::new(path)) {
            CommandLine::Argv(words) => words.join(" ".as_ref()).into_string().unwrap(),
            CommandLine::Shell(_) => unreachable!("it was none"),
        };
        let bypass = "--dangerously-bypass-approvals-and-sandbox";
        assert_eq!(
            placed("/a b"),
            format!(
                "npx -y @openai/codex@1 {open} {bypass} -c projects={{'/a b'={{trust_level='trusted'}}}} {{project}}"
            )
        );
        assert!(placed("/it's").contains("{'{project}'="));
    }
}
