//! Servers of the Model Context Protocol whose tools can be called. The user names them; no project does.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_host::read_regular;
use offshoot_protocol::{ExitCode, Hint, Network, Notation};
use offshoot_workspace::check_hosts;
use serde::Deserialize;
use toml::Value;

use crate::error::{Error, Result};
use crate::offshoot::Offshoot;
use crate::settings;

/// The user's file, beside the configuration.
const USER_FILE: &str = "mcp.toml";
/// It is written by people; anything larger is a mistake.
const LARGEST: u64 = 1 << 20;
/// How long a server may take to answer where nobody says.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How large a result may be where nobody says.
const RESULT: u64 = 1 << 20;
/// Workspaces are named after servers.
const LONGEST_NAME: usize = 40;

/// A server whose tools can be called.
///
/// ```
/// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
/// for server in offshoot.tool_servers()? {
///     println!("{}: {}", server.name, server.identity());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolServer {
    /// What the user calls it.
    pub name: String,
    /// How it is reached.
    pub address: ToolServerAddress,
    /// How long it may take to start, and to answer.
    pub timeout: Duration,
    /// How many bytes a result may have.
    pub max_result: u64,
}

/// How a server is reached.
///
/// ```
/// use offshoot_engine::tool_server::{ToolServerAddress, ToolServerUrl};
///
/// let url = "https://mcp.example.com/mcp".to_owned();
/// let address = ToolServerAddress::Url(ToolServerUrl { url, header: None, plain_http: false });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolServerAddress {
    /// It is started, in a workspace, and spoken to by its standard input and output.
    Command(ToolServerCommand),
    /// It runs elsewhere, and is spoken to over HTTP.
    Url(ToolServerUrl),
}

/// A server that is started.
///
/// ```
/// use offshoot_engine::tool_server::ToolServerCommand;
///
/// let command = ToolServerCommand { argv: vec!["my-server".to_owned()], ..ToolServerCommand::default() };
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ToolServerCommand {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables that it gets: NAME or NAME=VALUE.
    pub env: Vec<String>,
    /// What it can reach.
    pub network: Network,
    /// The hosts that it can reach by the network proxy.
    pub allow: Vec<String>,
    /// Files of the host that it sees.
    pub show: Vec<PathBuf>,
    /// The profile that it runs by.
    pub sandbox: Option<String>,
}

impl fmt::Debug for ToolServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Variables may hold secrets.
        f.debug_struct("ToolServerCommand").field("argv", &self.argv).finish_non_exhaustive()
    }
}

/// A server that runs elsewhere.
///
/// ```
/// use offshoot_engine::tool_server::ToolServerUrl;
///
/// let local = ToolServerUrl { url: "http://127.0.0.1:3001/mcp".to_owned(), header: None, plain_http: false };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolServerUrl {
    /// Its address.
    pub url: String,
    /// What every request has.
    pub header: Option<ToolServerHeader>,
    /// It may be spoken to without TLS, though it runs on another machine.
    pub plain_http: bool,
}

/// A header of every request, whose value is in a variable of the user.
///
/// ```
/// use offshoot_engine::tool_server::ToolServerHeader;
///
/// let token = ToolServerHeader::new("EXAMPLE_TOKEN");
/// assert_eq!((&*token.name, token.scheme.as_deref()), ("Authorization", Some("Bearer")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolServerHeader {
    /// Its name.
    pub name: String,
    /// What stands before the value.
    pub scheme: Option<String>,
    /// The variable.
    pub env: String,
}

impl ToolServerHeader {
    /// A bearer token.
    ///
    /// ```
    /// use offshoot_engine::tool_server::ToolServerHeader;
    ///
    /// assert_eq!(ToolServerHeader::new("EXAMPLE_TOKEN").env, "EXAMPLE_TOKEN");
    /// ```
    pub fn new(env: impl Into<String>) -> Self {
        let (name, scheme) = ("Authorization".to_owned(), Some("Bearer".to_owned()));
        Self { name, scheme, env: env.into() }
    }
}

