use super::*;

fn load(text: &str) -> Result<Profiles, ProfileError> {
    Profiles::load(Some(("sandbox.toml", text)))
}

fn message(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

#[test]
fn everybody_has_the_same_profiles() {
    let profiles = Profiles::load(None).unwrap();
    let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
    assert_eq!(names, ["container", "none", "read-only", "strict", "workspace"]);
    let usual = profiles.usual();
    assert_eq!(
        (usual.name.as_str(), usual.network, usual.files),
        (USUAL, Network::None, FileAccess::Write)
    );
    assert!(usual.reads.contains("toolchains") && !usual.is_open() && usual.limits);
    assert!(usual.walls.iter().all(|(_, demand)| demand != Demand::Off));
    let strict = profiles.get("strict").unwrap();
    assert!(!strict.widen && !strict.reads.contains("toolchains"));
    assert_eq!(strict.walls.of(Wall::Landlock), Demand::Required);
    assert_eq!(profiles.get("read-only").unwrap().files, FileAccess::Read);
    let none = profiles.get("none").unwrap();
    assert!(none.is_open() && none.network == Network::Host && !none.limits);
    // Namespaces hold the workspace.
    let optional = [Wall::Namespaces, Wall::OwnProc];
    assert!(none.walls.iter().all(|(wall, demand)| match optional.contains(&wall) {
        true => demand == Demand::Optional,
        false => demand == Demand::Off,
    }));
}

#[test]
fn a_user_adds_and_changes_profiles() {
    let text = "default = \"mine\"\n[profile.mine]\nfrom = \"strict\"\nshow = [\"~/models\"]\nwalls = { landlock = \"optional\" }\n[profile.workspace]\nhide = [\"/opt/x\"]\n";
    let profiles = load(text).unwrap();
    let mine = profiles.usual();
    assert_eq!(mine.show, ["~/models"]);
    assert_eq!(mine.walls.of(Wall::Landlock), Demand::Optional);
    assert_eq!(mine.walls.of(Wall::Seccomp), Demand::Required);
    assert!(!mine.widen && mine.hide == ["/opt/x"]);
    let workspace = profiles.get("workspace").unwrap();
    assert!(workspace.reads.contains("toolchains") && workspace.hide == ["/opt/x"]);
}

#[test]
fn mistakes_are_named() {
    assert!(
        message("default = \"x\"").contains("there is no profile \"x\"; there are container, none")
    );
    assert!(message("[profile.a]\nreads = [\"/data\"]").contains("paths belong in `show`"));
    assert!(message("[profile.a]\nshow = [\"data\"]").contains("write an absolute path"));
    assert!(message("[profile.a]\nnetwrk = \"none\"").contains("unknown field `netwrk`"));
    assert!(
        message("[profile.a]\nfrom = \"b\"\n[profile.b]\nfrom = \"a\"")
            .contains("starts from itself")
    );
    assert!(message("[profile.a]\nfrom = \"b\"").contains("there is no profile \"b\""));
    assert!(message("\n\n[profile.a]\nfiles = \"all\"").starts_with("sandbox.toml: line 4: "));
    for place in ["/proc", "/proc/self", "/dev/null", "/", "/usr/../proc"] {
        let text = format!("[profile.a]\nhide = [\"{place}\"]");
        assert!(message(&text).contains("cannot be hidden"), "{place}");
    }
    let wrong = message("[profile.a]\nabout = \"x\"\nshwo = [\"/x\"]\n");
    assert!(wrong.starts_with("sandbox.toml: line 3: unknown field `shwo`"), "{wrong}");
    let wrong = message("[profile.a]\nshow = \"/x\"\n");
    assert!(wrong.starts_with("sandbox.toml: line 2: ") && wrong.contains("a list"), "{wrong}");
    assert!(message("[profile.a.walls]\nmoat = \"off\"").contains("moat"));
}

/// Whatever a project writes, its commands get no more than their user's profile gives.
#[test]
fn a_project_can_only_narrow() {
    let profiles = Profiles::load(None).unwrap();
    let widest = "profile = \"none\"\n[narrow]\nfiles = \"write\"\nreads = [\"everything\"]\nshow = [\"~/.ssh\"]\nnetwork = \"host\"\nallow = [\"x.example\"]\nlimits = false\nwiden = true\nnested_namespaces = true\nio_uring = true\n[narrow.walls]\nseccomp = \"off\"\nlandlock = \"off\"\n";
    let wide = profiles.project("offshoot-sandbox.toml", widest).unwrap();
    for profile in profiles.iter() {
        assert_eq!(wide.narrow(profile), *profile, "{}", profile.name);
    }
    // What has no effect is told, key by key.
    let told = wide.warnings().iter().filter_map(|warning| warning.split('`').nth(1));
    let told: Vec<&str> = told.collect();
    let keys = ["files", "reads", "show", "network", "allow", "limits", "widen"];
    assert_eq!(told, [&keys[..], &["nested_namespaces", "io_uring"]].concat());
    let text = "profile = \"strict\"\n[narrow]\nfiles = \"read\"\nhide = [\"/opt\"]\n";
    let narrow = profiles.project("offshoot-sandbox.toml", text).unwrap();
    assert_eq!(narrow.warnings(), <[String; 0]>::default());
    let left = narrow.narrow(profiles.usual());
    assert_eq!(left.name, "workspace & offshoot-sandbox.toml");
    assert_eq!(left.files, FileAccess::Read);
    assert!(!left.reads.contains("toolchains") && left.reads.contains("system"));
    assert_eq!((left.hide.as_slice(), left.widen), (["/opt".to_owned()].as_slice(), false));
    let open = narrow.narrow(profiles.get("none").unwrap());
    assert!(!open.is_open() && open.network == Network::None && open.limits);
    assert_eq!(open.walls.of(Wall::Seccomp), Demand::Required);
}

/// Allowed hosts are more than no network and less than the host's.
#[test]
fn hosts_are_those_that_both_allow() {
    let text = "[profile.web]\nnetwork = \"proxy\"\nallow = [\"a.test\", \"b.test\"]\n";
    let profiles = load(text).unwrap();
    let narrow = "[narrow]\nnetwork = \"proxy\"\nallow = [\"b.test\", \"c.test\"]\n";
    let project = profiles.project("p.toml", narrow).unwrap();
    let left = |name| project.narrow(profiles.get(name).unwrap());
    assert_eq!((left("web").network, left("web").allow), (Network::Proxy, vec!["b.test".into()]));
    assert_eq!(left("workspace").network, Network::None);
    let open = left("none");
    assert_eq!(open.network, Network::Proxy);
    assert_eq!(open.allow, ["b.test".into(), "c.test".into()]);
}

#[test]
fn a_project_names_profiles_that_exist() {
    let profiles = Profiles::load(None).unwrap();
    let error = profiles.project("p.toml", "profile = \"x\"").unwrap_err();
    assert!(error.to_string().starts_with("p.toml: there is no profile \"x\""));
    let error = profiles.project("p.toml", "[profile.x]\nnetwork = \"host\"").unwrap_err();
    assert!(error.to_string().starts_with("p.toml: a project cannot define profiles"), "{error}");
    assert!(profiles.project("p.toml", "[narrow]\nfrom = \"none\"").is_err());
}

#[test]
fn hosts_can_be_held_to_requests() {
    let text = r#"
        [profile.web]
        allow = ["a.test", { host = "b.test", methods = ["GET"], paths = ["/v1/**"] }]"#;
    let profiles = load(text).unwrap();
    let shown: Vec<String> =
        profiles.get("web").unwrap().allow.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["a.test", "b.test (GET; /v1/**)"]);
    assert!(message("[profile.web]\nallow = [{ hots = \"a.test\" }]").contains("table of host"));
}

