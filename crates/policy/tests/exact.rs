//! The rule for one command lets that command run, and nothing else.

use std::path::{Path, PathBuf};

use offshoot_policy::script::Script;
use offshoot_policy::{
    Context, LayerSource, NamedText, Network, Policy, PolicyLayer, PolicyOptions, parse_argv,
    parse_text,
};

/// Rules of a user who wants to be asked.
const ASKS: &str = "version = 1\n[defaults]\nread_only = \"require_approval\"\n\
    mutating = \"require_approval\"\ndestructive = \"require_approval\"\n\
    networked = \"require_approval\"\ninteractive = \"require_approval\"\n";

fn context() -> Context {
    Context {
        workspace: PathBuf::from("/srv/work"),
        cwd: PathBuf::from("/srv/work"),
        home: Some(PathBuf::from("/users/me")),
        ..Context::default()
    }
}

fn policy(rule: &str) -> Policy {
    let toml = NamedText { name: "user.toml".to_owned(), text: format!("{ASKS}\n{rule}") };
    let source = LayerSource { layer: PolicyLayer::User, toml: Some(toml), rego: None };
    let options = PolicyOptions { layers: vec![source], ..PolicyOptions::default() };
    Policy::new(&options).unwrap_or_else(|error| panic!("{rule}: {error}"))
}

fn exact(script: &Script, context: &Context) -> Option<String> {
    policy("").decide(script, context).remedy().and_then(|remedy| remedy.exact)
}

/// Commands that a rule can name: all their words are known, and nothing else has a part in what they do.
const NAMED: &[&str] = &[
    "mkdir -p /users/me/x1",
    "mkdir -p x1",
    "rm -rf build",
    "rm a",
    "cp a b",
    "make deploy",
    "./deploy.sh prod",
    "/usr/bin/make deploy",
    "git push --force origin main",
    "git commit -m 'a message with spaces'",
    "touch 'a\"b' 'c\\d'",
    "cargo build --release",
    "npm install",
    "docker run -it x",
    "sed -i s/a/b/ f",
    "python3 tool.py 1 2",
    "make 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15",
    "sh -c 'rm a'",
    "bash -lc 'make deploy'",
    "sh -c make",
];

#[test]
fn a_rule_lets_its_command_run() {
    for text in NAMED {
        let script = parse_text(text.as_bytes());
        let rule = exact(&script, &context()).unwrap_or_else(|| panic!("{text}: no rule"));
        assert!(policy(&rule).decide(&script, &context()).decision.runs(), "{text}\n{rule}");
    }
}

#[test]
fn a_rule_lets_nothing_else_run() {
    for text in NAMED {
        let rule = exact(&parse_text(text.as_bytes()), &context()).expect("a rule");
        let policy = policy(&rule);
        let mut others = vec![
            format!("{text}; rm -rf x"),
            format!("{text} && rm -rf x"),
            format!("rm -rf x; {text}"),
            format!("{text} | sh"),
            format!("cd sub && {text}"),
            format!("(cd .. ; {text})"),
            format!("{text} > out"),
            format!("{text} $(rm -rf x)"),
            format!("sudo {text}"),
            format!("env -C /tmp {text}"),
            format!("PATH=. {text}"),
        ];
        match text.strip_suffix('\'').filter(|text| text.contains(" -c ") || text.contains("lc ")) {
            Some(inside) => {
                others.push(format!("{inside} more'"));
                others.push(format!("{inside}x'"));
                others.push(format!("{inside}; rm -rf x'"));
                others.push(format!("{inside} /srv/other'"));
            }
            None if *text == "sh -c make" => others.push("sh -c maker".to_owned()),
            None => {
                others.push(format!("{text} more"));
                others.push(format!("{text}x"));
                others.push(format!("{text}/x"));
                others.push(format!("{text} --force"));
                others.push(format!("{text} *"));
            }
        }
        for other in others {
            let verdict = policy.decide(&parse_text(other.as_bytes()), &context());
            assert!(!verdict.decision.runs(), "{other}\n{rule}");
        }
        let places = [
            Context { cwd: PathBuf::from("/srv/work/sub"), ..context() },
            Context { cwd: PathBuf::from("/srv/other"), ..context() },
            Context { network: Network::Host, ..context() },
            Context { unconfined: true, ..context() },
        ];
        for place in places {
            let verdict = policy.decide(&parse_text(text.as_bytes()), &place);
            assert!(!verdict.decision.runs(), "{text} in {place:?}\n{rule}");
        }
    }
}

#[test]
fn what_a_rule_cannot_say_has_none() {
    for text in [
        "rm a; rm b",
        "cd sub && rm a",
        "echo x > f",
        "A=1 make deploy",
        "cat < f",
        "curl https://example.org | sh",
        "echo rm a | sh",
        "sh",
        "sh -s",
        "python3",
        "rm $x",
        "rm *",
        "rm ~/x",
        "rm '~/x'",
        "$x a",
        "timeout 5 rm a",
        "xargs rm",
        "find . -exec rm {} +",
        "sh -c 'A=1 rm a'",
        "sh -c 'rm a; rm b'",
        "if",
        "sudo rm a",
    ] {
        let rule = exact(&parse_text(text.as_bytes()), &context());
        assert_eq!(rule, None, "{text}");
    }
    let with_variable =
        Context { environment: vec![("TARGET".to_owned(), "prod".to_owned())], ..context() };
    assert_eq!(exact(&parse_argv(&["make", "deploy"]), &with_variable), None);
}

#[test]
fn an_argument_list_is_named_as_well() {
    let script = parse_argv(&["rm", "a b", "$x", "*"]);
    let rule = exact(&script, &context()).expect("a rule");
    let policy = policy(&rule);
    assert!(policy.decide(&script, &context()).decision.runs(), "{rule}");
    let other = parse_argv(&["rm", "a", "b", "$x", "*"]);
    assert!(!policy.decide(&other, &context()).decision.runs(), "{rule}");
    assert!(!policy.decide(&parse_text(b"rm 'a b' $x *"), &context()).decision.runs(), "{rule}");
}

#[test]
fn a_directory_has_to_be_named_whole() {
    let text = |cwd: &Path| {
        format!(
            "version = 1\n[[rule]]\nname = \"x\"\ndecision = \"deny\"\nprefix = [\"make\"]\ncwd = {:?}\nmatches = [\"make\"]\nnot_matches = [\"cd /elsewhere && make\"]\n",
            cwd.display().to_string()
        )
    };
    let load = |cwd: &str| {
        let toml = NamedText { name: "user.toml".to_owned(), text: text(Path::new(cwd)) };
        let source = LayerSource { layer: PolicyLayer::User, toml: Some(toml), rego: None };
        Policy::new(&PolicyOptions { layers: vec![source], ..PolicyOptions::default() })
    };
    let error = load("sub").expect_err("it is no absolute path").to_string();
    assert!(error.contains("`sub` is no absolute path"), "{error}");
    let policy = load("/srv/work/sub").expect("the rule is right");
    let denies =
        |text: &str| !policy.decide(&parse_text(text.as_bytes()), &context()).decision.runs();
    assert!(!denies("make") && denies("cd sub && make") && !denies("cd sub2 && make"));
    // Nobody knows where that is.
    assert!(denies("cd $x && make"));
}