impl ToolServer {
    /// What makes it this server: its command or its address. Another one has to be trusted anew.
    ///
    /// ```
    /// # fn example(server: &offshoot_engine::tool_server::ToolServer) {
    /// println!("{}", server.identity());
    /// # }
    /// ```
    pub fn identity(&self) -> String {
        match &self.address {
            ToolServerAddress::Command(command) => {
                serde_json::Value::from(command.argv.clone()).to_string()
            }
            ToolServerAddress::Url(url) => url.url.clone(),
        }
    }
}

/// The user's file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerFile {
    #[serde(default)]
    server: BTreeMap<String, Written>,
}

/// A server as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    command: Option<Vec<String>>,
    url: Option<String>,
    #[serde(default)]
    env: Vec<String>,
    net: Option<WrittenNet>,
    #[serde(default)]
    show: Vec<String>,
    sandbox: Option<String>,
    header: Option<WrittenHeader>,
    #[serde(default)]
    plain_http: bool,
    // Whatever they are: a number is told what it has to be.
    timeout: Option<Value>,
    max_result: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenNet {
    Word(Network),
    Hosts(Vec<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenHeader {
    name: Option<String>,
    scheme: Option<String>,
    env: String,
}

impl Offshoot {
    /// The servers that the user named. Files of projects are not looked at.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("{} servers", offshoot.tool_servers()?.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool_servers(&self) -> Result<Vec<ToolServer>> {
        let Some(path) = self.tool_server_file() else { return Ok(Vec::new()) };
        let text = match read_regular(&path, LARGEST) {
            Ok(bytes) => {
                String::from_utf8(bytes).map_err(|_| unusable(&path, "it is not UTF-8"))?
            }
            Err(error) if error.is_absent() => return Ok(Vec::new()),
            Err(error) => return Err(unusable(&path, &error.to_string())),
        };
        let home = self.options().user_home();
        parse(&text, home.as_deref()).map_err(|problem| unusable(&path, &problem))
    }

    /// The server of this name.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) -> offshoot_engine::Result<()> {
    /// println!("{:?}", offshoot.tool_server("github")?.timeout);
    /// # Ok(())
    /// # }
    /// ```
    pub fn tool_server(&self, name: &str) -> Result<ToolServer> {
        let mut all = self.tool_servers()?;
        if let Some(at) = all.iter().position(|server| server.name == name) {
            return Ok(all.swap_remove(at));
        }
        let names: Vec<String> = all.into_iter().map(|server| server.name).collect();
        let message = format!("there is no server {}", crate::text::line(name));
        let hint = match self.tool_server_file() {
            _ if !names.is_empty() => Hint::command("offshoot mcp servers").text(" lists them"),
            Some(file) => Hint::from(format!(
                "name it in {}: [server.NAME] with command = [..] or url = \"..\"",
                crate::text::host_path(&file)
            )),
            None => Hint::from("HOME is not set, so there is no file that names servers"),
        };
        Err(Error::new(ExitCode::NotFound, message).hint(hint).candidates(names))
    }

    /// The user's file that names servers; none where the user has no folder for settings.
    ///
    /// ```
    /// # fn example(offshoot: &offshoot_engine::Offshoot) {
    /// if let Some(file) = offshoot.tool_server_file() {
    ///     println!("your servers belong in {}", file.display());
    /// }
    /// # }
    /// ```
    pub fn tool_server_file(&self) -> Option<PathBuf> {
        let directory = settings::user_directory(&self.options().environment);
        directory.map(|directory| directory.join(USER_FILE))
    }
}

fn unusable(path: &Path, problem: &str) -> Error {
    Error::usage(format!("{}: {problem}", crate::text::host_path(path)))
}

fn parse(text: &str, home: Option<&Path>) -> Result<Vec<ToolServer>, String> {
    let file: ServerFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| text[..span.start].matches('\n').count() + 1);
        let place = line.map_or_else(String::new, |line| format!("line {line}: "));
        format!("{place}{}", Notation::Toml.explain(error.message()))
    })?;
    let all = file.server.into_iter().map(|(name, written)| {
        let about = format!("[server.{}]", crate::text::line(&name));
        written.checked(name, home).map_err(|problem| format!("{about}: {problem}"))
    });
    all.collect()
}

