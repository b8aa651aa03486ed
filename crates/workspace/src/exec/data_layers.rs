//! Whether the kernel can use layers that only hold bytes for others.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use offshoot_mount::MountError;
use offshoot_sandbox::{Overlay, SandboxError, UpperDirectories, read_through};
use offshoot_vault::Vault;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::error::Result;

/// Where the answer is kept while the machine runs.
const ANSWER: &str = "cache/data-layers";
/// What is to be found.
const BYTES: &[u8] = b"these bytes lie in another layer";
const NAME: &str = "file";

/// Whether this kernel finds the bytes of a file in a layer that only holds bytes, on the vault's file system. Found by trying,
/// once after each start of the machine: a kernel that does not know them may show zeros without a word.
pub(crate) fn data_layers_work(vault: &Vault) -> bool {
    let path = vault.dir().join(ANSWER);
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let known = fs::read_to_string(&path).unwrap_or_default();
    if let Some(answer) = known.strip_prefix(boot.as_str()).filter(|_| !boot.is_empty()) {
        match answer {
            "yes" => return true,
            "no" => return false,
            _ => {}
        }
    }
    let (works, lasting) = match attempt(vault) {
        Ok(works) => (works, true),
        Err(error) => (false, error.is_about_layers()),
    };
    if lasting {
        let answer = format!("{boot}{}", if works { "yes" } else { "no" });
        // Where it cannot be kept it is found again.
        let made = fs::create_dir_all(path.parent().unwrap_or(&path));
        drop(made.and_then(|()| fs::write(&path, answer)));
    }
    works
}

/// Tries it beside a fresh upper; everything goes with that.
fn attempt(vault: &Vault) -> Result<bool> {
    let upper = vault.begin_upper(&vault.head()?.root).map_err(MountError::from)?;
    let scratch = upper.work_dir().with_file_name("try");
    fs::create_dir(&scratch).map_err(failed)?;
    Ok(try_data_layers(&scratch)?)
}

/// Whether a file is shown whose bytes lie in another layer, tried in an empty directory.
pub fn try_data_layers(scratch: &Path) -> Result<bool, SandboxError> {
    let make = || -> std::io::Result<()> {
        for name in ["lower", "data", "upper", "work"] {
            fs::create_dir(scratch.join(name))?;
        }
        File::create(scratch.join("data/bytes"))?.write_all(BYTES)?;
        let stub = File::create(scratch.join("lower").join(NAME))?;
        stub.set_len(BYTES.len() as u64)?;
        rustix::fs::fsetxattr(&stub, "user.overlay.metacopy", b"", XattrFlags::empty())?;
        let place = b"/bytes";
        Ok(rustix::fs::fsetxattr(&stub, "user.overlay.redirect", place, XattrFlags::empty())?)
    };
    make().map_err(failed)?;
    let layers = Overlay {
        directory: scratch.to_owned(),
        lower: vec!["lower".into()],
        data: vec!["data".into()],
        upper: Some(UpperDirectories { directory: "upper".into(), work: "work".into() }),
        look_up: Vec::new(),
    };
    Ok(read_through(layers, NAME)? == BYTES)
}

fn failed(error: std::io::Error) -> SandboxError {
    let errno = Errno::from_io_error(&error).unwrap_or(Errno::IO);
    SandboxError::System { doing: "cannot try layers that hold bytes", errno }
}
