//! What becomes of a commit that failed.

use rusqlite::{Connection, TransactionBehavior};

use super::{Catalog, schema};
use crate::error::StoreError;

impl Catalog {
    /// Makes sure that a commit that failed never shows, and gives the error to report.
    ///
    /// SQLite writes the whole transaction to the WAL, syncs it, and only then says in the shared-memory file that it is there.
    /// Where the sync fails nobody sees the transaction, and the next one is written over it. Without a next one,
    /// though, it stays in the WAL complete, and the first process that opens the catalog again, and makes the shared-memory file
    /// anew from the WAL, takes it for committed. So a next one is written at once. Where that fails too, nobody can
    /// tell what the next open finds, and the error says so.
    pub(super) fn failed_commit(
        &self,
        connection: &mut Connection,
        source: rusqlite::Error,
    ) -> StoreError {
        let error = self.error(source);
        match overwrite(connection) {
            Ok(()) => {
                // What a failed sync was to write may never be written, though a later one succeeds. The log as it is read
                // still has it: moved into the database file it is written again.
                self.empty_log(connection);
                error
            }
            Err(_) => {
                StoreError::Undecided { path: self.pool.path.clone(), source: Box::new(error) }
            }
        }
    }
}

/// Commits a change that changes nothing, with a sync. The frame that it writes takes the place of the first one of what failed,
/// and a frame counts only after the one that it was written after.
fn overwrite(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // A row that is set to the value that it has is not written; this is, and it counts changes on the same page.
    transaction.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::OpenOptions;

    const NAMES: [&str; 2] = ["catalog.db", "catalog.db-wal"];

    fn has(catalog: &Catalog, key: &str) -> bool {
        catalog.read(|reader| reader.meta(key)).unwrap().is_some()
    }

    fn set(catalog: &Catalog, key: &str, length: usize) {
        catalog.write(|writer| writer.set_meta(key, &vec![7; length])).unwrap();
    }

    fn open(folder: &Path) -> Catalog {
        Catalog::open(&folder.join(NAMES[0]), OpenOptions::default()).unwrap()
    }

    /// A catalog as a failed sync leaves it: the log has a transaction more than those know who have the catalog open.
    struct Failed {
        folder: tempfile::TempDir,
        catalog: Catalog,
    }

    impl Failed {
        /// The transaction sets `lost` to so many bytes.
        fn new(length: usize) -> Self {
            let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let path = folder.path().join(NAMES[0]);
            let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
            set(&catalog, "kept", 1);
            drop(catalog);
            for name in NAMES {
                fs::copy(folder.path().join(name), other.path().join(name)).unwrap();
            }
            let catalog = open(folder.path());
            set(&open(other.path()), "lost", length);
            let log = |folder: &Path| -> PathBuf { folder.join(NAMES[1]) };
            let before = fs::metadata(log(folder.path())).unwrap().len();
            let longer = fs::read(log(other.path())).unwrap();
            let mut file = File::options().append(true).open(log(folder.path())).unwrap();
            file.write_all(&longer[usize::try_from(before).unwrap()..]).unwrap();
            Self { folder, catalog }
        }

        /// Whether a later process finds the transaction.
        fn shows(self) -> bool {
            assert!(!has(&self.catalog, "lost"), "it is seen though it was not committed");
            drop(self.catalog);
            let catalog = open(self.folder.path());
            catalog.check(true).unwrap();
            assert!(has(&catalog, "kept"));
            has(&catalog, "lost")
        }
    }

    #[test]
    fn a_transaction_whose_sync_failed_shows_unless_it_is_overwritten() {
        // Of one frame, and of many.
        for length in [1, 100_000] {
            assert!(
                Failed::new(length).shows(),
                "{length}: the log is not what a failed sync leaves"
            );
            let failed = Failed::new(length);
            overwrite(&mut failed.catalog.pool.take().unwrap()).unwrap();
            assert!(!failed.shows(), "{length}");
        }
    }

    #[test]
    fn an_error_says_whether_it_is_decided() {
        let failed = Failed::new(1);
        let error = || rusqlite::Error::ExecuteReturnedResults;
        let decided =
            failed.catalog.failed_commit(&mut failed.catalog.pool.take().unwrap(), error());
        assert!(matches!(decided, StoreError::Sqlite { .. }), "{decided:?}");
        assert!(!failed.shows());

        let failed = Failed::new(1);
        failed.catalog.pool.take().unwrap().pragma_update(None, "query_only", true).unwrap();
        let undecided =
            failed.catalog.failed_commit(&mut failed.catalog.pool.take().unwrap(), error());
        assert!(matches!(undecided, StoreError::Undecided { .. }), "{undecided:?}");
        assert!(failed.shows());
    }
}
