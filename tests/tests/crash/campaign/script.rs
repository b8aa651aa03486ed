//! What commands do: steps of a shell, each of which works whatever the steps before it left.

use std::fs;
use std::path::Path;
use std::process::Command;

use offshoot_tests::rng::Rng;

use super::tree::{self, Tree};

/// A list of steps.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) steps: Vec<String>,
}

impl Script {
    /// A few random steps. `tag` makes what they write differ from what others write.
    pub(crate) fn random(rng: &mut Rng, tag: &str) -> Self {
        let count = 2 + rng.below(7);
        Self { steps: (0..count).map(|at| step(rng, &format!("{tag}-{at}"))).collect() }
    }

    /// All of it, with pauses so that a kill can fall between any two steps.
    pub(crate) fn text(&self) -> String {
        self.steps.join("\nsleep 0.003\n")
    }

    /// Runs it on plain files; gives what was there at the start and after each step.
    pub(crate) fn run_plainly(&self, dir: &Path) -> Vec<Tree> {
        let mut trees = vec![tree::read(dir)];
        for step in &self.steps {
            let mut command = Command::new("sh");
            command.args(["-c", step]).current_dir(dir).env_clear();
            command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
            // Whether a step does anything depends on what is there; both sides see the same.
            let _code = command.output().unwrap();
            trees.push(tree::read(dir));
        }
        trees
    }
}

fn step(rng: &mut Rng, tag: &str) -> String {
    let file = |rng: &mut Rng| format!("f{}", rng.below(6));
    let folder = |rng: &mut Rng| format!("d{}", rng.below(3));
    let (a, d) = (file(rng), folder(rng));
    match rng.below(14) {
        0 | 1 => format!("rm -rf {a}; echo {tag} > {a}"),
        2 => format!("[ -f {a} ] && echo {tag} >> {a}"),
        3 => format!("rm -f {a}"),
        4 => format!("[ -f {a} ] && mv -f {a} moved-{tag}"),
        5 => format!("[ -f {a} ] && chmod {} {a}", ["600", "755", "640"][rng.below(3) as usize]),
        6 => format!("[ -f {a} ] && ln {a} link-{tag}"),
        7 => format!("yes {tag} | head -c {} > big-{tag}", 70_000 + rng.below(600_000)),
        8 => format!(
            "mkdir -p {d}/x/y; for n in 1 2 3 4 5; do echo {tag}-$n > {d}/x/y/$n; done; echo {tag} > {d}/top"
        ),
        9 => format!("rm -rf {d}"),
        10 => format!("rm -rf {d}; mkdir {d}; echo {tag} > {d}/replaced"),
        11 => format!("(sleep 0.004; echo {tag} > bg-{tag}) & echo {tag} > fg-{tag}; wait"),
        12 => format!("ln -sf {a} sym-{tag}; chmod 700 {d} 2>/dev/null"),
        _ => format!("for n in 1 2 3 4 5 6 7 8 9; do echo {tag}-$n > many-{tag}-$n; done"),
    }
}

/// The files that every workspace starts with.
pub(crate) fn plant(project: &Path) {
    let mut rng = Rng::new(3);
    for n in 0..4 {
        fs::write(project.join(format!("f{n}")), format!("first {n}\n")).unwrap();
    }
    fs::create_dir_all(project.join("d0/x/y")).unwrap();
    fs::write(project.join("d0/x/y/1"), "one\n").unwrap();
    fs::write(project.join("large"), rng.bytes(300_000)).unwrap();
    fs::hard_link(project.join("f0"), project.join("f0-too")).unwrap();
    fs::hard_link(project.join("f0"), project.join("d0/f0-too")).unwrap();
}
