use super::*;

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

fn user(name: &str, text: &str) -> Presets {
    let file = (name.to_owned(), format!("/c/{name}.toml"), Ok(text.to_owned()));
    Presets::load(vec![file], |_| Ok(()))
}

#[test]
fn those_that_everybody_has_can_be_read() {
    let all = Presets::default().all();
    let names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    let expected = [
        "aider", "claude", "codex", "crush", "gemini", "generic", "goose", "opencode", "pi", "qwen",
    ];
    assert_eq!(names, expected);
    for (name, preset) in all {
        let preset = preset.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(preset.programs.is_empty(), name == "generic");
        let keeps = |keep| preset.home.iter().any(|row| row.keep == keep);
        assert!(name == "generic" || keeps(HomeKeep::Credential), "{name}");
        let allowed: Vec<&str> = preset.allowed().collect();
        assert!(allowed.iter().all(|host| !preset.is_quiet(host)), "{name}");
        // What stays outside is what the agent would have, for a host that it reaches.
        assert_eq!(preset.inject.is_empty(), name == "generic");
        let login = preset.login.iter().flat_map(|login| &login.variables);
        let login: Vec<&String> = login.collect();
        for key in &preset.inject {
            assert!(preset.env.pass.contains(&key.variable), "{name}: {}", key.variable);
            assert!(login.contains(&&key.variable), "{name}: {}", key.variable);
            assert!(allowed.contains(&key.host.as_str()), "{name}: {}", key.host);
            assert!(key.from.iter().all(|from| preset.hosts.from.contains(from)), "{name}");
        }
    }
}

#[test]
fn an_agent_is_known_by_its_program() {
    let presets = Presets::default();
    for (line, name) in [
        ("claude", Some("claude")),
        ("/usr/local/bin/claude -p hi", Some("claude")),
        ("pnpm dlx @anthropic-ai/claude-code@2.1.0 -p hi", Some("claude")),
        ("npx -y @anthropic-ai/claude-code@2.1.0 -p hi", None),
        ("bunx opencode-ai run", None),
        ("yarn dlx opencode-ai run", Some("opencode")),
        ("uvx aider-chat", Some("aider")),
        ("pipx run aider-chat", Some("aider")),
        ("pnpm dlx @openai/codex", Some("codex")),
        ("pipx install aider-chat", None),
        ("npm install @openai/codex", None),
        ("./claude", None),
        ("bin/claude", None),
        ("make claude", None),
        ("claude2", None),
    ] {
        assert_eq!(presets.recognise(&words(line)).as_deref(), name, "{line}");
    }
}

#[test]
fn the_users_replace_and_add() {
    let presets = user("mine", "summary = \"Mine\"\nprograms = [\"codex\", \"my-agent\"]\n");
    assert_eq!(presets.recognise(&words("my-agent")).as_deref(), Some("mine"));
    assert_eq!(presets.recognise(&words("codex")).as_deref(), Some("mine"));
    assert_eq!(presets.get("mine").unwrap().origin, PresetOrigin::User);
    let presets = user("claude", "summary = \"Other\"\nprograms = [\"other\"]\n");
    assert_eq!(presets.recognise(&words("claude")), None);
    assert_eq!(presets.get("claude").unwrap().summary, "Other");
}

#[test]
fn a_file_that_cannot_be_used_says_where() {
    for (text, message) in [
        ("", "missing field `summary`"),
        ("summary = \"x\"\nhost = 1\n", "line 2: unknown field `host`"),
        (
            "summary = \"x\"\n\n[[home]]\npaths = [\"/a\"]\nkeep = \"state\"\n",
            "line 3: \"/a\" is no path below the home",
        ),
        (
            "summary = \"x\"\n[[home]]\npaths = [\"a/../b\"]\nkeep = \"state\"\n",
            "is no path below the home",
        ),
        (
            "summary = \"x\"\n[[home]]\npaths = [\"a*\"]\nkeep = \"credential\"\n",
            "line 2: \"a*\" has a `*`",
        ),
        (
            "summary = \"x\"\n[[home]]\npaths = [\"a\"]\nkeep = \"through\"\n",
            "line 4: unknown variant `through`",
        ),
        (
            "summary = \"x\"\n[[home]]\npaths = [\"a\"]\nkeep = \"state\"\ngive = [\"b\"]\n",
            "line 2: `take` and `give` is for",
        ),
        ("summary = \"x\"\n[[home]]\npaths = []\nkeep = \"state\"\n", "has no `paths`"),
        ("summary = \"x\"\n[moves]\nX_HOME = { \"/a\" = \"\" }\n", "[moves]: \"/a\" is no path"),
        (
            "summary = \"x\"\n[[inject]]\nvariable = \"X\"\nhost = \"\"\nheader = \"h\"\nplaceholder = \"p\"\n",
            "[[inject]]: `host` is empty",
        ),
    ] {
        let presets = user("bad", text);
        let error = presets.get("bad").unwrap_err();
        assert!(error.starts_with("/c/bad.toml: ") && error.contains(message), "{error}");
        // It is not taken for none: what is called like it does not run without.
        assert_eq!(presets.recognise(&words("bad")).as_deref(), Some("bad"));
        assert_eq!(presets.recognise(&words("claude")).as_deref(), Some("claude"));
    }
    assert!(user("Bad Name", "summary = \"x\"\n").get("Bad Name").is_err());
    assert!(Presets::default().get("nothing").unwrap_err().contains("there are aider, claude"));
}

