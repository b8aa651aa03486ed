//! One root, from being prepared to being captured.

use std::path::PathBuf;

use offshoot_store::ProcessMark;
use offshoot_vault::{CaptureWay, ExecNote, LeftoverShape, Vault};

use crate::driver::{After, Captured, Driver, Prepared};
use crate::error::Result;
use crate::request::MountRequest;
use crate::view::View;

/// One root that was prepared by one driver. It ends with exactly one of [`capture`](Self::capture),
/// [`abandon`](Self::abandon) and [`discard`](Self::discard).
#[derive(Debug)]
pub struct MountSession<'v> {
    vault: &'v Vault,
    driver: &'static dyn Driver,
    prepared: Box<dyn Prepared>,
    note: ExecNote,
}

impl<'v> MountSession<'v> {
    /// Prepares a root. Nobody sees it yet.
    pub fn prepare(
        vault: &'v Vault,
        request: &MountRequest,
        driver: &'static dyn Driver,
    ) -> Result<Self> {
        let prepared = driver.prepare(vault, request)?;
        let version = driver.version();
        let note = ExecNote {
            layers: prepared.layers(),
            copy: driver.shape(version) == Some(LeftoverShape::Tree),
            capture: Some(CaptureWay { driver: driver.name().to_string(), version }),
            read_only: request.read_only,
            ..request.note.clone()
        };
        Ok(Self { vault, driver, prepared, note })
    }

    /// The driver in use.
    pub fn driver(&self) -> &'static dyn Driver {
        self.driver
    }

    /// How the root appears.
    pub fn show(&mut self) -> Result<View> {
        self.prepared.show()
    }

    /// Notes beside the upper whose it is and how it is captured. Comes before anybody writes: what has no note was written by
    /// nobody. `init` is the process that none of the writers outlives.
    pub fn note(&mut self, init: ProcessMark) -> Result<()> {
        self.note.init = Some(init);
        Ok(self.prepared.upper().note(&self.note)?)
    }

    /// Where to keep what is printed meanwhile.
    pub fn output_file(&mut self) -> PathBuf {
        self.prepared.upper().output_file()
    }

    /// Where others can join whoever writes.
    pub fn door(&mut self) -> PathBuf {
        self.prepared.upper().door()
    }

    /// Makes a root of what was written. Nobody writes any more.
    pub fn capture(self, after: &After<'_>) -> Result<Captured> {
        self.prepared.capture(self.vault, after)
    }

    /// Gives up what did not come to an end that could be captured. Nobody writes any more. What was written is set aside, to be
    /// recovered.
    pub fn abandon(self) {
        self.prepared.abandon().abandon(self.vault);
    }

    /// Ends it where nothing was written, or could be.
    pub fn discard(self) {
        self.prepared.abandon().discard();
    }
}
