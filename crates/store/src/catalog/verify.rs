//! Checking every row against its hash, every table against its tally, and the tables themselves.

use rusqlite::TransactionBehavior;

use super::reader::Reader;
use super::sums::{self, Tally};
use super::tables::{LINKS, META, STACKS, TABLES, Table};
use super::writer::Writer;
use super::{Catalog, schema};
use crate::error::{StoreError, sqlite_error};

/// At most so many damaged rows of a table are named one by one.
const MOST_NAMED: usize = 20;

impl Reader<'_> {
    /// What is wrong with the rows of all tables, each in a line. Nothing is said about a catalog of an older format, whose rows
    /// have no hashes.
    pub fn check_rows(&self) -> Result<Vec<String>, StoreError> {
        if !self.has_sums()? {
            return Ok(Vec::new());
        }
        let mut problems = self.schema_problems()?;
        let recorded = sums::read(self.connection, self.path);
        if let Err(error) = &recorded {
            problems.push(error.to_string());
        }
        for table in TABLES {
            match self.count(table) {
                Ok(counted) => {
                    let expected = recorded.as_ref().ok().map(|all| all[table.place()]);
                    problems.extend(self.table_problems(table, &counted, expected));
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems.extend(self.sequence_problems()?);
        problems.dedup();
        Ok(problems)
    }

    /// Verifies every row of a table. The row with the tallies counts for none.
    fn count(&self, table: &Table) -> Result<Counted, StoreError> {
        let mut counted = Counted::default();
        self.visit(table, true, "", [], |row, verified| match verified {
            Ok(sum) => {
                let is_tally = table.name == META.name
                    && row.get_ref(0).is_ok_and(|key| key.as_str() == Ok(sums::TALLIES));
                if !is_tally {
                    counted.tally.add(&sum);
                }
            }
            Err(error) => counted.damaged.push(error.to_string()),
        })?;
        Ok(counted)
    }

    fn table_problems(
        &self,
        table: &Table,
        counted: &Counted,
        expected: Option<Tally>,
    ) -> Vec<String> {
        let (damaged, more) = (&counted.damaged, counted.damaged.len().saturating_sub(MOST_NAMED));
        let mut problems: Vec<String> = damaged.iter().take(MOST_NAMED).cloned().collect();
        if more > 0 {
            problems.push(format!("and {more} more records of table {}", table.name));
        }
        // With a row that is damaged the tally cannot be right.
        if let Some(expected) =
            expected.filter(|tally| damaged.is_empty() && counted.tally != *tally)
        {
            let (found, expected) = (counted.tally.count, expected.count);
            let path = self.path.display();
            problems.push(match found == expected {
                true => format!("{path} is damaged: table {} has other rows than recorded", table.name),
                false => format!(
                    "{path} is damaged: table {} has {found} rows, not the {expected} that are recorded",
                    table.name
                ),
            });
        }
        problems
    }

    fn schema_problems(&self) -> Result<Vec<String>, StoreError> {
        let error = || sqlite_error(self.path);
        let expected = schema::expected(self.version()?).map_err(error())?;
        let found = schema::found(self.connection).map_err(error())?;
        let path = self.path.display();
        let lost = expected.iter().filter(|row| !found.contains(row)).map(|(kind, name, ..)| {
            format!("{path} is damaged: {kind} {name} is not defined as it should be")
        });
        let strange = found.iter().filter(|(kind, name, ..)| {
            !expected.iter().any(|(other, known, ..)| other == kind && known == name)
        });
        let strange = strange.map(|(kind, name, ..)| {
            format!("{path} is damaged: it has {kind} {}, which is not known", name.escape_debug())
        });
        Ok(lost.chain(strange).collect())
    }

    /// Numbers go on from where SQLite keeps them.
    fn sequence_problems(&self) -> Result<Vec<String>, StoreError> {
        let mut problems = Vec::new();
        // Audit events may have been removed from the start.
        let removed = "coalesce(min(seq) - 1, 0)";
        for (table, before) in [("operations", "0"), ("audit", removed)] {
            let sql = format!(
                "SELECT (SELECT coalesce(max(seq), 0) FROM {table}),
                        (SELECT {before} + count(*) FROM {table}),
                        (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = '{table}')"
            );
            let found: Option<(i64, i64, i64)> =
                self.one(&sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            if found.is_some_and(|(last, count, next)| last != count || next != last) {
                let path = self.path.display();
                problems
                    .push(format!("{path} is damaged: table {table} is not numbered throughout"));
            }
        }
        // What sessions keep may be removed from the end, and no place is used again.
        let sql = "SELECT (SELECT coalesce(max(seq), 0) FROM session_contents),
                          (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'session_contents')";
        let found: Option<(i64, i64)> = match self.version()? >= schema::HAS_SESSIONS {
            true => self.one(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?,
            false => None,
        };
        if found.is_some_and(|(last, next)| next < last) {
            let path = self.path.display();
            let problem = "is damaged: table session_contents is not numbered throughout";
            problems.push(format!("{path} {problem}"));
        }
        Ok(problems)
    }
}

/// What is in a table.
#[derive(Default)]
struct Counted {
    tally: Tally,
    damaged: Vec<String>,
}

impl Writer<'_> {
    /// Removes the damaged rows of the tables that are made again from others where something is missing. Returns how many.
    pub fn remove_damaged_caches(&mut self) -> Result<u64, StoreError> {
        let mut removed = 0;
        for table in [&STACKS, &LINKS] {
            let mut damaged: Vec<Vec<u8>> = Vec::new();
            self.visit(table, false, "", [], |row, verified| {
                if verified.is_err() {
                    damaged.extend(
                        row.get_ref(0).ok().and_then(|key| Some(key.as_bytes().ok()?.to_vec())),
                    );
                }
            })?;
            for key in &damaged {
                self.delete(table, &table.has_key(), [key])?;
            }
            removed += damaged.len() as u64;
            let counted = self.count(table)?;
            self.set_tally(table, counted.tally);
        }
        Ok(removed)
    }
}

impl Catalog {
    /// Counts rows anew where the numbers of rows are not recorded or not legible; says whether they were.
    pub fn restore_tallies(&self) -> Result<bool, StoreError> {
        let (_writing, mut connection) = (self.pool.turn(), self.pool.take()?);
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|error| self.error(error))?;
        if sums::read(&transaction, &self.pool.path).is_ok() {
            return Ok(false);
        }
        let reader = Reader::new(&transaction, &self.pool.path);
        let mut ledger = sums::Ledger::default();
        for table in TABLES {
            ledger.set(table, reader.count(table)?.tally);
        }
        ledger.save(&transaction).map_err(|error| self.error(error))?;
        transaction.commit().map_err(|error| self.error(error))?;
        Ok(true)
    }
}
