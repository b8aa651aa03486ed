//! Commands that want a network and have none.

use std::fs;

use offshoot_needs::needs;
use offshoot_tests::product::{Place, document_of, with_json};
use offshoot_tests::user::{User, give_away};
use serde_json::{Value, json};

use crate::transcript::demo_vault;

const NEEDS: &str =
    "needs the network, which is off: add --net allow=HOST, or --net host for all of the network";
const TRIED: &str = "the command tried to reach the network, which is off: add --net allow=HOST";

/// A place with a program that reaches for what its arguments say.
fn place() -> Place {
    let place = demo_vault();
    place.write("reach.py", REACH);
    place
}

const REACH: &str = "
import socket, sys
kind, address = sys.argv[1:]
family = socket.AF_INET6 if ':' in address else socket.AF_INET
if kind == 'udp':
    socket.socket(family, socket.SOCK_DGRAM).sendto(b'x', (address, 53))
elif kind == 'name':
    socket.getaddrinfo(address, 80)
else:
    socket.socket(family, socket.SOCK_STREAM).connect((address, 9))
";

fn attempted(place: &Place, options: &[&str], arguments: &[&str]) -> Value {
    let command = [&["exec"], options, &["--", "python3", "reach.py"], arguments].concat();
    document_of(&place.run(with_json(&command)))["result"]["network"].clone()
}

fn errors(place: &Place, arguments: &[&str]) -> String {
    String::from_utf8(place.run(arguments).stderr).unwrap()
}

#[needs(UserNamespace, "python3")]
#[test]
fn attempts_to_reach_more_than_the_loopback_are_counted() {
    let place = place();
    // Addresses for documentation: nobody has them.
    for arguments in
        [["tcp", "192.0.2.1"], ["udp", "192.0.2.1"], ["tcp", "2001:db8::1"], ["udp", "2001:db8::1"]]
    {
        let network = attempted(&place, &[], &arguments);
        assert_eq!(network["mode"], "none");
        assert!(network["attempted"].as_u64().unwrap() > 0, "{arguments:?}: {network}");
    }
    for arguments in [["tcp", "127.0.0.1"], ["tcp", "::1"]] {
        let network = attempted(&place, &[], &arguments);
        assert_eq!(network, json!({"mode": "none", "attempted": 0}), "{arguments:?}");
    }
    let network = attempted(&place, &["--net", "host"], &["tcp", "127.0.0.1"]);
    assert_eq!(network, json!({"mode": "host", "attempted": 0}));
}

#[needs(UserNamespace, "python3")]
#[test]
fn a_name_that_cannot_be_looked_up_is_an_attempt() {
    let place = place();
    let network = attempted(&place, &[], &["name", "registry.example"]);
    assert!(network["attempted"].as_u64().unwrap() > 0, "{network}");
}

#[needs(UserNamespace, "python3")]
#[test]
fn who_failed_for_want_of_a_network_hears_of_the_flag() {
    let place = place();
    let reach = ["exec", "--", "python3", "reach.py", "tcp", "192.0.2.1"];
    assert!(errors(&place, &reach).contains(TRIED), "{}", errors(&place, &reach));
    // Who went on without it, and who tried something else, does not.
    let text = "python3 reach.py tcp 192.0.2.1 2> /dev/null || true";
    assert!(!errors(&place, &["exec", "--shell", text]).contains(TRIED));
    assert!(!errors(&place, &["exec", "--shell", "exit 1"]).contains(TRIED));
    let user = User::new();
    give_away(place.path());
    let output = user.run(&place, &reach);
    assert!(String::from_utf8_lossy(&output.stderr).contains(TRIED), "{output:?}");
}

#[needs(UserNamespace, "python3")]
#[test]
fn who_is_known_to_need_a_network_hears_of_it_before() {
    let place = place();
    let fetch = ["exec", "--", "git", "fetch"];
    let said = errors(&place, &fetch);
    assert!(said.starts_with(&format!("git fetch {NEEDS}\n")), "{said}");
    let text = ["exec", "--shell", "cd src && /usr/bin/git fetch origin"];
    assert!(errors(&place, &text).contains(&format!("git fetch {NEEDS}")));
    for quiet in [
        &["exec", "--net", "host", "--", "git", "fetch"][..],
        &["exec", "-c", "exec.net=host", "--", "git", "fetch"],
        &["exec", "-q", "--", "git", "fetch"],
        &["exec", "--", "git", "status"],
        &["exec", "--", "npm", "install", "--offline"],
        &["exec", "--", "npm", "install", "--prefer-offline"],
        &["exec", "--", "pip", "install", "--no-index", "x"],
        &["exec", "--", "pip", "install", "--no-build-isolation", "-e", "."],
    ] {
        let said = errors(&place, quiet);
        assert!(!said.contains("needs the network"), "{quiet:?}: {said}");
    }
    let json = place.run(with_json(&fetch));
    assert!(json.stderr.is_empty(), "{json:?}");
}

