//! Small ext4 file systems in image files: to lose power, and to be full. Root only.
//!
//! A mount is made in a mount namespace of the calling thread's own. Other tests do not see it, and
//! the kernel takes it away with its loop device even if the process is killed. Programs that the
//! thread starts, and threads that it starts later, see it. `/proc/mounts` shows the main thread's
//! mounts; `/proc/thread-self/mounts` shows these.
//!
//! What a power cut leaves is what the kernel has handed to the device by then. The image is read as
//! it lies in its backing file, so written pages and a running transaction that nobody synced are not
//! in it. The kernel may write them back on its own, though: data after `vm.dirty_expire_centisecs`
//! (30 s by default), under memory pressure, and whenever anyone calls `sync(2)`, which reaches all
//! file systems; the journal at `commit=`, here 600 s. A case should thus take well under 30 s from
//! its first write to its cut, and no test may call `sync`. The device has no cache of its own: a
//! missing flush between two syncs is not found, a missing sync is.

use std::fs::{self, File};
use std::io;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{cell::Cell, thread};

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags};
use nix::sched::CloneFlags;
use rustix::fs::SeekFrom;
use tempfile::TempDir;

/// Below this size, blocks of 1 KiB leave more room; from it on, blocks are of 4 KiB as on most
/// disks, which attributes of more than 1 KiB need.
const SMALL: u64 = 16 << 20;

/// `noauto_da_alloc`: ext4 otherwise writes the new data of a file that is renamed over another, and
/// so hides that a program forgot to sync it.
const OPTIONS: &str = "loop,commit=600,noauto_da_alloc,noatime";

/// An ext4 image in a temporary directory, on a memory file system if there is one.
#[derive(Debug)]
pub struct LoopImage {
    shared: Arc<Shared>,
}

/// What image and mount have in common, gone with the last of the two.
#[derive(Debug)]
struct Shared {
    dir: TempDir,
    /// Two mounts of one file would be two caches of one disk.
    mounted: AtomicBool,
}

impl LoopImage {
    /// Makes an image of `size_bytes` with an empty file system; 4 MiB is about the least. About
    /// 1 MiB (4 MiB from 16 MiB of size on) is taken by the journal.
    pub fn create(size_bytes: u64) -> io::Result<Self> {
        let image = Self::blank()?;
        File::create(image.file())?.set_len(size_bytes)?;
        let (block, journal) =
            if size_bytes < SMALL { ("1024", "size=1") } else { ("4096", "size=4") };
        let mut mkfs = Command::new("mkfs.ext4");
        mkfs.args(["-q", "-F", "-m", "0", "-I", "256", "-b", block, "-J", journal])
            // Else a kernel thread goes on writing after the mount.
            .args(["-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"])
            .arg(image.file());
        succeed(&mut mkfs)?;
        Ok(image)
    }

    /// The image file.
    pub fn file(&self) -> PathBuf {
        self.shared.dir.path().join("image")
    }

    /// Mounts the file system, after replay of its journal if it was cut.
    pub fn mount(&self) -> io::Result<MountGuard> {
        private_mounts()?;
        let point = self.shared.dir.path().join("mnt");
        if self.shared.mounted.swap(true, Ordering::SeqCst) {
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, "image is mounted already"));
        }
        let mounted = mount_loop(&self.file(), &point);
        if mounted.is_err() {
            self.shared.mounted.store(false, Ordering::SeqCst);
        }
        mounted?;
        Ok(MountGuard { shared: Some(Arc::clone(&self.shared)), point, thread_bound: PhantomData })
    }

    /// A copy of the image as it is now, mounted or not: what a power cut at this moment would leave.
    /// The programs that write to it must be dead or stopped, else the copy is of no one moment.
    pub fn power_cut_copy(&self) -> io::Result<Self> {
        let copy = Self::blank()?;
        copy_with_holes(&File::open(self.file())?, &File::create(copy.file())?)?;
        Ok(copy)
    }

    fn blank() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("offshoot-image-");
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { builder.tempdir_in(memory)? } else { builder.tempdir()? };
        fs::create_dir(dir.path().join("mnt"))?;
        Ok(Self { shared: Arc::new(Shared { dir, mounted: AtomicBool::new(false) }) })
    }
}