#[test]
fn the_first_row_that_fits_counts() {
    let claude = Presets::default().get("claude").unwrap();
    let keep = |path: &str| {
        let names: Vec<&[u8]> = path.split('/').map(str::as_bytes).collect();
        claude.row(&names).map(|row| row.keep)
    };
    assert_eq!(keep(".claude/projects/a/b.jsonl"), Some(HomeKeep::State));
    assert_eq!(keep(".claude/.credentials.json"), Some(HomeKeep::Credential));
    assert_eq!(keep(".claude/shell-snapshots/a"), Some(HomeKeep::Drop));
    assert_eq!(keep(".claude.json"), Some(HomeKeep::Values));
    assert_eq!(keep(".claude"), None);
    assert_eq!(keep("notes"), None);
    assert!(claude.leads(&[b".claude"]) && !claude.leads(&[b".ssh"]));
    let codex = Presets::default().get("codex").unwrap();
    let row = codex.row(&[b".codex", b"state_5.sqlite-wal"]).unwrap();
    assert_eq!(row.keep, HomeKeep::State);
}

#[test]
fn agents_that_speak_to_editors_are_known_by_themselves_and_by_their_adapters() {
    let known = |line: &str| {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        Presets::default().recognise_acp(&words)
    };
    for (line, name) in [
        ("gemini --acp", Some("gemini")),
        ("claude-agent-acp", Some("claude")),
        ("/usr/bin/codex-acp", Some("codex")),
        ("pnpm dlx @agentclientprotocol/claude-agent-acp@1", Some("claude")),
        ("npx -y @agentclientprotocol/claude-agent-acp@1", None),
        ("./claude-agent-acp", None),
        ("my-agent", None),
    ] {
        assert_eq!(known(line).as_deref(), name, "{line}");
    }
    let wrong = Preset::parse("a", PresetOrigin::User, "a.toml", "summary = \"A\"\n[acp]\n");
    assert!(wrong.unwrap_err().to_string().contains("[acp]"));
}

#[test]
fn variables_move_directories_below_the_home() {
    use std::ffi::OsString;
    use std::path::PathBuf;

    let homes = [PathBuf::from("/link/me"), PathBuf::from("/h/me")];
    let moved = |name: &str, set: &[(&str, &str)]| {
        let preset = Presets::default().get(name).unwrap();
        preset.moved(&homes, |name| {
            set.iter().find(|(set, _)| *set == name).map(|(_, value)| OsString::from(value))
        })
    };
    let paths = |preset: &Preset| -> Vec<String> {
        preset.home.iter().flat_map(|row| &row.paths).map(ToString::to_string).collect()
    };
    let (usual, told) = moved("claude", &[]);
    assert_eq!(paths(&usual)[..2], [".claude/.credentials.json", ".claude.json"]);
    assert!(told.is_empty() && !usual.env.pass.iter().any(|name| name == "CLAUDE_CONFIG_DIR"));
    for value in ["/h/me/a/b", "/link/me/a/b/", "/h/me//a/b"] {
        let (claude, told) = moved("claude", &[("CLAUDE_CONFIG_DIR", value)]);
        assert_eq!(paths(&claude)[..2], ["a/b/.credentials.json", "a/b/.claude.json"], "{value}");
        assert_eq!(claude.home[1].lock.as_ref().unwrap().to_string(), "a/b/.claude.json.lock");
        assert_eq!(claude.login.unwrap().files, ["a/b/.credentials.json"]);
        assert!(told.is_empty() && claude.env.pass.contains(&"CLAUDE_CONFIG_DIR".to_owned()));
    }
    for value in ["/h/me", "/h/meow", "/", "a", "~/a", "/h/me/../you", "/h/me/a*"] {
        let (claude, told) = moved("claude", &[("CLAUDE_CONFIG_DIR", value)]);
        assert_eq!(paths(&claude), paths(&usual), "{value}");
        assert!(told.len() == 1 && claude.env.pass == usual.env.pass, "{value}");
    }
    // What names more of a path counts more.
    let both = [("XDG_CONFIG_HOME", "/h/me/x"), ("GOOSE_PATH_ROOT", "/h/me/g")];
    assert_eq!(paths(&moved("goose", &both).0)[0], "g/config/secrets.yaml");
    assert_eq!(paths(&moved("goose", &both[..1]).0)[0], "x/goose/secrets.yaml");
}
