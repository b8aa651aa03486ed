//! Forks a workspace of a folder, runs a command in it, cancels another, and prints what changed.
//!
//! `cargo run --example embed -- FOLDER`; without a folder it makes one.

#![expect(clippy::print_stdout, reason = "printing is what this program is for")]

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use offshoot_engine::exec::{Command, Event};
use offshoot_engine::{Offshoot, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => PathBuf::from(folder),
        None => {
            let folder = scratch.path().join("project");
            std::fs::create_dir(&folder)?;
            std::fs::write(folder.join("hello.txt"), "hello\n")?;
            folder
        }
    };
    let options = Options::from_process().registry(scratch.path().join("vaults"));
    let offshoot = Offshoot::open(options.listener(|notice| println!("note: {notice}")))?;
    let project = offshoot.project(&folder)?;
    let workspace = project.fork("demo")?;

    let ran = workspace.exec(["sh", "-c", "echo world >> hello.txt; echo done"])?.wait();
    println!("exit code {:?}, {} changed", ran.result.exit_code, ran.result.changed_files.len());

    let endless =
        workspace.exec(Command::shell("echo started; sleep 1000").timeout(Duration::MAX))?;
    for event in endless.events() {
        if let Event::Output { bytes, .. } = event {
            print!("{}", String::from_utf8_lossy(&bytes));
            endless.cancel();
        }
    }
    println!("cancelled: {}", endless.wait().result.interrupted);
    print!("{}", String::from_utf8_lossy(&workspace.patch()?));
    Ok(())
}
