mod document;
mod mistakes;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use super::keys::KEYS;
use super::load::Setting;
use super::origin::SettingOrigin;
use super::*;

/// A directory with room for a user file and a project, and the inputs that point into it.
struct Fixture {
    directory: TempDir,
    sources: Sources,
}

impl Fixture {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let project = directory.path().join("project/deep/er");
        fs::create_dir_all(&project).unwrap();
        let sources = Sources {
            user_file: Some(directory.path().join("user.toml")),
            project_start_dir: Some(project),
            ..Sources::default()
        };
        Self { directory, sources }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().to_owned();
        self.sources.env.push((OsString::from(name), value));
        self
    }

    fn flag(mut self, flag: &str) -> Self {
        self.sources.flags.push(flag.to_owned());
        self
    }

    fn load(&self) -> Loaded {
        load(&self.sources).unwrap()
    }

    /// The message and the hint of the failure, with the directory's own path taken out.
    fn failure(&self) -> (String, String) {
        let error = load(&self.sources).unwrap_err();
        let place = format!("{}/", self.directory.path().display());
        let hint = error.hint().unwrap_or_default();
        (error.to_string().replace(&place, ""), hint.to_string())
    }

    fn message(&self) -> String {
        self.failure().0
    }

    fn origin_of(&self, key: &str) -> SettingOrigin {
        setting(&self.load(), key).origin
    }
}

fn setting(loaded: &Loaded, key: &str) -> Setting {
    let found = loaded.settings().unwrap().into_iter().find(|setting| setting.key == key);
    found.expect("every key is listed")
}

fn rendered(fixture: &Fixture, show_origin: bool) -> String {
    render_human(&fixture.load().settings().unwrap(), show_origin)
}

fn leaves(prefix: &str, value: &Json, into: &mut Vec<String>) {
    match value.as_object() {
        Some(object) => {
            for (name, inner) in object {
                leaves(&format!("{prefix}.{name}"), inner, into);
            }
        }
        None => into.push(prefix.trim_start_matches('.').to_owned()),
    }
}

#[test]
fn the_table_and_the_type_have_the_same_keys() {
    let mut of_type = Vec::new();
    leaves("", &serde_json::to_value(Config::default()).unwrap(), &mut of_type);
    let mut of_table: Vec<String> = KEYS.iter().map(|key| key.name.to_owned()).collect();
    of_type.sort();
    of_table.sort();
    assert_eq!(of_type, of_table);
}

#[test]
fn without_any_source_everything_is_default() {
    let loaded = load(&Sources::default()).unwrap();
    assert_eq!(loaded.config, Config::default());
    let settings = loaded.settings().unwrap();
    assert!(settings.iter().all(|setting| setting.origin == SettingOrigin::Default));
    let missing = Fixture::new().load();
    assert_eq!(missing.config, loaded.config, "missing files are fine");
    assert_eq!(missing.settings().unwrap(), settings, "missing files are fine");
    assert_eq!(setting(&loaded, "diff.max_text_bytes").value, json!(16_777_216));
    assert_eq!(setting(&loaded, "workspace.ephemeral_ttl").value, json!("24h"));
}

#[test]
fn each_place_overrides_the_one_before() {
    let mut fixture = Fixture::new();
    let mut contexts = vec![fixture.load().config.diff.context];
    fixture = fixture.file("user.toml", "diff.context = 4");
    let user = SettingOrigin::UserFile(fixture.path("user.toml"));
    assert_eq!(fixture.origin_of("diff.context"), user);
    contexts.push(fixture.load().config.diff.context);
    fixture = fixture.file("project/offshoot.toml", "[diff]\ncontext = 5");
    let project = SettingOrigin::ProjectFile(fixture.path("project/offshoot.toml"));
    assert_eq!(fixture.origin_of("diff.context"), project);
    contexts.push(fixture.load().config.diff.context);
    fixture = fixture.env("OFFSHOOT_DIFF__CONTEXT", "6");
    let variable = SettingOrigin::Environment("OFFSHOOT_DIFF__CONTEXT".to_owned());
    assert_eq!(fixture.origin_of("diff.context"), variable);
    contexts.push(fixture.load().config.diff.context);
    fixture = fixture.flag("diff.context=7");
    assert_eq!(fixture.origin_of("diff.context"), SettingOrigin::Flag);
    contexts.push(fixture.load().config.diff.context);
    fixture = fixture.flag("diff.context=8");
    contexts.push(fixture.load().config.diff.context);
    assert_eq!(contexts, [3, 4, 5, 6, 7, 8]);
    assert_eq!(fixture.origin_of("diff.renames"), SettingOrigin::Default);
}

