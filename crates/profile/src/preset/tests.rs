use super::*;

fn words(line: &str) -> Vec<&[u8]> {
    line.split(' ').map(str::as_bytes).collect()
}

fn user(name: &str, text: &str) -> Presets {
    Presets::load(vec![(name.to_owned(), format!("/c/{name}.toml"), Ok(text.to_owned()))])
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
    }
}

#[test]
fn an_agent_is_known_by_its_program() {
    let presets = Presets::default();
    for (line, name) in [
        ("claude", Some("claude")),
        ("/usr/local/bin/claude -p hi", Some("claude")),
        ("npx -y @anthropic-ai/claude-code@2.1.0 -p hi", Some("claude")),
        ("bunx opencode-ai run", Some("opencode")),
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
