//! Attempts that have to fail inside, and to get through where nothing holds them.

use std::collections::BTreeMap;

use crate::attempt::{Attempt, Class, Control, Place};
use crate::scene::{Ended, Scene, Who};

/// What an attempt needs to have all capabilities over what is its own, and none over the host.
const NAMESPACES: &[&str] = &[
    "unshare",
    "--user",
    "--map-root-user",
    "--mount",
    "--pid",
    "--fork",
    "--mount-proc",
    "--net",
    "--ipc",
    "--uts",
];

/// What a check says that has seen the attempt get through.
const SHOWN: &str = "gets through without the wall";

/// Fails with the names of all attempts of a class that got through, that failed for another reason, or that prove nothing.
pub(crate) fn hold(class: &str, who: Who) {
    let class = Class::load(class);
    let scene = Scene::new(who);
    let mut problems = Vec::new();
    let before = scene.state();
    let inside = everywhere_inside(&scene, &class, &[], &|_| true);
    let committed = if class.commits { commit(&scene, &inside.workspaces) } else { String::new() };
    for ((attempt, ended), workspace) in
        class.attempts.iter().zip(inside.ended).zip(&inside.workspaces)
    {
        let mut ended = ended.expect("all were made");
        ended.said.push_str(&committed);
        let ended = judged(&scene, attempt, ended, workspace);
        if matches!(attempt.control, Some(Control::Place(Place::Check)))
            && !ended.said.contains(SHOWN)
        {
            problems.push(format!("{} proves nothing: {}", attempt.name, ended.said));
        }
        if ended.succeeded {
            problems.push(format!("{} GOT THROUGH: {}", attempt.name, ended.said));
        } else if !attempt.refused.iter().any(|said| ended.said.contains(said)) {
            problems.push(format!(
                "{} was not refused by {:?}: {}",
                attempt.name, attempt.refused, ended.said
            ));
        }
    }
    problems.extend(differences(&before, &scene.state()));
    controls(&scene, &class, who, &mut problems);
    assert!(
        problems.is_empty(),
        "{} problem(s) of {:?}:\n{}",
        problems.len(),
        who,
        problems.join("\n\n")
    );
}

/// What of the host is not as it was.
fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let differs = names.filter(|name| before.get(*name) != after.get(*name));
    let told = |name: &String| {
        let (then, now) = (before.get(name), after.get(name));
        format!("the host is not as it was: {name}: {then:?}, now {now:?}")
    };
    differs.map(told).collect()
}

/// What became of the attempts that were made, and where.
struct Made {
    ended: Vec<Option<Ended>>,
    workspaces: Vec<String>,
}

/// Makes the chosen attempts in workspaces: those with the same options in one command, unless they have to be alone.
fn everywhere_inside(
    scene: &Scene,
    class: &Class,
    more: &[String],
    chosen: &dyn Fn(&Attempt) -> bool,
) -> Made {
    let mut groups: BTreeMap<(Vec<String>, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (at, attempt) in class.attempts.iter().enumerate().filter(|(_, attempt)| chosen(attempt)) {
        let options = [&attempt.options[..], more].concat();
        groups.entry((options, attempt.alone.then_some(at))).or_default().push(at);
    }
    let mut made = Made {
        ended: vec![None; class.attempts.len()],
        workspaces: vec![String::new(); class.attempts.len()],
    };
    for (number, ((options, _), group)) in groups.into_iter().enumerate() {
        let workspace = format!("w{number}-{}", more.len());
        let attempts: Vec<&Attempt> = group.iter().map(|at| &class.attempts[*at]).collect();
        let ended = scene.inside(&workspace, &options, &attempts);
        for (at, ended) in group.into_iter().zip(ended) {
            made.ended[at] = Some(ended);
            made.workspaces[at].clone_from(&workspace);
        }
    }
    made
}

/// Brings all workspaces home, and says what was said.
fn commit(scene: &Scene, workspaces: &[String]) -> String {
    let mut names = workspaces.to_vec();
    names.sort();
    names.dedup();
    let one = |name: &String| {
        scene.host_script("\"$OFFSHOOT\" commit --json -w \"$WORKSPACE\"", name).said
    };
    names.iter().map(one).collect()
}

/// Whether it got through: by its own word, by the secret, or by its check.
fn judged(scene: &Scene, attempt: &Attempt, ended: Ended, workspace: &str) -> Ended {
    let leaked = ended.said.contains(&scene.secret);
    let Some(check) = &attempt.check else {
        return Ended { succeeded: ended.succeeded || leaked, ..ended };
    };
    let checked = scene.host_script(check, workspace);
    Ended {
        succeeded: checked.succeeded || leaked || checked.said.contains(&scene.secret),
        said: format!("{}\n{}", ended.said, checked.said),
    }
}

/// Makes each attempt where nothing holds it.
fn controls(scene: &Scene, class: &Class, who: Who, problems: &mut Vec<String>) {
    let with_control = |attempt: &&Attempt| who == Who::Root || !attempt.control_by_root;
    for (place, before) in [(Place::Host, &[][..]), (Place::Namespaces, NAMESPACES)] {
        let is_here = |attempt: &&Attempt| matches!(attempt.control, Some(Control::Place(found)) if found == place);
        let attempts: Vec<&Attempt> =
            class.attempts.iter().filter(is_here).filter(with_control).collect();
        if attempts.is_empty() {
            continue;
        }
        let ended = scene.outside(before, &attempts);
        for (attempt, ended) in attempts.iter().zip(ended) {
            shown(scene, attempt, ended, "", problems);
        }
    }
    let mut others: Vec<&Vec<String>> = Vec::new();
    for attempt in class.attempts.iter().filter(with_control) {
        if let Some(Control::Options(options)) = &attempt.control
            && !others.contains(&options)
        {
            others.push(options);
        }
    }
    for options in others {
        let chosen = |attempt: &Attempt| matches!(&attempt.control, Some(Control::Options(its)) if its == options);
        let made = everywhere_inside(scene, class, options, &|attempt| {
            chosen(attempt) && with_control(&attempt)
        });
        for ((attempt, ended), workspace) in
            class.attempts.iter().zip(made.ended).zip(&made.workspaces)
        {
            if let Some(ended) = ended {
                shown(scene, attempt, ended, workspace, problems);
            }
        }
    }
}

fn shown(
    scene: &Scene,
    attempt: &Attempt,
    ended: Ended,
    workspace: &str,
    problems: &mut Vec<String>,
) {
    let ended = judged(scene, attempt, ended, workspace);
    if !ended.succeeded {
        problems.push(format!(
            "{} proves nothing, it fails without the wall: {}",
            attempt.name, ended.said
        ));
    }
}