#[test]
fn places_that_set_different_keys_of_a_section_add_up() {
    let fixture = Fixture::new()
        .file("user.toml", "[diff]\ncontext = 1\nrenames = false")
        .env("OFFSHOOT_DIFF__RENAME_SIMILARITY", "70")
        .flag("diff.max_text_bytes=1KiB")
        .flag("ui.progress=never");
    let config = fixture.load().config;
    let diff =
        DiffSettings { context: 1, renames: false, rename_similarity: 70, max_text_bytes: 1024 };
    assert_eq!(config.diff, diff);
    assert_eq!(config.ui.progress, When::Never);
    assert_eq!(config.ui.color, When::Auto);
}

#[test]
fn every_key_reaches_its_field() {
    let config = Fixture::new()
        .flag("ui.color=always")
        .flag("ui.progress=never")
        .flag("ui.pager=less -S")
        .flag("ui.hints=false")
        .flag("diff.context=1000")
        .flag("diff.renames=false")
        .flag("diff.rename_similarity=100")
        .flag("diff.max_text_bytes=1GiB")
        .flag("workspace.ephemeral_ttl=1d")
        .flag("exec.timeout=0s")
        .flag("exec.grace=1s")
        .flag("exec.output_limit=1KiB")
        .flag("exec.driver=copy")
        .flag("exec.refresh=false")
        .flag("exec.hard_link_bytes=0")
        .flag("exec.broker=false")
        .flag("exec.net=host")
        .flag("exec.allow=registries,a.test:81")
        .flag("exec.max_processes=100")
        .flag("exec.max_file_size=1MiB")
        .flag("exec.max_memory=1GiB")
        .flag("exec.max_tmpfs=1MiB")
        .flag("exec.max_cpu=9s")
        .flag("exec.max_disk=3MiB")
        .flag("cache.enabled=false")
        .flag("cache.skip=npm")
        .flag("cache.max_size=1MiB")
        .flag("agents.credentials=none")
        .flag("agents.inject=claude")
        .flag("agents.host_state=codex")
        .flag("agents.trusted=claude,codex")
        .flag("agents.max_cache=1MiB")
        .flag("agent.model=ollama/qwen3")
        .flag("agent.models=ollama/qwen3,anthropic/opus")
        .flag("agent.failover=anthropic/opus")
        .flag("agent.attempts=2")
        .flag("agent.mcp=notes,search")
        .flag("agent.max_cost=2.50")
        .flag("agent.max_turns=7")
        .flag("agent.max_time=1h")
        .flag("policy.rego_timeout=5s")
        .flag("approvals.expire=7d")
        .flag("approvals.fallback=approve")
        .flag("approvals.approvers=alex,sam")
        .flag("approvals.notify=true")
        .flag("approvals.elicitation=false")
        .flag("commit.times=recorded")
        .flag("recover.abandoned=keep")
        .flag("compact.auto=false")
        .flag("compact.depth=400")
        .flag("run.timeout=1h")
        .flag("import.threads=256")
        .flag("gc.auto=false")
        .flag("gc.auto_operations=9")
        .flag("gc.auto_size=2MiB")
        .flag("gc.keep_operations=7")
        .flag("gc.keep_age=1d")
        .flag("gc.max_size=1MiB")
        .flag("store.busy_timeout=0s")
        .load()
        .config;
    let expected = json!({
        "ui": {"color": "always", "progress": "never", "pager": "less -S", "hints": false},
        "diff": {
            "context": 1000, "renames": false, "rename_similarity": 100, "max_text_bytes": 1 << 30
        },
        "workspace": {"ephemeral_ttl": "24h"},
        "exec": {
            "timeout": "0s", "grace": "1s", "output_limit": 1024, "driver": "copy", "refresh": false,
            "hard_link_bytes": 0, "broker": false, "net": "host", "allow": "registries,a.test:81",
            "max_processes": 100, "max_file_size": 1 << 20,
            "max_memory": 1 << 30, "max_tmpfs": 1 << 20, "max_cpu": "9s",
            "max_disk": 3 << 20
        },
        "cache": {"enabled": false, "skip": "npm", "max_size": 1 << 20},
        "agents": {"credentials": "none", "inject": "claude", "host_state": "codex", "trusted": "claude,codex", "max_cache": 1 << 20},
        "agent": {
            "model": "ollama/qwen3", "models": "ollama/qwen3,anthropic/opus", "failover": "anthropic/opus",
            "attempts": 2, "mcp": "notes,search", "max_cost": 2_500_000, "max_turns": 7, "max_time": "1h",
        },
        "policy": {"rego_timeout": "5s"},
        "approvals": {
            "expire": "168h", "fallback": "approve", "approvers": "alex,sam", "notify": "true",
            "elicitation": false,
        },
        "commit": {"times": "recorded"},
        "recover": {"abandoned": "keep"},
        "compact": {"auto": false, "depth": 400},
        "run": {"timeout": "1h"},
        "import": {"threads": 256},
        "gc": {
            "auto": false, "auto_operations": 9, "auto_size": 2 << 20,
            "keep_operations": 7, "keep_age": "24h", "max_size": 1 << 20
        },
        "store": {"busy_timeout": "0s"},
    });
    assert_eq!(serde_json::to_value(config).unwrap(), expected);
}

