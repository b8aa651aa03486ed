//! Runs commands in two workspaces of a folder at once, and merges one into the other.
//!
//! `cargo run --example parallel`

#![expect(clippy::print_stdout, reason = "an example says what it does")]

use std::error::Error;
use std::fs;

use offshoot_engine::{Offshoot, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("project");
    fs::create_dir(&folder)?;
    fs::write(folder.join("list.txt"), "one\ntwo\nthree\nfour\nfive\n")?;
    let options = Options::from_process().registry(scratch.path().join("vaults"));
    let project = Offshoot::open(options)?.project(&folder)?;

    let (top, bottom) = (project.fork("top")?, project.fork("bottom")?);
    let first = top.exec(["sed", "-i", "s/one/ONE/", "list.txt"])?;
    let second = bottom.exec(["sed", "-i", "s/five/FIVE/", "list.txt"])?;
    for exec in [first, second] {
        println!("exit code {:?}", exec.wait().result.exit_code);
    }

    let merged = top.merge(&[&bottom])?;
    println!("{} conflicts", merged.conflicts.len());
    print!("{}", String::from_utf8(top.read("/list.txt")?)?);

    // Both change the same line now: the merge says so, and loses nothing of either.
    let (yes, no) = (project.fork("yes")?, project.fork("no")?);
    for (workspace, word) in [(&yes, "YES"), (&no, "NO")] {
        workspace.write("/list.txt", format!("{word}\n").as_bytes())?;
    }
    println!("{} conflicts", yes.merge(&[&no])?.conflicts.len());
    yes.undo()?;
    print!("{}", String::from_utf8(yes.read("/list.txt")?)?);
    Ok(())
}
