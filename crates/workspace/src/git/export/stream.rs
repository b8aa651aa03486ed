//! Talking to `git fast-import`.

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use offshoot_tree::BlobReader;

use crate::error::{Result, ServiceError};
use crate::git::error::{GitError, GitResult};
use crate::git::folder::GitFolder;
use crate::git::run::Talk;

/// A stream of objects into a repository. Nothing refers to them until it is finished.
pub(in crate::git) struct Stream {
    talk: Talk,
    marks: u64,
    /// What git leaves where it is given up.
    crash: PathBuf,
}

/// Somebody at a time, as git writes it.
pub(in crate::git) struct Signature<'a> {
    pub(in crate::git) name: &'a str,
    pub(in crate::git) mail: &'a str,
    pub(in crate::git) seconds: u64,
}

/// One commit to be written.
pub(in crate::git) struct NewCommit<'a> {
    pub(in crate::git) reference: &'a str,
    /// What it follows, where it is not the commit that was written last.
    pub(in crate::git) parent: Option<&'a str>,
    pub(in crate::git) author: Signature<'a>,
    pub(in crate::git) committer: Signature<'a>,
    pub(in crate::git) message: &'a str,
    pub(in crate::git) deleted: &'a [Vec<u8>],
    /// Mode, object and path.
    pub(in crate::git) written: &'a [(u32, String, Vec<u8>)],
}

impl Stream {
    pub(in crate::git) fn start(folder: &GitFolder) -> GitResult<Self> {
        // A stream that breaks off is no end: without the last command nothing is kept.
        let talk = folder.git.start(&["fast-import", "--quiet", "--done", "--date-format=raw"])?;
        let crash = folder.git_dir.join(format!("fast_import_crash_{}", talk.process()));
        Ok(Self { talk, marks: 0, crash })
    }

    /// Stores bytes from a reader that has exactly so many; gives their id.
    pub(in crate::git) fn blob(&mut self, reader: &mut BlobReader, size: u64) -> Result<String> {
        let mark = self.next_mark();
        self.tell(&format!("blob\nmark :{mark}\ndata {size}\n"))?;
        reader.copy_to(&mut self.talk.input, Path::new("git"))?;
        Ok(self.answer_to(&format!("\nget-mark :{mark}\n"))?)
    }

    /// Stores bytes; gives their id.
    pub(in crate::git) fn bytes(&mut self, bytes: &[u8]) -> GitResult<String> {
        let mark = self.next_mark();
        self.tell(&format!("blob\nmark :{mark}\ndata {}\n", bytes.len()))?;
        self.send(bytes)?;
        self.answer_to(&format!("\nget-mark :{mark}\n"))
    }

    /// Stores a commit; gives its id.
    pub(in crate::git) fn commit(&mut self, new: &NewCommit<'_>) -> GitResult<String> {
        let mark = self.next_mark();
        self.tell(&format!("commit {}\nmark :{mark}\n", new.reference))?;
        for (what, who) in [("author", &new.author), ("committer", &new.committer)] {
            let Signature { name, mail, seconds } = who;
            self.tell(&format!("{what} {name} <{mail}> {seconds} +0000\n"))?;
        }
        self.tell(&format!("data {}\n", new.message.len()))?;
        self.send(new.message.as_bytes())?;
        if let Some(parent) = new.parent {
            self.tell(&format!("\nfrom {parent}\n"))?;
        } else {
            self.tell("\n")?;
        }
        for path in new.deleted {
            self.tell(&format!("D {}\n", quoted(path)))?;
        }
        for (mode, object, path) in new.written {
            self.tell(&format!("M {mode:o} {object} {}\n", quoted(path)))?;
        }
        self.answer_to(&format!("\nget-mark :{mark}\n"))
    }

    /// Keeps everything that was stored.
    pub(in crate::git) fn finish(mut self) -> GitResult<()> {
        let told = self.tell("done\n");
        let Self { talk, crash, .. } = self;
        let finished = match told {
            Ok(()) => talk.finish(),
            Err(error) => Err(talk.abandon(error)),
        };
        finished.inspect_err(|_| forget(&crash))
    }

    /// Gives up; what git said, if it ended by itself, explains it better.
    pub(in crate::git) fn abandon(self, error: ServiceError) -> ServiceError {
        let Self { talk, crash, .. } = self;
        let error = match error {
            ServiceError::Git(error) => talk.abandon(error).into(),
            other => {
                talk.end();
                other
            }
        };
        forget(&crash);
        error
    }

    fn next_mark(&mut self) -> u64 {
        self.marks += 1;
        self.marks
    }

    fn tell(&mut self, text: &str) -> GitResult<()> {
        self.send(text.as_bytes())
    }

    fn send(&mut self, bytes: &[u8]) -> GitResult<()> {
        self.talk.input.write_all(bytes).map_err(|source| self.broken(source))
    }

    fn answer_to(&mut self, text: &str) -> GitResult<String> {
        self.tell(text)?;
        self.talk.input.flush().map_err(|source| self.broken(source))?;
        let mut line = String::new();
        self.talk.output.read_line(&mut line).map_err(|source| self.broken(source))?;
        let answer = line.trim_end().to_owned();
        if answer.len() < 40 || !answer.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(GitError::Answer { what: self.talk.what().to_owned(), answer });
        }
        Ok(answer)
    }

    fn broken(&self, source: io::Error) -> GitError {
        GitError::Run { what: self.talk.what().to_owned(), source }
    }
}

/// What went wrong is told; a report in the repository would only be in the way there.
fn forget(crash: &Path) {
    // Mostly there is none.
    drop(std::fs::remove_file(crash));
}

/// A path in quotes: any byte but NUL can be in it.
fn quoted(path: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in path {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}
