//! What rules allow, and how they are read.

use super::*;

fn rules(text: &str) -> NetRules {
    NetRules::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn allows(text: &str, host: &str, port: u16) -> bool {
    rules(text).matching(&Host::parse(host).unwrap(), port).next().is_some()
}

fn reaches(text: &str, host: &str, address: &str, port: u16) -> bool {
    rules(text).may_reach(&Host::parse(host).unwrap(), address.parse().unwrap(), port).is_ok()
}

#[test]
fn names_are_compared_whole() {
    assert!(allows("example.com", "EXAMPLE.com.", 443));
    assert!(allows("Example.Com.", "example.com", 80));
    for other in
        ["a.example.com", "example.co", "xample.com", "example.com.evil.test", "evilexample.com"]
    {
        assert!(!allows("example.com", other, 443), "{other}");
    }
    assert!(!allows("example.com", "example.com", 8080));
    assert!(allows("example.com:8080", "example.com", 8080));
    assert!(!allows("example.com:8080", "example.com", 443));
}

#[test]
fn wildcards_mean_names_below_alone() {
    assert!(allows("*.example.com", "a.example.com", 443));
    assert!(allows("*.example.com:22", "a.b.example.com", 22));
    for other in ["example.com", "aexample.com", "a.example.com.test", "example.com.a"] {
        assert!(!allows("*.example.com", other, 443), "{other}");
    }
}

#[test]
fn addresses_are_allowed_as_addresses_alone() {
    assert!(allows("10.0.0.0/8:5432", "10.1.2.3", 5432));
    assert!(allows("10.0.0.0/8:5432", "::ffff:10.1.2.3", 5432));
    assert!(allows("[fd00::/8]:5432", "fd00::1", 5432));
    assert!(allows("fd00::/8", "fd00::1", 443));
    assert!(allows("[::1]:80", "::1", 80));
    assert!(allows("::1", "::1", 80));
    assert!(!allows("example.com", "93.184.216.34", 443));
    assert!(!allows("10.0.0.0/8", "ten.example.com", 443));
}

#[test]
fn names_lead_to_special_addresses_only_if_those_are_listed() {
    assert!(reaches("a.test", "a.test", "93.184.216.34", 443));
    assert!(!reaches("a.test", "a.test", "10.0.0.1", 443));
    assert!(!reaches("a.test", "a.test", "127.0.0.1", 443));
    assert!(!reaches("a.test", "a.test", "::ffff:127.0.0.1", 443));
    assert!(reaches("a.test,10.0.0.0/16", "a.test", "10.0.0.1", 443));
    assert!(!reaches("a.test,10.0.0.0/16:80", "a.test", "10.0.0.1", 443));
    assert!(!reaches("a.test,10.0.0.0/16", "a.test", "10.1.0.1", 443));
    // Who lists the whole world does not mean the machine itself.
    for all in ["0.0.0.0/0", "128.0.0.0/1", "169.254.0.0/16"] {
        let reached = reaches(all, "169.254.169.254", "169.254.169.254", 80);
        assert!(!reached, "{all}");
    }
    assert!(reaches("169.254.169.254:80", "169.254.169.254", "169.254.169.254", 80));
    assert!(!reaches("::/0", "::1", "::1", 443));
    assert!(!reaches("0.0.0.0/0", "127.0.0.1", "127.0.0.1", 80));
}

#[test]
fn only_the_name_of_this_machine_leads_to_it() {
    assert!(reaches("localhost:8080", "localhost", "127.0.0.1", 8080));
    assert!(reaches("localhost:8080", "localhost", "::1", 8080));
    assert!(!reaches("localhost:8080", "localhost", "10.0.0.1", 8080));
    assert!(!reaches("localhost:8080,a.test:8080", "a.test", "127.0.0.1", 8080));
    assert!(reaches("127.0.0.1:8080", "127.0.0.1", "127.0.0.1", 8080));
    assert!(!reaches("127.0.0.1:8080", "127.0.0.1", "127.0.0.2", 8080));
}

#[test]
fn mistakes_say_what_would_be_right() {
    for (text, part) in [
        ("https://example.com/a", "write only the host: example.com"),
        ("*", "--net host"),
        ("example.com/a", "it has a path"),
        ("example.com:http", "example.com:443"),
        ("example.com:0", "port"),
        ("example.com:65536", "port"),
        ("a.*.com", "*.example.com"),
        ("*example.com", "*.example.com"),
        ("127.1", "four decimal numbers"),
        ("0x7f000001", "four decimal numbers"),
        ("2130706433", "four decimal numbers"),
        ("10.0.0.1/8", "bits behind"),
        ("10.0.0.0/40", "too large"),
        ("bücher.example", "xn--"),
        ("a_b.example", "letters, digits"),
        ("*.10.0.0.1", "no names below"),
        ("[::1", "brackets"),
        (":443", "empty"),
    ] {
        let error = NetRules::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
        assert!(error.starts_with("cannot allow \""), "{error}");
    }
}

#[test]
fn lists_have_commas_and_groups() {
    assert!(rules("").is_empty());
    assert!(rules(" , ,").is_empty());
    let list = rules("registries, github ,a.test:22");
    assert!(list.iter().count() > 20);
    assert_eq!(list.ports(), [22, 80, 443]);
    assert!(allows("registries", "index.crates.io", 443));
    assert!(allows("github", "github.com", 22));
    assert!(!allows("registries", "github.com", 443));
    // No host has the spelling of a group: read again, it would allow more.
    for spelled in ["REGISTRIES", "registries.", "Registries."] {
        assert_eq!(rules(spelled), rules("registries"), "{spelled}");
    }
}

#[test]
fn every_group_can_be_used_and_says_what_it_is() {
    assert!(groups().len() >= 2);
    for group in groups() {
        assert!(!group.about.is_empty() && !group.hosts.is_empty(), "{}", group.name);
        let all = rules(&group.name);
        assert_eq!(all.iter().count(), group.hosts.len(), "{}", group.name);
        let no_address = |rule: &NetRule| !matches!(rule.target, Target::Addresses(_));
        assert!(all.iter().all(no_address), "{}", group.name);
    }
}

#[test]
fn rules_of_settings_can_say_more() {
    #[derive(Deserialize)]
    struct Settings {
        allow: NetRules,
    }
    let text = r#"allow = ["a.test", { host = "b.test:80", methods = ["GET", "HEAD"], paths = ["/x/**"], upgrade = true }]"#;
    let settings: Settings = toml::from_str(text).unwrap();
    let of = |method, path| {
        let host = Host::parse("b.test").unwrap();
        settings.allow.matching(&host, 80).any(|rule| rule.allows_request(method, path))
    };
    assert!(of("GET", "/x/1"));
    assert!(!of("POST", "/x/1"));
    assert!(!of("GET", "/y"));
    assert!(!of("GET", "/x/../y"));
    assert!(!of("get", "/x/1"));
    for wrong in [
        r#"allow = [{ host = "b.test", method = ["GET"] }]"#,
        r#"allow = [{ host = "b.test", methods = ["get"] }]"#,
        r#"allow = [{ host = "b.test", paths = ["x"] }]"#,
        r#"allow = [{ methods = ["GET"] }]"#,
        r#"allow = ["127.1"]"#,
    ] {
        assert!(toml::from_str::<Settings>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    let text = r#"["a.test","*.b.test:22","10.0.0.0/8:5432","[fd00::/8]:80","::1",{"host":"c.test","methods":["GET"],"paths":["/a/*"],"upgrade":true}]"#;
    let rules: NetRules = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&rules).unwrap(), text);
    assert_eq!(
        serde_json::from_str::<NetRules>(&serde_json::to_string(&rules).unwrap()).unwrap(),
        rules
    );
}