/// A mounted [`LoopImage`]. Unmounted, and its loop device detached, when dropped.
///
/// It cannot leave its thread, because the mount exists in the namespace of that thread only.
#[derive(Debug)]
pub struct MountGuard {
    /// Empty once unmounted.
    shared: Option<Arc<Shared>>,
    point: PathBuf,
    thread_bound: PhantomData<*const ()>,
}

impl MountGuard {
    /// The top directory of the mounted file system.
    pub fn path(&self) -> &Path {
        &self.point
    }

    /// Unmounts, and fails if something still uses the file system. It is out of sight in any case.
    pub fn unmount(mut self) -> io::Result<()> {
        self.leave()
    }

    fn leave(&mut self) -> io::Result<()> {
        let Some(shared) = self.shared.take() else {
            return Ok(());
        };
        let mut result = Err(Errno::EBUSY);
        for _ in 0..100 {
            result = nix::mount::umount2(&self.point, MntFlags::UMOUNT_NOFOLLOW);
            if result != Err(Errno::EBUSY) {
                break;
            }
            // A process that was killed a moment ago keeps its files until the kernel is done with it.
            thread::sleep(Duration::from_millis(20));
        }
        if result.is_err() {
            nix::mount::umount2(&self.point, MntFlags::MNT_DETACH)?;
        }
        shared.mounted.store(false, Ordering::SeqCst);
        Ok(result?)
    }
}

impl Drop for MountGuard {
    fn drop(&mut self) {
        if let Err(error) = self.leave()
            && !thread::panicking()
        {
            panic!("{} was still in use at the end of its test: {error}", self.point.display());
        }
    }
}

/// Gives the calling thread mounts of its own, once, so that none it makes is seen elsewhere.
pub fn private_mounts() -> io::Result<()> {
    thread_local!(static PRIVATE: Cell<bool> = const { Cell::new(false) });
    if !PRIVATE.get() {
        nix::sched::unshare(CloneFlags::CLONE_NEWNS)?;
        let flags = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
        nix::mount::mount(None::<&str>, "/", None::<&str>, flags, None::<&str>)?;
        PRIVATE.set(true);
    }
    Ok(())
}

fn mount_loop(file: &Path, point: &Path) -> io::Result<()> {
    let mut command = Command::new("mount");
    command.args(["-t", "ext4", "-o", OPTIONS]).arg(file).arg(point);
    // Two programs that look for a free loop device at the same time may find the same one.
    for _ in 0..4 {
        if succeed(&mut command).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    succeed(&mut command)
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let output = command.stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let program = command.get_program().display();
    let message = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{program} ended with {}: {}", output.status, message.trim())))
}

fn copy_with_holes(from: &File, to: &File) -> io::Result<()> {
    let length = from.metadata()?.len();
    to.set_len(length)?;
    let mut buffer = vec![0; 1 << 20];
    let mut offset = 0;
    while offset < length {
        let Some(start) = next_data(from, offset)? else {
            break;
        };
        let end = rustix::fs::seek(from, SeekFrom::Hole(start))?;
        offset = start;
        while offset < end {
            let size = buffer.len().min((end - offset) as usize);
            from.read_exact_at(&mut buffer[..size], offset)?;
            to.write_all_at(&buffer[..size], offset)?;
            offset += size as u64;
        }
    }
    Ok(())
}

/// Where the next data at or after `offset` begins, if there is any.
fn next_data(file: &File, offset: u64) -> io::Result<Option<u64>> {
    match rustix::fs::seek(file, SeekFrom::Data(offset)) {
        Ok(start) => Ok(Some(start)),
        Err(rustix::io::Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
