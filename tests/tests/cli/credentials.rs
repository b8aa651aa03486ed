//! Credentials that the network proxy adds to requests, and requests that it looks at: no command holds one.

use std::fs;
use std::path::Path;
use std::process::Output;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::registry::Registry;
use offshoot_tests::user::{User, give_away};

use crate::transcript::demo_vault;

const HUSH: &str = "hush-4711-hush";

/// Two servers of https at addresses that no variable excepts from the proxy, and a user who has a credential for the first.
struct Scene {
    place: Place,
    api: Registry,
    other: Registry,
    user: User,
}

impl Scene {
    fn new() -> Self {
        let (api, other) = (Registry::start_tls("127.0.0.2"), Registry::start_tls("127.0.0.3"));
        for registry in [&api, &other] {
            registry.put("/hello", "hello\n");
        }
        api.redirect("/away", &format!("{}/hello", other.address()));
        let place = demo_vault();
        let trusted = [&api, &other].map(|registry| registry.authority().unwrap()).concat();
        fs::write(place.path().join("trusted.pem"), trusted).unwrap();
        fs::write(place.path().join("token"), format!("{HUSH}\n")).unwrap();
        Self { place, api, other, user: User::new() }
    }

    /// The user's file.
    fn settings(&self, text: &str) {
        let file = self.place.path().join(".config/offshoot/sandbox.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// A credential for the first server, from a source.
    fn credential(&self, source: &str) -> String {
        format!(
            "[tls]\ninspect = [\"127.0.0.2\"]\n\
             [[credential]]\nhost = \"{}\"\nscheme = \"Bearer\"\nvalue_from = {source}\n",
            self.api.host()
        )
    }

    fn both(&self) -> String {
        format!("allow={},{}", self.api.host(), self.other.host())
    }

    /// Runs a command of the product, as whoever runs the tests or as an ordinary user.
    fn run(&self, ordinary: bool, arguments: &[&str]) -> Output {
        let mut command = match ordinary {
            true => {
                give_away(self.place.path());
                self.user.command(&self.place, arguments)
            }
            false => self.place.command(arguments),
        };
        command.env("SSL_CERT_FILE", self.place.path().join("trusted.pem"));
        command.env("API_TOKEN", HUSH).env("LC_COPY", HUSH);
        command.output().unwrap()
    }

    fn shell(&self, net: &str, text: &str) -> Output {
        self.run(false, &["exec", "--net", net, "--shell", text])
    }

    /// Whether the servers were asked, and with the credential: the first, the other.
    fn told(&self) -> [Option<bool>; 2] {
        [&self.api, &self.other].map(|registry| {
            let heads = registry.heads();
            let holds = |head: &String| {
                head.to_lowercase().contains(&format!("authorization: bearer {HUSH}"))
            };
            (!heads.is_empty()).then(|| heads.iter().any(holds))
        })
    }
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether a file below a directory holds the credential.
fn holds(directory: &Path) -> bool {
    fs::read_dir(directory).into_iter().flatten().flatten().any(|entry| {
        let path = entry.path();
        let has = |bytes: Vec<u8>| bytes.windows(HUSH.len()).any(|part| part == HUSH.as_bytes());
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => holds(&path),
            false => fs::read(path).is_ok_and(has),
        }
    })
}

#[needs(UserNamespace, "curl", "python3", "node")]
#[test]
fn the_server_gets_the_credential_and_the_command_does_not() {
    let scene = Scene::new();
    let token = scene.place.path().join("token");
    let (api, other, net) = (scene.api.address(), scene.other.address(), scene.both());
    let search = "env; cat /proc/self/environ /proc/1/environ; cat ../token; grep -rs hush-47[1]1 /run /tmp /etc ~ .; \
                  grep -rs 'PRIVATE KE[Y]' /run; \
                  cat /proc/1/mem /proc/1/maps; ls /run/offshoot; true";
    scene.place.write("search.sh", search);
    let sources = [
        "{ env = \"API_TOKEN\" }".to_owned(),
        format!("{{ file = \"{}\" }}", token.display()),
        "{ command = [\"cat\", \"token\"] }".to_owned(),
    ];
    for ordinary in [false, true] {
        for source in &sources {
            scene.settings(&scene.credential(source));
            let exec = |text: &str| scene.run(ordinary, &["exec", "--net", &net, "--shell", text]);
            for (way, expected) in [
                (format!("curl -sS {api}/hello"), [Some(true), None]),
                (format!("curl -sS -H 'Authorization: mine' {api}/hello"), [Some(true), None]),
                (format!("curl -sS {other}/hello"), [None, Some(false)]),
                (format!("curl -sSL {api}/away"), [Some(true), Some(false)]),
                (format!("curl -sSL --location-trusted {api}/away"), [Some(true), Some(false)]),
                (
                    format!(
                        "python3 -c 'import urllib.request as u; print(u.urlopen(\"{api}/hello\").read().decode())'"
                    ),
                    [Some(true), None],
                ),
                (
                    format!(
                        "node -e 'require(\"https\").get(\"{api}/hello\", r => r.pipe(process.stdout))'"
                    ),
                    [Some(true), None],
                ),
            ] {
                let output = exec(&way);
                assert!(printed(&output).contains("hello\n"), "{way}: {output:?}");
                assert_eq!(scene.told(), expected, "{way}");
            }
        }
        // Shown or not, what the credential is read from is not there.
        for source in &sources[..2] {
            scene.settings(&scene.credential(source));
            let mut options = vec!["exec", "--net", &net];
            if source.contains("file") {
                options.extend(["--show", "../token"]);
            }
            let output = scene.run(ordinary, &[&options[..], &["--", "sh", "search.sh"]].concat());
            let text = printed(&output);
            assert!(!text.contains(HUSH) && !text.contains("PRIVATE KEY-"), "{text}");
            assert!(text.contains("certificates.pem"), "{text}");
            // The init is a copy of the process that read it.
            for file in ["/proc/1/mem", "/proc/1/maps"] {
                assert!(text.contains(&format!("{file}: Permission denied")), "{text}");
            }
            let get = format!("curl -sSv {api}/hello");
            let json = with_json(&["exec", "--net", &net, "--shell", &get]);
            let document = document_of(&scene.run(ordinary, &json));
            assert!(!document.to_string().contains(HUSH), "{document:#}");
        }
    }
    assert!(!holds(&scene.place.home()), "a vault has it");
}

/// Without the wall: the test can tell, and whoever gives a command the variable has given it.
#[needs(UserNamespace)]
#[test]
fn whoever_gives_the_credential_away_has_given_it() {
    let scene = Scene::new();
    scene.settings(&scene.credential("{ env = \"API_TOKEN\" }"));
    let given = scene.run(false, &["exec", "-e", "API_TOKEN", "--", "env"]);
    assert!(printed(&given).contains(HUSH), "{given:?}");
    // LC_* is passed on, and is not what the credential is read from.
    let allow = format!("allow={}", scene.api.host());
    let same = scene.run(false, &["exec", "--net", &allow, "--", "env"]);
    assert!(!printed(&same).contains(HUSH), "{same:?}");
    scene.settings("");
    let without = scene.run(false, &["exec", "--net", &allow, "--", "env"]);
    assert!(printed(&without).contains(HUSH), "{without:?}");
}

#[needs(UserNamespace, "curl")]
#[test]
fn requests_are_held_to_methods_and_paths() {
    let scene = Scene::new();
    let plain = Registry::start_elsewhere("127.0.0.2");
    for registry in [&plain, &scene.api] {
        registry.put("/pub/a", "hello\n");
        registry.put("/private", "hello\n");
    }
    let table = |registry: &Registry| {
        format!("{{ host = \"{}\", methods = [\"GET\"], paths = [\"/pub/**\"] }}", registry.host())
    };
    let settings = format!(
        "[profile.web]\nnetwork = \"proxy\"\nallow = [{}, {}, {}]\n",
        table(&plain),
        table(&scene.api),
        table(&scene.other)
    );
    scene.settings(&format!("{settings}\n[tls]\ninspect = [\"127.0.0.2\"]\n"));
    for ordinary in [false, true] {
        for registry in [&plain, &scene.api] {
            let at = registry.address();
            let curl = |arguments: &str| {
                let text = format!("curl -sS {arguments}");
                let output = scene.run(ordinary, &["exec", "--sandbox", "web", "--shell", &text]);
                (printed(&output), registry.asked())
            };
            let (text, asked) = curl(&format!("{at}/pub/a"));
            assert!(text.contains("hello") && asked == 1, "{text}");
            for refused in [
                format!("{at}/private"),
                format!("-d x {at}/pub/a"),
                format!("--path-as-is {at}/pub/../private"),
                format!("{at}/pub/%2e%2e/private"),
            ] {
                let (text, asked) = curl(&refused);
                assert!(text.contains("offshoot: ") && asked == 0, "{refused}: {text}");
            }
        }
    }
    // What cannot be looked into cannot be held to a path, so it is not reached.
    let hidden = format!("curl -sS {}/pub/a", scene.other.address());
    let output = scene.run(false, &["exec", "--sandbox", "web", "--shell", &hidden]);
    assert!(!output.status.success() && scene.other.asked() == 0, "{output:?}");
}

/// A program without TLS can have the credential too: the proxy speaks TLS for it.
#[needs(UserNamespace, "curl")]
#[test]
fn plain_requests_go_on_as_https_with_the_credential() {
    let scene = Scene::new();
    let host = scene.api.host();
    let settings = format!(
        "[profile.web]\nnetwork = \"proxy\"\nallow = [{{ host = \"{host}\", upgrade = true }}]\n\
         [[credential]]\nhost = \"{host}\"\nscheme = \"Bearer\"\nvalue_from = {{ env = \"API_TOKEN\" }}\n"
    );
    scene.settings(&settings);
    let text = format!("curl -sS http://{host}/hello");
    for ordinary in [false, true] {
        let output = scene.run(ordinary, &["exec", "--sandbox", "web", "--shell", &text]);
        assert!(printed(&output).contains("hello"), "{output:?}");
        assert_eq!(scene.told(), [Some(true), None]);
    }
}

#[needs(UserNamespace)]
#[test]
fn settings_that_cannot_work_stop_commands() {
    let scene = Scene::new();
    let allow = format!("allow={}", scene.api.host());
    let host = scene.api.host();
    let inside = scene.place.project().join("README.md");
    for (settings, problem) in [
        (
            format!("[[credential]]\nhost = \"{host}\"\nvalue_from = {{ env = \"API_TOKEN\" }}"),
            "add the host to `inspect` of [tls]",
        ),
        (scene.credential("{ env = \"NONE\" }"), "the variable NONE is not set"),
        (scene.credential("{ file = \"/none\" }"), "cannot read /none"),
        (scene.credential("{ command = [\"false\"] }"), "false failed"),
        (
            scene.credential(&format!("{{ file = \"{}\" }}", inside.display())),
            "lies in the project",
        ),
        (
            scene.credential("{ env = \"API_TOKEN\" }\nheader = \"Host\""),
            "belongs to the connection",
        ),
        (scene.credential("\"hush\""), "sandbox.toml: line"),
        ("[tls]\ninspect = [\"https://a.test/\"]".to_owned(), "write only the host: a.test"),
    ] {
        scene.settings(&settings);
        let output = scene.shell(&allow, "true");
        assert!(!output.status.success(), "{settings}: {output:?}");
        assert!(printed(&output).contains(problem), "{settings}: {output:?}");
    }
    // A file with a mistake is told of whatever the command needs.
    scene.settings(
        "\n[[credential]]\nhost = \"localhost:bad:port\"\nvalue_from = { env = \"NONE\" }\n",
    );
    for command in [&["exec", "--", "true"][..], &["sandbox", "show"]] {
        let output = scene.place.run(command);
        assert!(!output.status.success(), "{output:?}");
        assert!(printed(&output).contains("sandbox.toml: line 2: [[credential]]: "), "{output:?}");
    }
    // A credential for a host that a command does not reach is not read.
    scene.settings(&scene.credential("{ env = \"NONE\" }"));
    assert!(scene.shell("allow=a.test", "true").status.success());
    // A project has none.
    scene.settings("");
    scene.place.write("offshoot-sandbox.toml", scene.credential("{ env = \"API_TOKEN\" }"));
    let output = scene.shell(&allow, "true");
    assert!(printed(&output).contains("unknown field"), "{output:?}");
}

#[test]
fn settings_are_shown_without_values() {
    let scene = Scene::new();
    let secret = format!("{{ command = [\"print-token\", \"{HUSH}\"] }}");
    scene.settings(&scene.credential(&secret));
    let text = printed(&scene.run(false, &["sandbox", "show"]));
    for part in [scene.api.host(), "Authorization", "command print-token", "inspected by"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = document_of(&scene.run(false, &with_json(&["sandbox", "show"])));
    assert_eq!(json["result"]["credentials"][0]["from"], "command print-token", "{json}");
    assert_eq!(json["result"]["inspected"][0], "127.0.0.2", "{json}");
    assert!(!text.contains(HUSH) && !json.to_string().contains(HUSH));
}