/// The narrowest option comes first, and none that would be refused.
#[needs(UserNamespace)]
#[test]
fn the_narrowest_network_is_named() {
    let place = place();
    for (command, option) in [
        (&["curl", "-s", "https://example.com/x"][..], "allow=example.com"),
        (&["curl", "http://example.com:8080/"], "allow=example.com:8080"),
        (&["git", "clone", "git@github.com:a/b.git"], "allow=github.com:22"),
        (&["npm", "install"], "allow=registries"),
        (&["pip", "install", "git+https://github.com/a/b"], "allow=registries,github.com"),
    ] {
        let said = errors(&place, &[&["exec", "--"], command].concat());
        let expected = format!("needs the network, which is off: add --net {option}\n");
        assert!(said.contains(&expected), "{said}");
        let check = [&["policy", "check", "--net", option, "--"], command].concat();
        assert_ne!(place.run(check).status.code(), Some(2), "{option}");
    }
    let said = errors(&place, &["exec", "--sandbox", "strict", "--", "git", "fetch"]);
    assert!(!said.contains("--net"), "{said}");
    place.write("offshoot-sandbox.toml", "[narrow]\nnetwork = \"none\"\n");
    let said = errors(&place, &["exec", "--", "git", "fetch"]);
    assert!(!said.contains("--net"), "{said}");
}

/// Values of the option that are near to one that works.
#[test]
fn slips_are_answered() {
    let place = place();
    for (value, meant) in [
        ("allow=githb", "did you mean github?"),
        ("allow=registrys", "did you mean registries?"),
        ("example.com", "did you mean allow=example.com?"),
    ] {
        for command in [&["exec"][..], &["policy", "check"]] {
            let said = errors(&place, &[command, &["--net", value, "--", "true"]].concat());
            assert!(said.contains(meant), "{value}: {said}");
        }
    }
}

#[needs(UserNamespace, "python3")]
#[test]
fn what_was_allowed_for_a_project_holds_there_alone() {
    let place = place();
    let config = place.path().join(".config/offshoot");
    fs::create_dir_all(&config).unwrap();
    let project = place.project().canonicalize().unwrap();
    let write = |text: String| fs::write(config.join("projects.toml"), text).unwrap();
    let mode = |options: &[&str]| {
        attempted(&place, options, &["tcp", "127.0.0.1"])["mode"].as_str().unwrap().to_owned()
    };
    write(format!("[\"{}\"]\nnet = \"host\"\n", project.display()));
    assert_eq!(mode(&[]), "host");
    assert_eq!(mode(&["--net", "none"]), "none");
    write(format!("[\"{}/src\"]\nnet = \"host\"\n", project.display()));
    assert_eq!(mode(&[]), "none");
    // A project decides nothing about itself.
    place.write("offshoot.toml", "[exec]\nnet = \"host\"\n");
    assert_eq!(mode(&[]), "none");
    let told = place.run(["config", "show"]).stderr;
    assert!(String::from_utf8_lossy(&told).contains("exec.net is ignored"), "{told:?}");
    fs::remove_file(place.project().join("offshoot.toml")).unwrap();
    // Nor by a configuration of the user's that lies in it.
    let inside = place.project().join("config/offshoot");
    fs::create_dir_all(&inside).unwrap();
    let text = format!("[\"{}\"]\nnet = \"host\"\n", project.display());
    fs::write(inside.join("projects.toml"), text).unwrap();
    let mut command = place.command(["exec", "--json", "--", "true"]);
    let output = command.env("XDG_CONFIG_HOME", place.project().join("config")).output().unwrap();
    assert_eq!(document_of(&output)["result"]["network"]["mode"], "none");
}

/// Tools do not try again for a minute what cannot work.
#[needs(UserNamespace)]
#[test]
fn tools_without_a_network_give_up_at_once() {
    let place = place();
    let said = |options: &[&str]| {
        let echo = "echo $npm_config_fetch_retries,$CARGO_NET_RETRY,$PIP_RETRIES";
        place.ok([&["exec"], options, &["--", "sh", "-c", echo]].concat())
    };
    assert_eq!(said(&[]), "0,0,0\n");
    assert_eq!(said(&["-e", "PIP_RETRIES=3"]), "0,0,3\n");
    assert_eq!(said(&["--net", "host"]), ",,\n");
}

/// By the proxy they do try again, and not for more than a minute.
#[needs(UserNamespace)]
#[test]
fn tools_with_a_proxy_try_again_soon() {
    let place = place();
    let said = |options: &[&str]| {
        let echo = "echo $npm_config_fetch_retries,$npm_config_fetch_retry_mintimeout,$npm_config_fetch_retry_maxtimeout";
        place.ok([&["exec"], options, &["--", "sh", "-c", echo]].concat())
    };
    let net = ["--net", "allow=example.com"];
    assert_eq!(said(&net), ",500,2000\n");
    let own = ["-e", "npm_config_fetch_retry_mintimeout=9"];
    assert_eq!(said(&[net, own].concat()), ",9,2000\n");
    assert_eq!(said(&["--net", "host"]), ",,\n");
}
