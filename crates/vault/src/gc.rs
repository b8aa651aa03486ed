//! Collecting garbage: what no ref, no kept operation and no running command reaches.
//!
//! Marking and packing go on beside everybody else. Only taking away closes the gate (see `gate`), a few milliseconds at a time,
//! and first marks what was committed since. Order is what makes a crash harmless: roots go before the nodes below them and those
//! before contents; packs are durable before anything names them; files go after the rows that named them.

mod bases;
pub(crate) mod caches;
mod chunks;
pub(crate) mod due;
pub(crate) mod layers;
pub(crate) mod mark;
mod outputs;
pub(crate) mod pack;
mod packs;
pub(crate) mod pins;
pub(crate) mod report;
mod session_marks;
mod sessions;
mod sweep;
mod window;

use std::time::Duration;

use offshoot_store::{Hash, Id, ObjectKind, StoreError};
use offshoot_tree::RootId;

use self::due::GcSchedule;
use self::mark::Marks;
use self::pins::Pins;
use self::report::{GcOptions, GcReport, Taken};
use self::window::Window;
use crate::actor::Actor;
use crate::error::Result;
use crate::gate::{COLLECTING, Closed};
use crate::refs::Checkpoint;
use crate::vault::Vault;

/// Between two moments with the gate closed it stays open for longer than those who wait for it sleep.
const REST: Duration = Duration::from_millis(3);
/// Freed pages of the catalog are given back so many at a time.
const PAGES: u32 = 256;

/// One collection on its way.
struct Collector<'v> {
    vault: &'v Vault,
    options: GcOptions,
    marks: Marks,
    window: Window,
    now_ms: u64,
    report: GcReport,
    /// What running commands build upon was looked at with the gate closed.
    pinned: bool,
    /// Roots that nothing needs are gone.
    roots_swept: bool,
}

impl Vault {
    /// Takes away what nothing needs; see [`GcOptions`] for what is needed. Others can go on meanwhile.
    pub fn collect(&self, options: &GcOptions, actor: &Actor) -> Result<GcReport> {
        if options.dry_run {
            let report = Collector::new(self, options)?.run()?;
            return Ok(report);
        }
        self.enter()?;
        let alone = self.take_alone(COLLECTING)?;
        self.collect_alone(options, actor, alone)
    }

    /// The same where nobody collects already and, by `schedule`, it is time; else nothing is done.
    pub fn collect_if_due(
        &self,
        options: &GcOptions,
        schedule: &GcSchedule,
        actor: &Actor,
    ) -> Result<Option<GcReport>> {
        self.enter()?;
        let Some(alone) = self.take_alone_now(COLLECTING)? else { return Ok(None) };
        if !self.gc_due(schedule)?.is_due(Id::random().time_ms()) {
            return Ok(None);
        }
        self.collect_alone(options, actor, alone).map(Some)
    }

    fn collect_alone(
        &self,
        options: &GcOptions,
        actor: &Actor,
        _alone: offshoot_store::file_lock::LockedFile,
    ) -> Result<GcReport> {
        self.note_begun()?;
        let mark = Id::random();
        let collector = Collector::new(self, options)?;
        let seq = collector.window.seq;
        self.lapse(&collector.window.lapsed, actor)?;
        self.forget_approvals(options, actor)?;
        let report = collector.run()?;
        self.record_gc(&report, actor)?;
        self.note_collected(mark, seq, &report)?;
        self.shrink()?;
        Ok(GcReport { bytes_after: self.bytes_on_disk()?, ..report })
    }

    /// Forgets approvals that were decided long ago; the log still tells of them.
    fn forget_approvals(&self, options: &GcOptions, actor: &Actor) -> Result<()> {
        let now = Id::random().time_ms();
        let kept = u64::try_from(options.keep_age.as_millis()).unwrap_or(u64::MAX);
        let mut old = self.approvals()?;
        old.retain(|approval| {
            let until = approval.created_ms.saturating_add(kept).max(approval.expires_ms);
            approval.state.is_final() && until < now
        });
        if old.is_empty() {
            return Ok(());
        }
        self.transact("gc", actor, |tx| {
            tx.summary(format!("forget {} approvals that were decided", old.len()));
            old.iter().try_for_each(|approval| tx.forget_approval(&approval.id))
        })?;
        Ok(())
    }

    /// Removes checkpoints that are kept no longer. From now on nothing names what they named.
    fn lapse(&self, checkpoints: &[Checkpoint], actor: &Actor) -> Result<()> {
        if checkpoints.is_empty() {
            return Ok(());
        }
        self.transact("gc", actor, |tx| {
            let mut names = Vec::new();
            for checkpoint in checkpoints {
                if tx.lapse_checkpoint(checkpoint)? {
                    names.push(serde_json::Value::from(checkpoint.id.to_string()));
                }
            }
            tx.record_always();
            tx.summary(format!("delete {} automatic checkpoints", names.len()));
            tx.detail("checkpoints", names);
            Ok(())
        })?;
        Ok(())
    }

