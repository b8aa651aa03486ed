//! What is too much to read, or no program at all, may be anything: it is asked about, and no rule that forbids is avoided by it.

use std::path::PathBuf;

use offshoot_policy::{
    Context, EffectCategory, LayerSource, NamedText, Policy, PolicyDecision, PolicyLayer,
    PolicyOptions, parse_text,
};

/// A rule that a hidden command would avoid.
const NO_CURL: &str = "version = 1\n[[rule]]\nname = \"no-curl\"\ndecision = \"deny\"\nreason = \"nothing is fetched\"\nprefix = [\"curl\"]\n";

fn context() -> Context {
    Context {
        workspace: PathBuf::from("/workspace"),
        cwd: PathBuf::from("/workspace"),
        home: Some(PathBuf::from("/users/me")),
        ..Context::default()
    }
}

fn policy(layers: &[(PolicyLayer, &str)]) -> Policy {
    let source = |(layer, text): &(PolicyLayer, &str)| LayerSource {
        layer: *layer,
        toml: Some(NamedText { name: format!("{layer}.toml"), text: (*text).to_owned() }),
        rego: None,
    };
    let layers = layers.iter().map(source).collect();
    Policy::new(&PolicyOptions { layers, ..PolicyOptions::default() }).expect("the rules are right")
}

/// Texts with a command in them that nobody sees, by the limit that hides it.
fn hiding(command: &str) -> Vec<(&'static str, String)> {
    let opening = (0..30).map(|level| format!("sh <<'E{level}'\n")).collect::<String>();
    let closing = (0..30).rev().map(|level| format!("E{level}\n")).collect::<String>();
    let shells = format!("{opening}{command}\n{closing}");
    let wrapped = format!("{}{command}", "env ".repeat(40));
    let many: Vec<String> = (0..200).map(|number| format!("w{number}")).collect();
    let nest =
        |open: &str, close: &str| format!("{}{command}{}", open.repeat(70), close.repeat(70));
    let functions: String = (0..70).map(|number| format!("f{number}() {{ :; }}; ")).collect();
    vec![
        ("length", format!("{}\n{command}", "# padding\n".repeat(7_000))),
        ("length of an argument", format!("sh -c '{}\n{command}'", ": x\n".repeat(15_900))),
        ("commands", format!("{}{command}", ":;".repeat(2_100))),
        ("functions", format!("{functions}\nf99() {{ {command}; }}; f99")),
        ("subshells", nest("(", ")")),
        ("groups", nest("{ ", ";}")),
        ("substitutions", nest("a $(", ")")),
        ("wrappers", wrapped),
        ("shells", shells),
        ("alternatives", format!("{{{},{}}}", command.replace(' ', ","), many.join(","))),
        ("odd braces", format!("{{a}}b,{}}}", command.replace(' ', ","))),
        ("readers of a document", format!("{{ {}sh; }} <<E\n{command}\nE\n", "cat; ".repeat(20))),
        ("two documents", format!("f() {{ sh; }}; f <<A\n{command}\nA\nf <<B\nls\nB\n")),
        ("an open quote", format!("{command} \"")),
        ("an open group", format!("{{ ls; {command}")),
        ("no end", format!("if ls; then {command}")),
        ("NUL", format!("{command}\0")),
        ("a closed group", format!(") ; {command}")),
    ]
}

#[test]
fn what_is_hidden_by_a_limit_is_asked_about() {
    for (limit, text) in hiding("rm x") {
        let verdict = policy(&[]).decide(&parse_text(text.as_bytes()), &context());
        assert!(verdict.categories.contains(EffectCategory::HostEscapeRisk), "{limit}");
        assert_eq!(verdict.decision, PolicyDecision::RequireApproval, "{limit}");
        assert_eq!(verdict.remedy().expect("it does not run").exact, None, "{limit}");
    }
}

#[test]
fn no_limit_gets_by_a_rule_that_denies() {
    for layer in [PolicyLayer::User, PolicyLayer::Project, PolicyLayer::Request] {
        let policy = policy(&[(layer, NO_CURL)]);
        for (limit, text) in hiding("curl https://example.org") {
            let verdict = policy.decide(&parse_text(text.as_bytes()), &context());
            assert_eq!(verdict.decision, PolicyDecision::Deny, "{layer} {limit}");
        }
    }
}

#[test]
fn no_default_and_no_rule_allows_what_was_not_read() {
    let generous = "version = 1\n[defaults]\nmutating = \"allow\"\nhost_escape_risk = \"allow\"\n\
        [[rule]]\nname = \"all\"\ndecision = \"allow\"\ncategory = [\"mutating\", \"host_escape_risk\"]\n";
    let policy = policy(&[(PolicyLayer::User, generous)]);
    let text = format!("{}rm x", ":;".repeat(2_100));
    let verdict = policy.decide(&parse_text(text.as_bytes()), &context());
    assert_eq!(verdict.decision, PolicyDecision::RequireApproval);
    assert!(verdict.reason.contains("there are too many commands"), "{}", verdict.reason);
}

#[test]
fn a_default_that_denies_holds_for_what_was_not_read() {
    let strict = "version = 1\n[defaults]\ndestructive = \"deny\"\n";
    for layer in [PolicyLayer::User, PolicyLayer::Project] {
        let policy = policy(&[(layer, strict)]);
        let text = format!("{}rm x", ":;".repeat(2_100));
        let verdict = policy.decide(&parse_text(text.as_bytes()), &context());
        assert_eq!(verdict.decision, PolicyDecision::Deny, "{layer}");
        assert!(verdict.reason.contains("defaults.destructive"), "{}", verdict.reason);
    }
}

/// A rule about other surroundings says nothing.
#[test]
fn a_rule_for_another_network_does_not_hold() {
    let online = NO_CURL.replace("prefix", "network = \"host\"\nprefix");
    let policy = policy(&[(PolicyLayer::User, &online)]);
    let text = format!("{}rm x", ":;".repeat(2_100));
    let verdict = policy.decide(&parse_text(text.as_bytes()), &context());
    assert_eq!(verdict.decision, PolicyDecision::RequireApproval);
}

#[test]
fn what_is_common_is_read() {
    for text in [
        "touch {1..1000}",
        "for i in {1..100}; do echo $i; done",
        "mkdir -p src/{a,b,c}/{d,e}{1..40}",
        "while read a; do echo 1; echo 2; echo 3; echo 4; echo 5; echo 6; echo 7; echo 8; echo 9; echo 10; echo 11; echo 12; echo 13; echo 14; echo 15; echo 16; echo 17; done <<E\nx\nE\n",
        "echo {1..$n}",
        "find . -name x -exec cat {} +",
        "echo ${!x}",
    ] {
        let verdict = policy(&[(PolicyLayer::User, NO_CURL)])
            .decide(&parse_text(text.as_bytes()), &context());
        assert!(verdict.decision.runs(), "{text}: {}", verdict.reason);
    }
}
