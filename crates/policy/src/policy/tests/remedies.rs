//! What would have let a command run does let it run.

use super::*;

#[track_caller]
fn rule_for(text: &str, context: &Context) -> String {
    let verdict = decide_in(&[], text, context);
    verdict.remedy().expect("it does not run").rule.expect("there is a rule")
}

#[track_caller]
fn advice(layers: &[LayerSource], text: &str) -> String {
    let remedy = decide(layers, text).remedy().expect("it does not run");
    assert_eq!(remedy.rule, None);
    remedy.advice
}

#[test]
fn what_runs_needs_no_remedy() {
    assert_eq!(decide(&[], "rm a; ls").remedy(), None);
}

#[test]
fn a_remedy_lets_it_run() {
    for text in [
        "docker run -it x",
        "/usr/bin/docker run x",
        "./docker run x",
        "sudo rm a",
        "sudo env touch a",
        "env docker run x",
        "cat ~/.ssh/id_rsa",
        "rm /etc/passwd /etc/[a]*",
        "ls > /etc/passwd",
        "docker run x; sudo rm a > /etc/x; docker run y; cat ~/.ssh/a; cat ~/.ssh/b",
        "kubectl delete p",
    ] {
        let rule = rule_for(text, &online());
        check_in(&[user(&rule)], text, &online(), PolicyDecision::AllowWithCheckpoint);
    }
}

#[test]
fn a_remedy_is_as_small_as_it_can_be() {
    assert_eq!(
        rule_for("docker run -it x", &context()),
        "[[rule]]\nname = \"allow-docker-run-it-x\"\ndecision = \"allow_with_checkpoint\"\n\
         prefix = [\"docker\", \"run\", \"-it\", \"x\"]\nexact = true\n"
    );
    assert_eq!(
        rule_for("cat ~/.ssh/id_rsa", &context()),
        "[[rule]]\nname = \"allow-cat-ssh-id-rsa\"\ndecision = \"allow_with_checkpoint\"\n\
         prefix = [\"cat\", \"~/.ssh/id_rsa\"]\nexact = true\n"
    );
    let sudo = rule_for("sudo rm a b", &context());
    assert!(sudo.contains("prefix = [\"sudo\", \"rm\", \"a\", \"b\"]\nexact = true\n"), "{sudo}");
    let docker = [user(&rule_for("docker run x", &context()))];
    for other in ["docker run y", "docker run x y", "docker run", "sudo docker run x"] {
        check(&docker, other, PolicyDecision::RequireApproval);
    }
    let redirection = rule_for("ls > /etc/x[1]", &context());
    let layers = [user(&redirection)];
    check(&layers, "ls > /etc/x[1]", PolicyDecision::AllowWithCheckpoint);
    check(&layers, "ls > /etc/x1", PolicyDecision::RequireApproval);
}

/// What is no UTF-8 would be read as U+FFFD, and so would other words.
#[test]
fn a_word_that_is_not_utf8_has_no_rule() {
    let script = crate::parse_argv(&[&b"docker"[..], b"run", b"x\xff"]);
    let policy = Policy::new(&PolicyOptions::default()).unwrap();
    let remedy = policy.decide(&script, &context()).remedy().unwrap();
    assert_eq!((remedy.rule, remedy.exact), (None, None));
    assert!(remedy.advice.contains("not UTF-8"), "{}", remedy.advice);
}

#[test]
fn a_name_that_is_taken_is_not_taken_again() {
    let other = user(
        "[[rule]]\nname = \"allow-docker-run-x\"\ndecision = \"allow\"\nprefix = [\"docker\", \"run\", \"y\"]\n",
    );
    let verdict = decide(std::slice::from_ref(&other), "docker run x");
    let rule = verdict.remedy().and_then(|remedy| remedy.rule).unwrap_or_default();
    assert!(rule.contains("name = \"allow-docker-run-x-2\""), "{rule}");
    check(&[other, user(&rule)], "docker run x", PolicyDecision::AllowWithCheckpoint);
}

#[test]
fn what_no_rule_can_allow_is_told() {
    let deny = rule("deny", r#"prefix = ["docker"]"#);
    assert_eq!(
        advice(&[project(&deny)], "docker run x"),
        "no rule of the user can allow it: `deny-prefixdocker` in project.toml, a rule of the project, says so"
    );
    assert_eq!(
        advice(&[user(&deny)], "docker run x"),
        "`deny-prefixdocker` in user.toml says so, and the strictest rule of a layer counts: change it there"
    );
    let defaults = request("[defaults]\nread_only = \"deny\"\n");
    assert!(advice(&[defaults], "ls").contains("`defaults.read_only` in request.toml"));
    assert!(advice(&[], "LD_PRELOAD=x ls").contains("a person has to approve it"));
    assert!(advice(&[], "docker$x run /etc/.ssh/a; sudo $x").contains("not known beforehand"));
}