impl Written {
    fn checked(self, name: String, home: Option<&Path>) -> Result<ToolServer, String> {
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
        let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if !starts_well || !name.chars().all(good) || name.len() > LONGEST_NAME {
            return Err(format!(
                "a name has at most {LONGEST_NAME} letters, digits, `-` and `_`, and starts with a letter"
            ));
        }
        let timeout = match &self.timeout {
            Some(value) => value
                .as_str()
                .and_then(settings::parse_duration)
                .filter(|timeout| !timeout.is_zero())
                .ok_or("`timeout` is no duration such as \"90s\"")?,
            None => TIMEOUT,
        };
        let max_result = match &self.max_result {
            Some(value) => value
                .as_str()
                .and_then(settings::parse_size)
                .ok_or("`max_result` is no size such as \"4MiB\"")?,
            None => RESULT,
        };
        let address = self.address(home)?;
        Ok(ToolServer { name, address, timeout, max_result })
    }

    fn address(self, home: Option<&Path>) -> Result<ToolServerAddress, String> {
        match (self.command, self.url) {
            (Some(argv), None) => {
                if argv.first().is_none_or(String::is_empty) {
                    return Err("`command` is empty".to_owned());
                }
                if self.header.is_some() || self.plain_http {
                    return Err("`header` and `plain_http` go with `url`".to_owned());
                }
                if let Some(item) =
                    self.env.iter().find(|item| item.is_empty() || item.starts_with('='))
                {
                    return Err(format!(
                        "`env` has {item:?}, which is neither NAME nor NAME=VALUE"
                    ));
                }
                let (network, allow) = match self.net {
                    None | Some(WrittenNet::Word(Network::None)) => (Network::None, Vec::new()),
                    Some(WrittenNet::Word(Network::Host)) => (Network::Host, Vec::new()),
                    Some(WrittenNet::Word(Network::Proxy)) => {
                        return Err("`net` names the hosts: net = [\"example.com\"]".to_owned());
                    }
                    Some(WrittenNet::Hosts(hosts)) if hosts.is_empty() => (Network::None, hosts),
                    Some(WrittenNet::Hosts(hosts)) => (Network::Proxy, hosts),
                };
                for host in &allow {
                    check_hosts(host).map_err(|problem| format!("`net`: {problem}"))?;
                }
                let show: Result<_, String> =
                    self.show.iter().map(|path| shown(path, home)).collect();
                let (env, show, sandbox) = (self.env, show?, self.sandbox);
                Ok(ToolServerAddress::Command(ToolServerCommand {
                    argv,
                    env,
                    network,
                    allow,
                    show,
                    sandbox,
                }))
            }
            (None, Some(url)) => {
                if self.net.is_some()
                    || !self.env.is_empty()
                    || !self.show.is_empty()
                    || self.sandbox.is_some()
                {
                    return Err("`env`, `net`, `show` and `sandbox` go with `command`".to_owned());
                }
                let header = self.header.map(|written| {
                    let token = ToolServerHeader::new(written.env);
                    match written.name {
                        // Another header has the value alone, unless something stands before it.
                        Some(name) => ToolServerHeader { name, scheme: written.scheme, ..token },
                        None => {
                            ToolServerHeader { scheme: written.scheme.or(token.scheme), ..token }
                        }
                    }
                });
                Ok(ToolServerAddress::Url(ToolServerUrl {
                    url,
                    header,
                    plain_http: self.plain_http,
                }))
            }
            _ => Err("it has either `command` or `url`".to_owned()),
        }
    }
}

