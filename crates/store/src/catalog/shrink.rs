//! Giving freed pages of the catalog back to the file system.

use rusqlite::Connection;

use super::Catalog;
use crate::error::StoreError;

/// `PRAGMA auto_vacuum` of a catalog that gives pages back when it is asked to.
const INCREMENTAL: i64 = 2;

impl Catalog {
    /// Gives up to `pages` freed pages back; returns how many are left. A catalog that was made before this was possible is
    /// written anew where more than half of it is free, once, and left alone otherwise.
    pub fn shrink(&self, pages: u32) -> Result<u64, StoreError> {
        let (_writing, connection) = (self.pool.turn(), self.pool.take()?);
        let shrink = || -> rusqlite::Result<u64> {
            let free = number(&connection, "freelist_count")?;
            if number(&connection, "auto_vacuum")? != INCREMENTAL {
                if free * 2 > number(&connection, "page_count")? {
                    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")?;
                }
                return Ok(0);
            }
            let mut statement =
                connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
            // Every step frees a page.
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(u64::try_from(number(&connection, "freelist_count")?).unwrap_or(0))
        };
        let left = shrink().map_err(|error| self.error(error))?;
        match left {
            // What was moved about is counted twice until the log is emptied.
            0 => self.empty_log(&connection),
            _ => self.shorten_log(&connection),
        }
        Ok(left)
    }

    /// How many bytes the catalog takes on disk, with its log.
    pub fn bytes(&self) -> u64 {
        let mut log = self.pool.path.clone().into_os_string();
        log.push("-wal");
        let length = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |data| data.len());
        length(&self.pool.path) + length(log.as_ref())
    }
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}
