use std::os::unix::fs::{PermissionsExt, symlink};

use offshoot_profile::Profiles;
use offshoot_protocol::Visibility;

use super::*;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn viewer(&self, variables: &[(&str, &str)]) -> Viewer {
        let variables = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Viewer { home: Some(self.0.path().to_owned()), variables }
    }
}

fn sight(profile: &str, viewer: &Viewer) -> Sight {
    let profiles = Profiles::load(None).unwrap();
    Sight::new(profiles.get(profile).unwrap(), viewer, &[])
}

#[test]
fn toolchains_of_the_home_are_seen_and_secrets_are_not() {
    let home = Home::new();
    for name in [
        ".cargo/bin/cargo",
        ".cargo/credentials.toml",
        ".ssh/id_ed25519",
        ".rustup/settings.toml",
        ".aws/credentials",
        "notes.txt",
    ] {
        home.write(name, "x");
    }
    let seen = sight("workspace", &home.viewer(&[])).shown();
    assert!(seen.contains(&home.path(".cargo/bin")) && seen.contains(&home.path(".rustup")));
    for secret in [".cargo", ".cargo/credentials.toml", ".ssh", ".aws", "notes.txt", ""] {
        assert!(!seen.contains(&home.path(secret)), "{secret}");
    }
    assert!(seen.contains(&PathBuf::from("/usr")));
    let strict = sight("strict", &home.viewer(&[])).shown();
    assert!(strict.iter().all(|path| !path.starts_with(home.0.path())));
}

/// Shown paths are looked for by name in lists of names; a name that ends with a star stands for all that begin like it.
#[test]
fn a_star_stands_for_the_rest_of_a_name() {
    let home = Home::new();
    home.write(".texlive2026/x", "");
    home.write(".texliv/x", "");
    let seen = sight("workspace", &home.viewer(&[])).shown();
    assert!(seen.contains(&home.path(".texlive2026")) && !seen.contains(&home.path(".texliv")));
}

#[test]
fn settings_are_copied_without_credentials() {
    let home = Home::new();
    home.write(".gitconfig", "[user]\n\tname = A\n[credential]\n\thelper = store\n");
    home.write(".config/git/config", "[include]\n\tpath = work.inc\n");
    home.write(".config/git/work.inc", "[credential]\n\thelper = store\n[core]\n\teditor = vi\n");
    home.write(".m2/settings.xml", "<password>x</password>");
    let sight = sight("workspace", &home.viewer(&[]));
    let copies: Vec<WrittenFile> = sight.copies().collect();
    let git = copies.iter().find(|copy| copy.path == home.path(".gitconfig")).unwrap();
    assert_eq!(git.content, b"[user]\n\tname = A\n");
    let included = copies.iter().find(|copy| copy.path.ends_with("work.inc")).unwrap();
    assert_eq!(included.content, b"[core]\n\teditor = vi\n");
    assert!(!copies.iter().any(|copy| copy.path.ends_with("settings.xml")));
    let explained = sight.explain(&home.path(".gitconfig"), None, &[]);
    assert_eq!((explained.visibility, explained.left_out.lines), (Visibility::Copied, vec![3, 4]));
    let explained = sight.explain(&home.path(".m2/settings.xml"), None, &[]);
    assert_eq!(explained.visibility, Visibility::Withheld);
}