#[test]
fn the_nearest_project_file_counts_and_only_that() {
    let fixture = Fixture::new()
        .file("project/offshoot.toml", "diff.context = 1\nimport.threads = 2")
        .file("project/deep/offshoot.toml", "diff.context = 9");
    let config = fixture.load().config;
    assert_eq!(config.diff.context, 9);
    assert_eq!(config.import.threads, 0);
}

#[test]
fn offshoot_config_names_another_user_file() {
    let fixture = Fixture::new()
        .file("user.toml", "this is not even TOML")
        .file("project/deep/er/mine.toml", "diff.context = 8");
    let relative = fixture.env("OFFSHOOT_CONFIG", "mine.toml");
    assert_eq!(relative.load().config.diff.context, 8);
    let missing = Fixture::new().env("OFFSHOOT_CONFIG", "absent.toml");
    let (message, hint) = missing.failure();
    assert_eq!(message, "OFFSHOOT_CONFIG names project/deep/er/absent.toml, which does not exist");
    assert!(hint.contains("unset OFFSHOOT_CONFIG"), "{hint}");
    let none =
        Fixture::new().file("user.toml", "diff.context = 8").env("OFFSHOOT_CONFIG", "/dev/null");
    assert_eq!(none.load().config, Config::default());
    let empty = Fixture::new().env("OFFSHOOT_CONFIG", "");
    assert_eq!(empty.load().config, Config::default());
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    // A directory in its place fails for every user, root included.
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("user.toml")).unwrap();
    assert_eq!(fixture.message(), "user.toml is not a regular file");
    let fixture = Fixture::new();
    fs::create_dir(fixture.path("project/offshoot.toml")).unwrap();
    let expected = "project/offshoot.toml is not a regular file";
    assert_eq!(fixture.message(), expected);
    let endless = Fixture::new().env("OFFSHOOT_CONFIG", "/dev/zero");
    assert_eq!(endless.message(), "/dev/zero is not a regular file");
    let large = Fixture::new().file("user.toml", "#".repeat((1 << 20) + 1));
    assert!(large.message().contains("larger than 1048576 bytes"));
}

#[test]
fn a_file_where_a_directory_should_be_is_no_user_file() {
    let mut fixture = Fixture::new().file("plain", "");
    fixture.sources.user_file = Some(fixture.path("plain/config.toml"));
    assert_eq!(fixture.load().config, Config::default());
}

