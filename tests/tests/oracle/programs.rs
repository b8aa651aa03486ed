//! Programs from seeds, for each user.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use offshoot_needs::needs;
use offshoot_tests::oracle::generate::{VERBS, program};
use offshoot_tests::oracle::step::{Step, escape, to_text};
use offshoot_tests::oracle::tree::Plan;
use offshoot_tests::rng::{Rng, SEED_VARIABLE, seed_from_env_or};
use offshoot_tests::scan::{Kind, Scan};
use offshoot_tests::tier::{CASES_VARIABLE, Tier, cases};

use crate::case::{Case, Count, Failure, Native, Setting, play};
use crate::product::{Product, Real, Simple};
use crate::shrink::shrink;
use crate::user::{NOBODY, ORDINARY, ROOT, Tools, User};

/// Makes a product for a tree.
type Make<'a> = &'a (dyn Fn(&Plan) -> Result<Box<dyn Product + 'a>, String> + Sync);

/// Runs cases, each with a seed of its own that follows from that of the run, and fails with the first that fails.
fn run_all(name: &str, count: u64, setting: Setting, make: Make) {
    let seed = seed_from_env_or(1);
    println!("{name}: {count} trees from {SEED_VARIABLE}={seed}");
    let (start, next, total) = (Instant::now(), AtomicU64::new(0), Mutex::new(Count::default()));
    let failures: Mutex<Vec<(u64, Failure)>> = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while failures.lock().unwrap().is_empty() {
                    let number = next.fetch_add(1, Ordering::SeqCst);
                    if number >= count {
                        break;
                    }
                    let seed = seed.wrapping_add(number);
                    match run_one(seed, setting, make) {
                        Ok(count) => total.lock().unwrap().add(count),
                        Err(failure) => failures.lock().unwrap().push((seed, failure)),
                    }
                }
            });
        }
    });
    let Count { programs, steps, done, changes } = total.into_inner().unwrap();
    let time = start.elapsed().as_secs_f32();
    println!(
        "{name}: {programs} programs, {done} of {steps} steps done, {changes} changes, {time:.1} s"
    );
    if let Some((seed, failure)) = failures.into_inner().unwrap().into_iter().next() {
        let plan = Case::new(seed, setting.user).plan;
        let small = shrink(failure, |programs| replay(&plan, programs, setting, make));
        panic!(
            "{name}: {small}the tree:\n{plan}\nto repeat: {SEED_VARIABLE}={seed} {CASES_VARIABLE}=1 \
             cargo test -p offshoot-tests --test oracle {name}"
        );
    }
}

fn run_one(seed: u64, setting: Setting, make: Make) -> Result<Count, Failure> {
    let case = Case::new(seed, setting.user);
    case.run(setting, &mut *start(&case.plan, make)?)
}

/// The same programs on a new copy of the tree.
fn replay(
    plan: &Plan,
    programs: &[Vec<Step>],
    setting: Setting,
    make: Make,
) -> Result<(), Failure> {
    let mut left = programs.iter().cloned();
    play(plan, setting, &mut *start(plan, make)?, "again", |_| left.next()).map(drop)
}

fn start<'a>(plan: &Plan, make: Make<'a>) -> Result<Box<dyn Product + 'a>, Failure> {
    make(plan).map_err(|why| Failure { problems: vec![why], programs: Vec::new() })
}

/// About four programs to a tree.
fn run_real(name: &str, user: User) {
    let tools = Tools::new();
    run_with(name, cases(36, 1000), Setting::new(&tools, user));
}

fn run_with(name: &str, count: u64, setting: Setting) {
    run_all(name, count, setting, &|plan| {
        Ok(Box::new(Real::new(plan, setting)?) as Box<dyn Product>)
    });
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn programs_of_root() {
    run_real("programs_of_root", ROOT);
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn programs_of_an_ordinary_user() {
    run_real("programs_of_an_ordinary_user", ORDINARY);
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn programs_of_nobody() {
    run_real("programs_of_nobody", NOBODY);
}

/// What overlayfs does by itself is the same, but for directories that are older than the program.
#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn programs_without_a_broker() {
    let tools = Tools::new();
    for user in [ROOT, ORDINARY] {
        let setting = Setting { broker: false, ..Setting::new(&tools, user) };
        run_with("programs_without_a_broker", cases(8, 300), setting);
    }
}

/// A layer for each program, more than a mount takes before they have to be put together.
#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn many_programs_in_one_workspace() {
    let tools = Tools::new();
    for user in Tier::from_env().pick(&[ORDINARY][..], &[ROOT, ORDINARY]).iter().copied() {
        let setting = Setting::new(&tools, user);
        for seed in (0..cases(1, 20)).map(|number| seed_from_env_or(1).wrapping_add(number)) {
            let plan = Case::new(seed, user).plan;
            let mut product = Real::new(&plan, setting).unwrap();
            let (mut rng, mut left) = (Rng::new(seed), 20);
            let next = |tree: &Scan| {
                left -= 1;
                (left >= 0).then(|| program(&mut rng, tree, 6))
            };
            let outcome = play(&plan, setting, &mut product, "long", next);
            outcome.unwrap_or_else(|failure| panic!("{}, seed {seed}: {failure}", user.name));
        }
    }
}

/// Programs that are not the same each time could not tell a broken product from a sound one.
#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn programs_do_the_same_again() {
    let tools = Tools::new();
    for user in [ROOT, ORDINARY] {
        let setting = Setting::new(&tools, user);
        run_all("programs_do_the_same_again", cases(12, 1000), setting, &|plan| {
            Ok(Box::new(Simple::new(plan, user)) as Box<dyn Product>)
        });
    }
}