    /// Gives the room of rows that were taken back to the file system.
    fn shrink(&self) -> Result<()> {
        loop {
            match self.catalog().shrink(PAGES) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                // Others are in the way; the next collection tries again.
                Err(StoreError::Busy { .. }) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// The log says when something was taken; it is not told where nothing was.
    fn record_gc(&self, report: &GcReport, actor: &Actor) -> Result<()> {
        let taken: Vec<_> =
            report.kinds().into_iter().filter(|(_, taken)| taken.count > 0).collect();
        if taken.is_empty() {
            return Ok(());
        }
        self.transact("gc", actor, |tx| {
            tx.record_always();
            tx.summary(format!("collect garbage: {} bytes freed", report.freed()));
            for (kind, taken) in taken {
                tx.detail(kind, taken.count);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// What the vault takes on disk, as far as it is recorded.
    pub fn bytes_on_disk(&self) -> Result<u64> {
        let recorded = self.read(|reader| {
            let layers: u64 = reader.layers()?.iter().map(|layer| layer.bytes).sum();
            let packs: u64 = reader.packs()?.iter().map(|pack| pack.bytes).sum();
            Ok(layers + packs)
        })?;
        Ok(recorded + self.catalog().bytes())
    }
}

impl<'v> Collector<'v> {
    fn new(vault: &'v Vault, options: &GcOptions) -> Result<Self> {
        // Moving content takes room before it gives any.
        let options = &GcOptions { pack: options.pack && !vault.is_tight(), ..*options };
        let now_ms = Id::random().time_ms();
        let mut marks = Marks::default();
        let pins = Pins::read(vault)?;
        let window = window::mark(vault, options, now_ms, &pins, &mut marks)?;
        let report = GcReport {
            kept_operations: window.operations.len() as u64,
            oldest_ms: window.oldest_ms,
            given_up: window.given_up,
            checkpoints: Taken { count: window.lapsed.len() as u64, bytes: 0 },
            bytes_before: vault.bytes_on_disk()?,
            ..GcReport::default()
        };
        let (pinned, roots_swept) = (false, false);
        Ok(Self { vault, options: *options, marks, window, now_ms, report, pinned, roots_swept })
    }

    fn run(mut self) -> Result<GcReport> {
        self.sessions()?;
        for kind in [ObjectKind::Root, ObjectKind::Node, ObjectKind::Blob] {
            self.sweep(kind)?;
            self.roots_swept = true;
        }
        self.outputs()?;
        self.layers()?;
        self.mark_chunks()?;
        self.sweep(ObjectKind::Chunk)?;
        self.packs()?;
        self.caches()?;
        self.leftovers()?;
        self.report.bytes_after = self.vault.bytes_on_disk()?;
        Ok(self.report)
    }

    /// Runs `work` with the gate closed and everything marked that was committed until then.
    fn closed<T>(&mut self, work: impl FnOnce(&mut Self, &Closed) -> Result<T>) -> Result<T> {
        // Most of what was committed since is marked before anybody has to wait.
        self.refresh()?;
        let closed = self.vault.close_gate()?;
        let marked = self.pin().and_then(|()| self.refresh()).and_then(|()| self.mark_stored());
        let done = marked.and_then(|()| work(self, &closed));
        self.report.longest_pause = self.report.longest_pause.max(closed.elapsed());
        drop(closed);
        // What is taken is written down first, and that must not take more room than there is.
        self.vault.catalog().shorten();
        std::thread::sleep(REST);
        done
    }

    /// Marks what running commands build upon, once. A command that was being started before had no note yet; one that starts
    /// later builds upon what a ref named meanwhile, which is marked.
    fn pin(&mut self) -> Result<()> {
        if !self.pinned {
            Pins::read(self.vault)?.accounted()?.mark(self.vault, &mut self.marks)?;
            self.pinned = true;
        }
        Ok(())
    }

    /// Marks roots that were stored since those that nothing needs went, though nothing names them: somebody looked at a folder
    /// and committed nothing. Whoever finds a root relies on everything beneath it.
    fn mark_stored(&mut self) -> Result<()> {
        let objects = self.vault.objects()?;
        let mut after: Option<Hash> = None;
        while self.roots_swept {
            let page = objects.backend().list(ObjectKind::Root, after.as_ref(), sweep::PAGE)?;
            let Some(last) = page.last() else { break };
            after = Some(*last);
            page.iter().try_for_each(|root| self.marks.root(objects, &RootId(*root)))?;
        }
        Ok(())
    }

    /// Marks what was committed since the last time.
    fn refresh(&mut self) -> Result<()> {
        window::refresh(self.vault, &mut self.window, &mut self.marks)
    }
}
