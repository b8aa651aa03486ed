//! The second build of a project, with package caches and without, beside a plain one.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use offshoot_tests::registry::Registry;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Contest;
use crate::report::{Report, Unit};
use crate::run::timed;

pub(in crate::benchmarks) const NAME: &str = "exec-caches";

/// A build and what it needs.
struct Tool {
    name: &'static str,
    script: &'static str,
    variables: Vec<(&'static str, String)>,
}

pub(in crate::benchmarks) fn run(bench: &Bench) -> Result<Report> {
    let about = "a project that was built before, in a new workspace; packages from a registry on the loopback";
    let mut report = Report::new(NAME, about);
    let packages = bench.options.scaled(2, 40);
    for tool in [npm(bench, packages)?, cargo(bench, packages)?] {
        measure(bench, &tool, &mut report)?;
    }
    Ok(report)
}

fn measure(
    bench: &Bench,
    (tool, dir, registry): &(Tool, PathBuf, Registry),
    report: &mut Report,
) -> Result<()> {
    let home = bench.vault_of(dir)?;
    let mut contest = Contest::default();
    let plain = contest.add(|_| timed(&mut plainly(bench, tool, dir)));
    let (asked, asked_cached) = (Cell::new(0), Cell::new(0));
    let cached = contest.add(|_| {
        registry.asked();
        let took = timed(&mut inside(bench, tool, &home, dir, &[]));
        asked_cached.set(registry.asked());
        took
    });
    let without = contest.add(|_| {
        registry.asked();
        let took = timed(&mut inside(bench, tool, &home, dir, &["--no-cache"]));
        asked.set(registry.asked());
        took
    });
    let outcome = contest.run(bench.options.pairs().min(5))?;
    let name = tool.name;
    report.add(format!("{name}: plain"), Unit::Time, outcome.seconds(plain));
    for (what, side) in [("workspace", cached), ("workspace, --no-cache", without)] {
        report.add(format!("{name}: {what}"), Unit::Time, outcome.seconds(side));
        report.add(format!("{name}: {what} / plain"), Unit::Ratio, outcome.ratio(side, plain));
    }
    if asked.get() == 0 {
        return Err(format!("{name}: without a cache nothing was downloaded").into());
    }
    if asked_cached.get() >= asked.get() {
        return Err(format!("{name}: the caches saved no download").into());
    }
    Ok(())
}

/// In a copy of the project, with a home that has been used before.
fn plainly(bench: &Bench, tool: &Tool, dir: &Path) -> Command {
    let mut command = Command::new("sh");
    let script = format!(
        "cp -r {} {copy} && cd {copy} && {}",
        dir.display(),
        tool.script,
        copy = bench.fresh("copy").display()
    );
    command.args(["-ec", &script]).stdin(Stdio::null());
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("HOME", bench.dir().join(format!("plain-{}", tool.name)));
    command.envs(tool.variables.iter().map(|(name, value)| (name, value)));
    command
}

fn inside(bench: &Bench, tool: &Tool, home: &Path, dir: &Path, options: &[&str]) -> Command {
    let variables: Vec<String> =
        tool.variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut words = vec!["exec", "-q", "--net", "host"];
    words.extend(options);
    for variable in &variables {
        words.extend(["-e", variable]);
    }
    words.extend(["--", "sh", "-ec", tool.script]);
    bench.offshoot(home, dir, &words)
}

fn npm(bench: &Bench, packages: usize) -> Result<(Tool, PathBuf, Registry)> {
    let (registry, dir) = (Registry::start(), bench.fresh("npm"));
    std::fs::create_dir_all(&dir)?;
    std::fs::create_dir_all(bench.dir().join("plain-npm"))?;
    let code = format!("module.exports = 1;\n{}", "// some text\n".repeat(5_000));
    let names: Vec<String> = (0..packages).map(|at| format!("package-{at}")).collect();
    for name in &names {
        registry.add_npm(name, &code, bench.dir());
    }
    let needs: Vec<String> = names.iter().map(|name| format!("\"{name}\": \"^1.0.0\"")).collect();
    let manifest = format!("{{\"name\": \"app\", \"dependencies\": {{{}}}}}\n", needs.join(", "));
    std::fs::write(dir.join("package.json"), manifest)?;
    let mut variables = vec![("npm_config_registry", format!("{}/", registry.address()))];
    for name in ["npm_config_audit", "npm_config_fund", "npm_config_update_notifier"] {
        variables.push((name, "false".to_owned()));
    }
    let tool =
        Tool { name: "npm install", script: "npm install --silent --prefer-offline", variables };
    Ok((tool, dir, registry))
}

fn cargo(bench: &Bench, packages: usize) -> Result<(Tool, PathBuf, Registry)> {
    let (registry, dir) = (Registry::start(), bench.fresh("cargo"));
    std::fs::create_dir_all(dir.join("src"))?;
    std::fs::create_dir_all(dir.join(".cargo"))?;
    std::fs::create_dir_all(bench.dir().join("plain-cargo"))?;
    let names: Vec<String> = (0..packages).map(|at| format!("package-{at}")).collect();
    for name in &names {
        registry.add_cargo(name, "pub fn one() -> u8 { 1 }\n", bench.dir());
    }
    let needs: Vec<String> = names.iter().map(|name| format!("{name} = \"0.1\"\n")).collect();
    let manifest =
        "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\n";
    std::fs::write(dir.join("Cargo.toml"), format!("{manifest}{}", needs.concat()))?;
    std::fs::write(dir.join("src/main.rs"), "fn main() {}\n")?;
    let settings = format!(
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nregistry = \"sparse+{}/\"\n",
        registry.address()
    );
    std::fs::write(dir.join(".cargo/config.toml"), settings)?;
    // The toolchain itself: the program that stands for it looks for it in one's home.
    let tools = Path::new(env!("CARGO")).parent().map(Path::to_owned).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&path)))?;
    let variables = vec![("PATH", path.to_string_lossy().into_owned())];
    let tool = Tool { name: "cargo build", script: "cargo build -q", variables };
    Ok((tool, dir, registry))
}
