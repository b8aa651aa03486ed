//! Decides about what a command changed, brings what was accepted into the folder, and takes it back.
//!
//! `cargo run --example review`

#![expect(clippy::print_stdout, reason = "an example says what it does")]

use std::error::Error;
use std::fs;

use offshoot_engine::review::Decision;
use offshoot_engine::{Offshoot, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("project");
    fs::create_dir(&folder)?;
    fs::write(folder.join("greet.sh"), "echo helo\n")?;
    let options = Options::from_process().registry(scratch.path().join("vaults"));
    let project = Offshoot::open(options)?.project(&folder)?;

    let fix = project.fork("fix")?;
    fix.exec(["sh", "-c", "sed -i s/helo/hello/ greet.sh; echo junk > notes.txt"])?.wait();
    let mut review = fix.review()?;
    for item in review.items_mut() {
        let decision = match item.change.path.to_string().as_str() {
            "/notes.txt" => Decision::Dropped,
            _ => Decision::Accepted,
        };
        println!("{} {decision:?}", item.change.path);
        for piece in &mut item.pieces {
            piece.decision = decision.clone();
        }
    }
    let outcome = review.commit("Mend the greeting")?;
    println!("{} committed", outcome.brought.brought.len());
    print!("{}", fs::read_to_string(folder.join("greet.sh"))?);
    println!("notes.txt is there: {}", folder.join("notes.txt").exists());

    fix.undo()?;
    print!("{}", fs::read_to_string(folder.join("greet.sh"))?);
    Ok(())
}
