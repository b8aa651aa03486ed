//! Whether the kernel can use layers that only hold bytes for others.

use std::fs::{self, File};
use std::io::Write;

use offshoot_sandbox::{Overlay, SandboxError, read_through};
use offshoot_vault::Vault;
use rustix::fs::XattrFlags;

use crate::error::{MountError, Result};

/// Where the answer is kept while the machine runs.
const ANSWER: &str = "cache/data-layers";
/// What is to be found.
const BYTES: &[u8] = b"these bytes lie in another layer";
const NAME: &str = "file";

/// Whether this kernel finds the bytes of a file in a layer that only holds bytes, on the vault's file system. Found by trying,
/// once after each start of the machine: a kernel that does not know them may show zeros without a word.
pub fn data_layers_work(vault: &Vault) -> bool {
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
        Ok(found) => (found == BYTES, true),
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

/// Reads a file whose bytes are in another layer. Everything is made beside a fresh upper and goes with it.
fn attempt(vault: &Vault) -> Result<Vec<u8>> {
    let upper = vault.begin_upper(&vault.head()?.root)?;
    let beside = |name: &str| upper.work_dir().with_file_name(name);
    let make = || -> std::io::Result<()> {
        fs::create_dir(beside("lower"))?;
        fs::create_dir(beside("data"))?;
        File::create(beside("data").join("bytes"))?.write_all(BYTES)?;
        let stub = File::create(beside("lower").join(NAME))?;
        stub.set_len(BYTES.len() as u64)?;
        rustix::fs::fsetxattr(&stub, "user.overlay.metacopy", b"", XattrFlags::empty())?;
        let place = b"/bytes";
        Ok(rustix::fs::fsetxattr(&stub, "user.overlay.redirect", place, XattrFlags::empty())?)
    };
    make().map_err(|error| {
        let errno = rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO);
        MountError::from(SandboxError::System { doing: "cannot try layers that hold bytes", errno })
    })?;
    let name = |name: &str| format!("{}/{name}", upper.staged_name()).into();
    let layers = Overlay {
        directory: upper.layers_dir().to_owned(),
        lower: vec![name("lower")],
        data: vec![name("data")],
        upper: Some(offshoot_sandbox::Upper {
            directory: upper.fs_name().into(),
            work: upper.work_name().into(),
        }),
        look_up: Vec::new(),
    };
    Ok(read_through(layers, NAME)?)
}
