use std::sync::LazyLock;
use std::time::Duration;

use offshoot_policy::PolicyOptions;
use offshoot_profile::Profiles;
use offshoot_protocol::{CheckpointMode, DriverChoice, Network};
use offshoot_vault::Actor;

use super::super::request::{ApprovalWait, ExecutionTimeout};
use super::*;

const ID: Id = Id::from_bytes([1; 16]);

fn request() -> ExecutionRequest {
    ExecutionRequest {
        id: ID,
        command: CommandLine::Shell("ls".into()),
        cwd: None,
        environment: vec![("A".into(), "b".into())],
        set_by_caller: Vec::new(),
        stdin: Stdin::Empty,
        has_stdin: false,
        terminal: None,
        mark_prompt: false,
        session: false,
        joins: false,
        record: true,
        timeout: ExecutionTimeout::None,
        read_only: true,
        place: ExecutionWorkspace::Workspace("w".to_owned()),
        checkpoint: CheckpointMode::Auto,
        network: Some(Network::None),
        allow: Vec::new(),
        sandbox: None,
        preset: None,
        show: Vec::new(),
        driver: DriverChoice::default(),
        verify: false,
        patch: false,
        wait: None,
        keep: false,
        wait_approval: ApprovalWait::Forever,
        actor: Actor::user("tester"),
        call: None,
        cancel: None,
    }
}

/// The profile that everybody has.
fn usual() -> &'static Profile {
    static USUAL: LazyLock<Profile> =
        LazyLock::new(|| Profiles::load(None).unwrap().usual().clone());
    &USUAL
}

fn surroundings<'a>(policy: &'a Policy, folders: &'a [PathBuf]) -> Surroundings<'a> {
    Surroundings {
        vault: ID,
        policy,
        workspace: Path::new("/project"),
        folders,
        cwd: Path::new("/project"),
        user_home: Some(Path::new("/user")),
        profile: usual(),
    }
}

type Alteration<T> = (&'static str, fn(&mut T));

#[test]
fn a_clearance_is_for_one_request() {
    let policy = Policy::new(&PolicyOptions::default()).unwrap();
    let now = surroundings(&policy, &[]);
    let clearance = Clearance::ask(&request(), &now).unwrap();
    clearance.check(&request(), &now).unwrap();
    let alterations: [Alteration<ExecutionRequest>; 32] = [
        ("id", |request| request.id = Id::from_bytes([2; 16])),
        ("command", |request| request.command = CommandLine::Shell("ls -l".into())),
        ("no shell", |request| request.command = CommandLine::Argv(vec!["ls".into()])),
        ("cwd", |request| request.cwd = Some("src".into())),
        ("empty cwd", |request| request.cwd = Some("".into())),
        ("value", |request| request.environment[0].1 = "c".into()),
        ("moved", |request| request.environment[0] = ("Ab".into(), "".into())),
        ("variable", |request| request.environment.push(("B".into(), "".into()))),
        ("preset", |request| request.preset = Some("claude".to_owned())),
        ("set", |request| request.set_by_caller.push("A".into())),
        ("input", |request| request.stdin = Stdin::Bytes(Vec::new())),
        ("has input", |request| request.has_stdin = true),
        ("prompt", |request| request.mark_prompt = true),
        ("session", |request| request.session = true),
        ("joins", |request| request.joins = true),
        ("record", |request| request.record = false),
        ("timeout", |request| request.timeout = ExecutionTimeout::Millis(1)),
        ("writes", |request| request.read_only = false),
        ("place", |request| request.place = ExecutionWorkspace::Workspace("v".to_owned())),
        ("fork", |request| request.place = ExecutionWorkspace::Fork { from: None, lifetime: None }),
        ("fork of", |request| {
            request.place = ExecutionWorkspace::Fork { from: Some("w".to_owned()), lifetime: None };
        }),
        ("checkpoint", |request| request.checkpoint = CheckpointMode::Never),
        ("network", |request| request.network = Some(Network::Host)),
        ("allow", |request| request.allow.push("example.com".to_owned())),
        ("sandbox", |request| request.sandbox = Some("strict".to_owned())),
        ("show", |request| request.show.push("/data".into())),
        ("driver", |request| request.driver = DriverChoice::Copy),
        ("verify", |request| request.verify = true),
        ("patch", |request| request.patch = true),
        ("wait", |request| request.wait = Some(Duration::ZERO)),
        ("keep", |request| request.keep = true),
        ("actor", |request| request.actor = Actor::user("other")),
    ];
    let mut seen = std::collections::HashSet::from([clearance.digest]);
    for (what, alter) in alterations {
        let mut altered = request();
        alter(&mut altered);
        let checked = clearance.check(&altered, &now);
        assert!(matches!(checked, Err(ServiceError::StaleClearance)), "{what}");
        let context = now.context(&altered);
        assert!(seen.insert(digest(&altered, &now, &context)), "{what}");
    }
}

#[test]
fn a_clearance_is_for_one_place_and_one_set_of_rules() {
    let policy = Policy::new(&PolicyOptions::default()).unwrap();
    let timeout = PolicyOptions { rego_timeout: Duration::ZERO, ..PolicyOptions::default() };
    let other = Policy::new(&timeout).unwrap();
    let folders = ["/docs".into()];
    let clearance = Clearance::ask(&request(), &surroundings(&policy, &[])).unwrap();
    let elsewhere = Path::new("/elsewhere");
    let strict = Profiles::load(None).unwrap().get("strict").unwrap().clone();
    let now = || surroundings(&policy, &[]);
    for (what, surroundings) in [
        ("vault", Surroundings { vault: Id::from_bytes([2; 16]), ..now() }),
        ("rules", surroundings(&other, &[])),
        ("workspace", Surroundings { workspace: elsewhere, ..now() }),
        ("folders", surroundings(&policy, &folders)),
        ("cwd", Surroundings { cwd: elsewhere, ..now() }),
        ("home", Surroundings { user_home: None, ..now() }),
        ("profile", Surroundings { profile: &strict, ..now() }),
    ] {
        let checked = clearance.check(&request(), &surroundings);
        assert!(matches!(checked, Err(ServiceError::StaleClearance)), "{what}");
    }
}

#[test]
fn what_may_not_run_has_no_clearance() {
    let policy = Policy::new(&PolicyOptions::default()).unwrap();
    let command = CommandLine::Shell("sudo reboot".into());
    let asked =
        Clearance::ask(&ExecutionRequest { command, ..request() }, &surroundings(&policy, &[]));
    assert!(asked.is_err_and(|verdict| !verdict.decision.runs()));
}