#[test]
fn reserved_and_foreign_variables_are_left_alone() {
    let mut fixture = Fixture::new();
    for name in [
        "OFFSHOOT_HOME",
        "OFFSHOOT_WORKSPACE",
        "OFFSHOOT_VAULT",
        "OFFSHOOT_AGENT",
        "OFFSHOOT_SESSION",
        "OFFSHOOT_SEED",
        "OFFSHOOT_TEST_TIER",
        "OFFSHOOT_TEST_CASES",
        "DIFF__CONTEXT",
        "NO_OFFSHOOT_DIFF__CONTEXT",
        "offshoot_diff__context",
    ] {
        fixture = fixture.env(name, "anything");
    }
    fixture = fixture.env("OFFSHOOT_DIFF__CONTEXT", "");
    assert_eq!(fixture.load().config, Config::default());
}

#[test]
fn what_is_shown_can_be_read_back() {
    let fixture =
        Fixture::new().flag("diff.max_text_bytes=1001").flag("workspace.ephemeral_ttl=90m");
    let shown = rendered(&fixture, false);
    let again = Fixture::new().file("user.toml", &shown).load();
    assert_eq!(again.config, fixture.load().config);
    let with_origin = rendered(&fixture, true);
    let again = Fixture::new().file("user.toml", &with_origin).load();
    assert_eq!(again.config, fixture.load().config);
}

/// Whoever can write a project's file must not decide what its readers run, how much commands get, nor whether they can be taken back. What
/// would is told, and stops nobody.
#[test]
fn a_project_narrows_and_never_widens() {
    let user = "[exec]\ntimeout = \"10m\"\nmax_memory = \"1GiB\"\n[gc]\nauto = false\n";
    for (setting, told) in [
        ("ui.pager = \"evil\"", "offshoot.toml:1:4: ui.pager is ignored: only you decide that"),
        ("exec.net = \"host\"", "exec.net is ignored: a project may only turn it off"),
        ("exec.timeout = \"1h\"", "a project may only lower it, and you have \"10m\""),
        ("exec.timeout = \"0s\"", "a project may only lower it, and you have \"10m\""),
        ("run.timeout = \"0s\"", ""),
        ("exec.max_memory = 0", "and you have \"1GiB\""),
        ("exec.max_memory = \"2GiB\"", "and you have \"1GiB\""),
        ("exec.output_limit = \"1GiB\"", "and you have \"1MiB\""),
        ("gc.auto = true", "gc.auto is ignored"),
        ("gc.auto_operations = 1", "a project may only raise it, and you have 100"),
        ("workspace.ephemeral_ttl = \"1s\"", "a project may only raise it, and you have \"24h\""),
        ("recover.abandoned = \"discard\"", "only you decide that"),
        ("gc.keep_operations = 0", "only you decide that"),
        ("gc.keep_age = \"0s\"", "only you decide that"),
        ("gc.max_size = 1", "only you decide that"),
    ] {
        let alone = Fixture::new().file("user.toml", user).load();
        let fixture = Fixture::new().file("user.toml", user).file("project/offshoot.toml", setting);
        let loaded = fixture.load();
        assert_eq!(loaded.config, alone.config, "{setting}");
        let ignored: Vec<String> = loaded.ignored().iter().map(ToString::to_string).collect();
        assert_eq!(ignored.len(), usize::from(!told.is_empty()), "{setting}: {ignored:?}");
        assert!(ignored.iter().all(|line| line.contains(told)), "{setting}: {ignored:?}");
    }
    let narrower =
        "[exec]\ntimeout = \"1m\"\nmax_memory = \"1MiB\"\nnet = \"none\"\n[cache]\nskip = \"npm\"";
    let user = "[exec]\nnet = \"host\"\n[cache]\nskip = \"pip\"";
    let fixture = Fixture::new().file("user.toml", user).file("project/offshoot.toml", narrower);
    let loaded = fixture.load();
    assert_eq!(loaded.ignored(), []);
    assert_eq!(loaded.config.exec.timeout.as_secs(), 60);
    assert_eq!(loaded.config.exec.max_memory, 1 << 20);
    assert_eq!(loaded.config.exec.net, Network::None);
    assert_eq!(loaded.config.cache.skip, "pip,npm");
    // Whoever stands before the keyboard may.
    let fixture = Fixture::new().file("project/offshoot.toml", narrower).flag("exec.timeout=2h");
    assert_eq!(fixture.load().config.exec.timeout.as_secs(), 7200);
    // A file in a directory above, or one that is nearer, has no more to say.
    for file in ["offshoot.toml", "project/deep/er/offshoot.toml"] {
        let loaded = Fixture::new().file(file, "exec.timeout = \"1h\"").load();
        assert_eq!(loaded.config.exec.timeout.as_secs(), 300, "{file}");
        assert_eq!(loaded.ignored().len(), 1, "{file}");
    }
    let loaded = Fixture::new().file("user.toml", "ui.pager = \"less -S\"").load();
    assert_eq!(loaded.config.ui.pager, "less -S");
}