#[test]
fn credentials_and_inspection_are_the_users_alone() {
    let text = r#"
        [[credential]]
        host = "api.test"
        scheme = "Bearer"
        value_from = { env = "API_TOKEN" }
        [[credential]]
        host = "git.test"
        header = "Private-Token"
        value_from = { command = ["pass", "git-token"] }
        [tls]
        inspect = ["api.test", "*.git.test"]"#;
    let profiles = load(text).unwrap();
    let credentials = profiles.credentials();
    assert_eq!((&*credentials[0].header, credentials[0].plain_http), ("Authorization", false));
    assert_eq!(credentials[0].value_from.to_string(), "variable API_TOKEN");
    // Its arguments may be a secret.
    assert_eq!(credentials[1].value_from.to_string(), "command pass");
    assert_eq!(profiles.tls().inspect, ["api.test", "*.git.test"]);
    for text in [text, "[tls]\ninspect = [\"a.test\"]"] {
        assert!(profiles.project("offshoot-sandbox.toml", text).is_err());
    }
    // A value is never written in the file itself.
    for source in ["value = \"x\"", "value_from = \"x\"", "value_from = { text = \"x\" }"] {
        assert!(load(&format!("[[credential]]\nhost = \"a.test\"\n{source}")).is_err());
    }
}

/// A project's file says what its commands get at most, whatever is asked for with them.
#[test]
fn a_project_bounds_what_is_asked_for() {
    let profiles = Profiles::load(None).unwrap();
    let project = |text| profiles.project("p.toml", text).unwrap();
    let none = project("[narrow]\nnetwork = \"none\"\n");
    assert!(none.lets_reach(Network::None, &[]) && none.lets_show());
    assert!(!none.lets_reach(Network::Host, &[]));
    assert!(!none.lets_reach(Network::Proxy, &["a.test".to_owned()]));
    let some = project("[narrow]\nnetwork = \"proxy\"\nallow = [\"a.test\", \"b.test\"]\n");
    assert!(some.lets_reach(Network::Proxy, &["a.test,b.test".to_owned()]));
    assert!(!some.lets_reach(Network::Proxy, &["a.test,c.test".to_owned()]));
    assert!(!some.lets_reach(Network::Host, &[]));
    let other = project("[narrow]\nfiles = \"read\"\n");
    assert!(other.lets_reach(Network::Host, &[]) && other.lets_show());
    assert!(!project("profile = \"workspace\"\n").lets_show());
}
