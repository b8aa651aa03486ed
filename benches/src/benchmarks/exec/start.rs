//! What the boundary costs: a command that does nothing.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::bench::Bench;
use crate::commit::RawLog;
use crate::contest::Contest;
use crate::report::{Goal, Report, Unit};
use crate::run::{copy, timed};

pub(in crate::benchmarks) const NAME: &str = "exec-start";

/// What `true` is run with beside: the least confinement that is comparable.
pub(in crate::benchmarks) const BWRAP: &[&str] = &[
    "bwrap",
    "--unshare-all",
    "--ro-bind",
    "/",
    "/",
    "--tmpfs",
    "/tmp",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
    "true",
];
/// An ordinary user.
const ORDINARY: u32 = 1000;

/// Somebody with a project.
struct User<'a> {
    bench: &'a Bench,
    name: String,
    /// Set where it is somebody other than who runs the benchmarks.
    id: Option<u32>,
    home: PathBuf,
    project: PathBuf,
}

impl<'a> User<'a> {
    fn new(bench: &'a Bench, id: Option<u32>) -> Result<Self> {
        let home = bench.fresh("user");
        let project = home.join("project");
        std::fs::create_dir(&home)?;
        timed(&mut copy(&bench.tree(bench.options.scaled(50, 1_000))?, &project))?;
        let own = rustix::process::geteuid();
        let uid = id.unwrap_or(own.as_raw());
        let name = if uid == 0 { "root".to_owned() } else { format!("uid {uid}") };
        if let Some(id) = id {
            timed(Command::new("chown").args(["-R", &format!("{id}:{id}")]).arg(&home))?;
        }
        let user = Self { bench, name, id, home, project };
        timed(&mut user.offshoot(&["init"]))?;
        timed(&mut user.offshoot(&["workspace", "create", "w", "--from", "head"]))?;
        Ok(user)
    }

    fn offshoot(&self, arguments: &[&str]) -> Command {
        let vaults = self.home.join("vaults");
        let mut command = self.bench.offshoot(&vaults, &self.project, arguments);
        command.env("HOME", &self.home);
        self.become_it(command)
    }

    fn program(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(&self.project);
        self.become_it(command)
    }

    fn become_it(&self, mut command: Command) -> Command {
        if let Some(id) = self.id {
            command.uid(id).gid(id);
        }
        command
    }
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let about = "a command that does nothing: whole processes, from start to end";
    let mut report = Report::new(NAME, about);
    measure(&User::new(bench, None)?, &mut report)?;
    if rustix::process::geteuid().is_root() {
        open_to_all(bench.dir())?;
        measure(&User::new(bench, Some(ORDINARY))?, &mut report)?;
    }
    Ok(report)
}

/// Lets others through to what is theirs.
fn open_to_all(dir: &Path) -> Result<()> {
    Ok(std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755))?)
}

fn measure(user: &User<'_>, report: &mut Report) -> Result<()> {
    let mut log = RawLog::create(&user.home.join("raw.log"))?;
    user.bench.settle()?;
    let mut contest = Contest::default();
    let exec = contest.add(|_| timed(&mut user.offshoot(&["exec", "-w", "w", "--", "true"])));
    let bwrap = contest.add(|_| timed(&mut user.program(BWRAP)));
    let version = contest.add(|_| timed(&mut user.offshoot(&["--version"])));
    let plain = contest.add(|_| timed(&mut user.program(&["true"])));
    let commit = contest.add(|_| log.commit());
    // Each turn is short, so there can be more of them.
    let found = contest.run(user.bench.options.pairs() * user.bench.options.scaled(1, 4))?;
    let name = &user.name;
    let sides = [
        ("offshoot exec -w w -- true", exec),
        ("bwrap --unshare-all ... true", bwrap),
        ("offshoot --version", version),
        ("true", plain),
        ("raw: write and fdatasync 16 KiB", commit),
    ];
    for (label, side) in sides {
        report.add(format!("{name}: {label}"), Unit::Time, found.seconds(side));
    }
    let ratio = found.ratio(exec, bwrap);
    report.add_with_goal(format!("{name}: exec / bwrap"), Unit::Ratio, ratio, Goal::AtMost(2.0));
    let above = found.minus(exec, commit);
    let ratio = above.iter().zip(found.seconds(bwrap)).map(|(above, bwrap)| above / bwrap);
    report.add(format!("{name}: (exec - raw) / bwrap"), Unit::Ratio, ratio.collect());
    Ok(())
}