#[test]
fn origins_are_shown_beside_the_values() {
    let mut fixture = Fixture::new().env("OFFSHOOT_DIFF__CONTEXT", "5").flag("diff.renames=false");
    let odd = fixture.path("line\nbreak.toml");
    fs::write(&odd, "ui.color = \"never\"").unwrap();
    fixture.sources.user_file = Some(odd);
    let place = fixture.directory.path().display().to_string();
    let shown = rendered(&fixture, true).replace(&place, "DIR");
    let expected = "\
ui.color = \"never\"               # user file DIR/line\\nbreak.toml
ui.progress = \"auto\"             # default
ui.pager = \"auto\"                # default; only you set it
ui.hints = true                  # default
diff.context = 5                 # environment variable OFFSHOOT_DIFF__CONTEXT
diff.renames = false             # flag --config
diff.rename_similarity = 50      # default
diff.max_text_bytes = \"16MiB\"    # default; a project may only raise it
workspace.ephemeral_ttl = \"24h\"  # default; a project may only raise it
exec.timeout = \"5m\"              # default; a project may only lower it
exec.grace = \"2s\"                # default; a project may only lower it
exec.output_limit = \"1MiB\"       # default; a project may only lower it
exec.driver = \"auto\"             # default
exec.refresh = true              # default
exec.hard_link_bytes = \"64MiB\"   # default; a project may only lower it
exec.broker = true               # default; a project may only turn it off
exec.net = \"none\"                # default; a project may only turn it off
exec.allow = \"\"                  # default; only you set it
exec.max_processes = 4096        # default; a project may only lower it
exec.max_file_size = \"0B\"        # default; a project may only lower it
exec.max_memory = \"0B\"           # default; a project may only lower it
exec.max_tmpfs = \"0B\"            # default; a project may only lower it
exec.max_cpu = \"0s\"              # default; a project may only lower it
exec.max_disk = \"0B\"             # default; a project may only lower it
cache.enabled = true             # default; a project may only turn it off
cache.skip = \"\"                  # default; a project may only add to it
cache.max_size = \"10GiB\"         # default; a project may only lower it
agents.credentials = \"sync\"      # default; a project may only turn it off
agents.inject = \"\"               # default; only you set it
agents.host_state = \"\"           # default; only you set it
agents.trusted = \"\"              # default; only you set it
agents.max_cache = \"2GiB\"        # default; a project may only lower it
agent.model = \"\"                 # default; a project may only choose from your list
agent.models = \"\"                # default; only you set it
agent.failover = \"\"              # default; only you set it
agent.attempts = 4               # default; a project may only lower it
agent.mcp = \"\"                   # default; only you set it
agent.max_cost = \"0.00\"          # default; a project may only lower it
agent.max_turns = 100            # default; a project may only lower it
agent.max_time = \"0s\"            # default; a project may only lower it
policy.rego_timeout = \"100ms\"    # default; a project may only lower it
approvals.expire = \"24h\"         # default; only you set it
approvals.fallback = \"deny\"      # default; only you set it
approvals.approvers = \"\"         # default; only you set it
approvals.notify = \"\"            # default; only you set it
approvals.elicitation = true     # default; only you set it
commit.times = \"now\"             # default
recover.abandoned = \"offer\"      # default; only you set it
compact.auto = true              # default
compact.depth = 16               # default
run.timeout = \"0s\"               # default; a project may only lower it
import.threads = 0               # default
gc.auto = true                   # default; a project may only turn it off
gc.auto_operations = 100         # default; a project may only raise it
gc.auto_size = \"1GiB\"            # default; a project may only raise it
gc.keep_operations = 100         # default; only you set it
gc.keep_age = \"720h\"             # default; only you set it
gc.max_size = \"0B\"               # default; only you set it
store.busy_timeout = \"30s\"       # default; a project may only lower it
";
    assert_eq!(shown, expected);
}