/// A place of the host, as somebody wrote it.
fn shown(path: &str, home: Option<&Path>) -> Result<PathBuf, String> {
    let place = match (path.strip_prefix("~/"), home) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(path),
    };
    match place.is_absolute() {
        true => Ok(place),
        false => Err(format!("`show` has {path:?}, which is no absolute path and no `~/NAME`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<ToolServer, String> {
        parse(text, Some(Path::new("/srv/me"))).map(|mut all| all.remove(0))
    }

    #[test]
    fn servers_are_started_without_a_network() {
        let server = one("[server.notes]\ncommand = [\"notes\", \"--stdio\"]\nenv = [\"LANG\"]\nshow = [\"~/notes\"]\n").unwrap();
        assert_eq!((server.timeout, server.max_result), (TIMEOUT, RESULT));
        assert_eq!(server.identity(), r#"["notes","--stdio"]"#);
        let ToolServerAddress::Command(command) = server.address else { panic!("it is started") };
        assert_eq!((command.network, command.show), (Network::None, vec!["/srv/me/notes".into()]));
        let server = one("[server.a]\ncommand = [\"a\"]\nnet = [\"example.com\"]\ntimeout = \"5s\"\nmax_result = \"2MiB\"\n").unwrap();
        assert_eq!((server.timeout.as_secs(), server.max_result), (5, 2 << 20));
        let ToolServerAddress::Command(command) = server.address else { panic!("it is started") };
        assert_eq!(
            (command.network, command.allow),
            (Network::Proxy, vec!["example.com".to_owned()])
        );
    }

    #[test]
    fn a_token_is_named_and_not_written() {
        let server =
            one("[server.web]\nurl = \"https://example.com/mcp\"\nheader = { env = \"TOKEN\" }\n")
                .unwrap();
        let ToolServerAddress::Url(url) = server.address else { panic!("it has an address") };
        assert_eq!(url.header, Some(ToolServerHeader::new("TOKEN")));
        let server = one("[server.web]\nurl = \"https://example.com/mcp\"\nheader = { name = \"X-Key\", env = \"KEY\" }\n").unwrap();
        let ToolServerAddress::Url(url) = server.address else { panic!("it has an address") };
        assert_eq!(url.header.unwrap().scheme, None);
    }

    #[test]
    fn mistakes_are_told_where_they_are() {
        for (text, problem) in [
            ("[server.a]\n", "[server.a]: it has either `command` or `url`"),
            ("[server.a]\ncommand = []\n", "[server.a]: `command` is empty"),
            (
                "[server.a]\ncommand = [\"a\"]\nurl = \"http://b\"\n",
                "[server.a]: it has either `command` or `url`",
            ),
            (
                "[server.\"a b\"]\ncommand = [\"a\"]\n",
                "[server.a b]: a name has at most 40 letters, digits, `-` and `_`, and starts with a letter",
            ),
            ("[server.a]\ncommand = [\"a\"]\nnet = [\"https://x/\"]\n", "[server.a]: `net`: "),
            (
                "[server.a]\ncommand = [\"a\"]\ntimeout = \"5\"\n",
                "[server.a]: `timeout` is no duration such as \"90s\"",
            ),
            (
                "[server.a]\ncommand = [\"a\"]\ntimeout = 2\n",
                "[server.a]: `timeout` is no duration such as \"90s\"",
            ),
            (
                "[server.a]\ncommand = [\"a\"]\nmax_result = 2\n",
                "[server.a]: `max_result` is no size such as \"4MiB\"",
            ),
            (
                "[server.a]\nurl = \"https://b\"\nnet = [\"b\"]\n",
                "[server.a]: `env`, `net`, `show` and `sandbox` go with `command`",
            ),
            ("[server.a]\ncommand = [\"a\"]\ntokn = 1\n", "line 3: unknown field"),
        ] {
            let told = one(text).unwrap_err();
            assert!(told.starts_with(problem), "{told}");
        }
    }
}