/// Tools keep settings in directories that are shown as they are: one that holds a credential is covered by a copy without it.
#[test]
fn settings_in_what_is_shown_are_covered_by_copies_without_credentials() {
    const TOKEN: &str = "//registry.example/:_authToken=npm_secret\n";
    let home = Home::new();
    let npmrc = format!("registry=https://registry.example/\n{TOKEN}");
    let venv = home.path("work/venv");
    let settings = [
        (".npm-global/etc/npmrc", npmrc.as_str()),
        (".nvm/versions/node/v22.1.0/etc/npmrc", &npmrc),
        (".nvm/versions/node/v20.0.0/etc/npmrc", "fund=false\n"),
        (".bun/install/global/.npmrc", &npmrc),
        (".pyenv/versions/3.12.1/pip.conf", "[global]\nindex-url = https://me:pw@host/simple\n"),
        ("work/venv/pip.conf", "[global]\nindex-url = https://me:pw@host/simple\n"),
        ("miniconda3/.condarc", "channels:\n  - https://host/t/tk-0123-abcd/acme\n"),
        ("miniforge3/envs/x/.condarc", "channels:\n  - https://host/t/tk-0123-abcd/acme\n"),
        ("miniforge3/envs/x/condarc", "channels:\n  - https://host/t/tk-0123-abcd/acme\n"),
        ("micromamba/.mambarc", "channels:\n  - https://host/t/tk-0123-abcd/acme\n"),
        ("miniconda3/etc/npmrc", &npmrc),
        ("miniconda3/envs/x/etc/npmrc", &npmrc),
        (".pixi/envs/x/etc/npmrc", &npmrc),
        (".asdf/installs/nodejs/22/.npm/etc/npmrc", &npmrc),
        (".oh-my-zsh/custom/work.zsh", "alias g=git\nexport GH_TOKEN=secret\n"),
        (".oh-my-zsh/custom/plain.zsh", "alias g=git\n"),
        // Of a version that a program of the search path leads to.
        ("apps/node/versions/v1/etc/npmrc", &npmrc),
        (".local/share/pypoetry/config.toml", "[http-basic.acme]\npassword = \"secret\"\n"),
    ];
    settings.iter().for_each(|(path, text)| home.write(path, text));
    for hidden in
        [".local/share/pypoetry/auth.toml", ".cargo/credentials", ".cargo/credentials.toml"]
    {
        home.write(hidden, "[x]\npassword = \"secret\"\n");
    }
    home.write(".cargo/bin/cargo", "");
    home.write("programs/other", "");
    let program = home.path("apps/node/versions/v1/bin/node");
    home.write("apps/node/versions/v1/bin/node", "");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    symlink(&program, home.path("programs/node")).unwrap();
    let programs = home.path("programs");
    let variables = [("VIRTUAL_ENV", venv.to_str().unwrap()), ("PATH", programs.to_str().unwrap())];
    let viewer = home.viewer(&variables);
    let sight = sight("workspace", &viewer);
    let copies: Vec<WrittenFile> = sight.copies().collect();
    for (path, text) in settings {
        let explained = sight.explain(&home.path(path), None, &[]);
        let is_whole = path.contains("v20") || path.contains("plain");
        let copy = copies.iter().find(|copy| copy.path == home.path(path));
        assert_eq!(sight.hidden.contains(&home.path(path)), !is_whole, "{path}");
        if is_whole {
            assert_eq!((explained.visibility, copy), (Visibility::Shown, None), "{path}");
        } else {
            assert_eq!(explained.visibility, Visibility::Copied, "{path}");
            assert!(explained.left_out.count() > 0, "{path}");
            let left = String::from_utf8_lossy(&copy.unwrap().content).into_owned();
            let is_secret = |word| left.contains(word);
            assert!(!["secret", "me:pw", "tk-0123"].into_iter().any(is_secret), "{path}: {left}");
            assert!(text.starts_with(left.lines().next().unwrap_or_default()), "{path}: {left}");
        }
    }
    for (hidden, visibility) in [
        (".local/share/pypoetry/auth.toml", Visibility::Hidden),
        (".cargo/credentials", Visibility::Absent),
        (".cargo/credentials.toml", Visibility::Absent),
    ] {
        let explained = sight.explain(&home.path(hidden), Some(home.0.path()), &[]);
        assert_eq!(explained.visibility, visibility, "{hidden}");
    }
    // Whoever names one gets it as it is.
    let profiles = Profiles::load(None).unwrap();
    let named = home.path(".npm-global");
    let sight = Sight::new(profiles.get("workspace").unwrap(), &viewer, &[named]);
    let npmrc = home.path(".npm-global/etc/npmrc");
    assert!(!sight.hidden.contains(&npmrc) && sight.copies().all(|copy| copy.path != npmrc));
    assert_eq!(sight.explain(&npmrc, None, &[]).visibility, Visibility::Shown);
}

