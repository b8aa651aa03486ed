//! Steps that are done by several processes or threads at once.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Outcome, number};
use crate::oracle::step::{Step, to_text};
use crate::oracle::tree::{content, os};

pub(super) fn step(verb: &[u8], words: &[&[u8]]) -> Result<(), Outcome> {
    let [path, count, size, seed] = words else {
        return Err(Outcome::Nonsense);
    };
    let (count, size, seed): (u64, usize, u64) = (number(count)?, number(size)?, number(seed)?);
    match verb {
        b"children" => children(path, count, size, seed),
        _ => threads(path, count, size, seed),
    }
}

/// Processes that all write at the same time, each a file of its own, some of which go away again.
fn children(path: &[u8], count: u64, size: usize, seed: u64) -> Result<(), Outcome> {
    let own = std::env::current_exe()?;
    let mut running = Vec::new();
    for number in 0..count {
        let mine = [path, format!(".{number}").as_bytes()].concat();
        let (size, seed) = (size.to_string(), (seed + number).to_string());
        let words = |verb: &str, more: &[&str]| {
            let mut words = vec![verb.as_bytes().to_vec(), mine.clone()];
            words.extend(more.iter().map(|word| word.as_bytes().to_vec()));
            Step(words)
        };
        let mut steps = vec![
            words("write", &[&size, &seed, "644"]),
            words("append", &["100", &seed]),
            words("times", &[&format!("{}", 1_000_000_000 + number), "7"]),
        ];
        if number % 3 == 2 {
            steps.push(words("unlink", &[]));
        }
        let mut command = Command::new(&own);
        command.arg("run").arg(to_text(&steps)).stdin(Stdio::null()).stdout(Stdio::null());
        running.push(command.spawn()?);
    }
    for mut child in running {
        child.wait()?;
    }
    Ok(())
}

/// Threads that all write at the same time: parts of one file, and a file each.
fn threads(path: &[u8], count: u64, size: usize, seed: u64) -> Result<(), Outcome> {
    let shared = OpenOptions::new().create_new(true).write(true).open(os(path))?;
    let write = |number: u64| -> std::io::Result<()> {
        let bytes = content(seed + number, size);
        let own = PathBuf::from(os(&[path, format!("-{number}").as_bytes()].concat()));
        shared.write_all_at(&bytes, number * size as u64)?;
        File::create_new(&own)?.write_all(&bytes)?;
        if number.is_multiple_of(2) {
            std::fs::remove_file(own)?;
        }
        Ok(())
    };
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..count).map(|number| scope.spawn(move || write(number))).collect();
        handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    for outcome in outcomes {
        outcome.unwrap_or_else(|_| Err(std::io::Error::other("a thread panicked")))?;
    }
    Ok(())
}