/// A verb that is always refused would test nothing.
#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn every_verb_does_something() {
    let tools = Tools::new();
    let setting = Setting::new(&tools, ORDINARY);
    let mut done: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 0..70 {
        let mut native = Native::new(&Case::new(seed, ORDINARY).plan, setting);
        let steps = program(&mut Rng::new(seed), &native.tree, 40);
        let said = native.run(&to_text(&steps)).unwrap().said;
        // What a step has to say is not an error, but for the status of a program that failed.
        let bad = [": error", "exit status", "an old directory", "after a link", "a pipe"];
        let good = |line: &&str| !bad.iter().any(|words| line.contains(words));
        let verbs = said.lines().filter(good).filter_map(|line| line.split([' ', ':']).nth(1));
        verbs.for_each(|verb| *done.entry(verb.to_owned()).or_default() += 1);
    }
    for verb in VERBS {
        assert!(done.get(verb).is_some_and(|times| *times >= 3), "{verb}: {done:?}");
    }
}

/// Steps that touch everything in a tree and leave it as it was.
fn idle(tree: &Scan) -> Vec<Step> {
    let mut steps = Vec::new();
    for (path, node) in tree.0.iter().filter(|(path, _)| path.len() <= 300) {
        let path = if path.is_empty() { b"." } else { path.as_slice() };
        let mode = format!("{:o}", node.mode);
        if node.kind != Kind::Symlink {
            steps.push(Step::new([b"chmod", path, mode.as_bytes()]));
        }
        let times = [node.mtime.0.to_string(), node.mtime.1.to_string()];
        let [seconds, nanoseconds] = &times;
        if node.kind == Kind::Directory {
            let inner = [path, b"/there and gone"].concat();
            steps.push(Step::new([b"list", path]));
            steps.push(Step::new([b"create", &inner[..], b"100", b"1"]));
            steps.push(Step::new([b"unlink", &inner[..]]));
        } else {
            let away = [path, b".away"].concat();
            steps.push(Step::new([b"open", path]));
            steps.push(Step::new([b"read", path]));
            steps.push(Step::new([b"rename", path, &away[..], b"plain"]));
            steps.push(Step::new([b"rename", &away[..], path, b"plain"]));
            steps.push(Step::new([b"link", path, &away[..]]));
            steps.push(Step::new([b"unlink", &away[..]]));
        }
        steps.push(Step::new([b"setxattr", path, b"user.there and gone", b"x"]));
        steps.push(Step::new([b"removexattr", path, b"user.there and gone"]));
        steps.push(Step::new([b"times", path, seconds.as_bytes(), nanoseconds.as_bytes()]));
    }
    steps
}

#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn programs_that_leave_everything_as_it_was() {
    let tools = Tools::new();
    for user in [ROOT, ORDINARY] {
        let setting = Setting::new(&tools, user);
        for seed in 0..cases(4, 100) {
            let plan = Case::new(seed, user).plan;
            let mut product = Real::new(&plan, setting).unwrap();
            let mut left = 2;
            let next = |tree: &Scan| {
                left -= 1;
                (left >= 0).then(|| if left == 1 { Vec::new() } else { idle(tree) })
            };
            let outcome = play(&plan, setting, &mut product, "idle", next);
            outcome.unwrap_or_else(|failure| panic!("{}, seed {seed}: {failure}", user.name));
        }
    }
}

/// The plain directory agrees that an idle program changes nothing, so the product has no excuse.
#[needs(Root, Overlay, UserXattr, UserNamespace, "cc")]
#[test]
fn idle_programs_are_idle() {
    let tools = Tools::new();
    let setting = Setting::new(&tools, ROOT);
    let plan = Case::new(3, ROOT).plan;
    let mut native = Native::new(&plan, setting);
    let text = to_text(&idle(&native.tree));
    let evidence = native.run(&text).unwrap();
    let lines: Vec<String> = evidence.changes.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{}", lines.join("\n"));
    assert!(evidence.said.contains("done"), "{}", escape(evidence.said.as_bytes()));
}