/// Administrators write passwords of proxies and shares to these.
#[test]
fn settings_of_the_system_that_may_hold_credentials_are_copied() {
    let home = Home::new();
    let sight = sight("workspace", &home.viewer(&[]));
    let etc = groups().iter().find(|group| group.name == "etc").unwrap();
    for path in ["/etc/npmrc", "/etc/environment", "/etc/wgetrc", "/etc/gitconfig", "/etc/fstab"] {
        assert!(etc.copy.contains(&path) && !etc.show.contains(&path), "{path}");
        assert!(!sight.shown().contains(&PathBuf::from(path)), "{path}");
        if Path::new(path).is_file() {
            let seen = sight.seen.iter().find(|seen| seen.path == Path::new(path));
            assert!(seen.is_some_and(|seen| seen.copy.is_some()), "{path}");
        }
    }
}

/// A variable that names the home, or what the home lies in, would show all of it.
#[test]
fn no_variable_shows_the_home() {
    let home = Home::new();
    home.write(".ssh/id", "x");
    home.write("tools/run", "x");
    symlink(home.0.path(), home.path("round")).unwrap();
    let (top, round) = (home.0.path().to_str().unwrap(), home.path("round"));
    let above = home.0.path().parent().unwrap().to_str().unwrap();
    for named in [top, above, "/", round.to_str().unwrap()] {
        let list = format!("{named}:{}:relative", home.path("tools").display());
        let viewer = home.viewer(&[("PATH", &list), ("JAVA_HOME", named), ("NVM_DIR", named)]);
        let seen = sight("workspace", &viewer).shown();
        assert!(seen.contains(&home.path("tools")), "{named}");
        for path in &seen {
            assert!(!home.path(".ssh").starts_with(path), "{named}: {}", path.display());
        }
    }
}

/// Nor what many tools keep in one place, with their credentials.
#[test]
fn no_variable_shows_what_is_shared() {
    let home = Home::new();
    for name in [
        ".local/share/keyrings/k",
        ".m2/settings-security.xml",
        ".gradle/gradle.properties",
        ".sdk/bin/java",
    ] {
        home.write(name, "x");
    }
    let named = |name: &str| home.path(name).to_str().unwrap().to_owned();
    let (local, maven, gradle, java) =
        (named(".local"), named(".m2"), named(".gradle/"), named(".sdk"));
    let viewer = home.viewer(&[
        ("N_PREFIX", &local),
        ("MAVEN_HOME", &maven),
        ("GRADLE_HOME", &gradle),
        ("JAVA_HOME", &java),
    ]);
    let seen = sight("workspace", &viewer).shown();
    assert!(seen.contains(&home.path(".sdk")));
    for name in [".local", ".m2", ".gradle"] {
        assert!(!seen.contains(&home.path(name)), "{name}");
    }
}

#[test]
fn a_path_is_explained_by_what_it_lies_in() {
    let home = Home::new();
    home.write(".cargo/bin/cargo", "x");
    let sight = sight("workspace", &home.viewer(&[]));
    let explained = sight.explain(&home.path(".cargo/bin/cargo"), None, &[]);
    let by = (home.path(".cargo/bin"), Source::Group("toolchains", Some("rust")));
    assert_eq!((explained.visibility, explained.by), (Visibility::Shown, Some(by)));
    let visibility =
        |path: &Path| sight.explain(path, Some(home.0.path()), &[PathBuf::from("/w")]).visibility;
    assert_eq!(visibility(Path::new("/usr/bin/env")), Visibility::Shown);
    assert_eq!(visibility(Path::new("/w/a")), Visibility::Workspace);
    assert_eq!(visibility(Path::new("/root-of-others/x")), Visibility::Absent);
    assert_eq!(visibility(Path::new("/etc/shadow")), Visibility::Absent);
    assert_eq!(visibility(Path::new("/run/docker.sock")), Visibility::Private);
    assert_eq!(visibility(home.0.path()), Visibility::Private);
}
