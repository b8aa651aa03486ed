//! Hashes over rows, and tallies over tables: a changed column, a lost row and one too many are found.

use std::path::Path;
use std::sync::LazyLock;

use rusqlite::types::{ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Params, Row, params_from_iter};

use super::tables::{BEFORE_SESSIONS, META, TABLES, Table};
use crate::error::{StoreError, sqlite_error};
use crate::id::Id;
use crate::object::Hash;

/// The key of the `meta` table that holds the tallies of all tables.
pub(super) const TALLIES: &str = "rows";

/// The length of one tally: a count and a hash.
const TALLY: usize = 8 + 32;

/// What every hash over a row begins with: deriving it takes as long as hashing a short row.
static ROW: LazyLock<blake3::Hasher> =
    LazyLock::new(|| blake3::Hasher::new_derive_key("offshoot v1 row"));

/// The hash over one row.
pub(super) fn sum_of<'v>(table: &Table, values: impl Iterator<Item = ValueRef<'v>>) -> Hash {
    let mut hasher = ROW.clone();
    let mut bytes = |tag: u8, bytes: &[u8]| {
        hasher.update(&[tag]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    bytes(0, table.name.as_bytes());
    for value in values {
        match value {
            ValueRef::Null => bytes(1, &[]),
            ValueRef::Integer(number) => bytes(2, &number.to_le_bytes()),
            ValueRef::Real(number) => bytes(3, &number.to_le_bytes()),
            ValueRef::Text(text) => bytes(4, text),
            ValueRef::Blob(blob) => bytes(5, blob),
        }
    }
    *hasher.finalize().as_bytes()
}

/// The hash over a value that is kept apart from its row.
pub(super) fn sum_apart(bytes: &[u8]) -> Hash {
    blake3::derive_key("offshoot v1 row apart", bytes)
}

/// Fails where a row is not what its hash says. The row starts with the columns of its table and their hash.
pub(super) fn verify(table: &Table, row: &Row<'_>, path: &Path) -> Result<Hash, StoreError> {
    let count = table.columns.len();
    let values: Result<Vec<ValueRef<'_>>, _> = (0..count).map(|at| row.get_ref(at)).collect();
    let values = values.map_err(sqlite_error(path))?;
    let found = sum_of(table, values.iter().copied());
    let recorded = row.get_ref(count).map_err(sqlite_error(path))?;
    if recorded.as_blob().is_ok_and(|recorded| recorded == found) {
        return Ok(found);
    }
    let names: Vec<String> = table.shown.iter().filter_map(|at| display(&values[*at])).collect();
    Err(damaged_row(table, &names.join(" "), path))
}

/// Fails where the value that is kept apart, in the column after the hash, is not what the row says.
pub(super) fn verify_apart(table: &Table, row: &Row<'_>, path: &Path) -> Result<(), StoreError> {
    let Some((_, hashed)) = table.apart else { return Ok(()) };
    let value = |at: usize| row.get_ref(at).map_err(sqlite_error(path));
    let (apart, recorded) = (value(table.columns.len() + 1)?, value(hashed)?);
    let right = apart
        .as_bytes()
        .is_ok_and(|apart| recorded.as_blob().is_ok_and(|recorded| recorded == sum_apart(apart)));
    match right {
        true => Ok(()),
        false => Err(damaged_row(table, &display(&value(0)?).unwrap_or_default(), path)),
    }
}

fn damaged_row(table: &Table, name: &str, path: &Path) -> StoreError {
    let detail = format!("the record of {} {name} is not what its hash says", table.noun);
    StoreError::Damaged { path: path.to_owned(), detail }
}

/// A value that names a row.
fn display(value: &ValueRef<'_>) -> Option<String> {
    Some(match value {
        ValueRef::Null => return None,
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).escape_debug().to_string(),
        ValueRef::Blob(blob) => match <[u8; 16]>::try_from(*blob) {
            Ok(id) => Id::from_bytes(id).to_string(),
            Err(_) => blob.iter().map(|byte| format!("{byte:02x}")).collect(),
        },
    })
}

/// How many rows a table has, and all their hashes in one: in whatever order rows come and go, what remains is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) count: u64,
    hash: Hash,
}

impl Tally {
    pub(super) fn add(&mut self, sum: &Hash) {
        self.count = self.count.wrapping_add(1);
        self.mix(sum);
    }

    fn remove(&mut self, sum: &Hash) {
        self.count = self.count.wrapping_sub(1);
        self.mix(sum);
    }

    fn mix(&mut self, sum: &Hash) {
        self.hash.iter_mut().zip(sum).for_each(|(mine, other)| *mine ^= other);
    }
}

/// The tallies of all tables.
pub(super) type Tallies = [Tally; TABLES.len()];

/// Puts rows in and takes them out, and keeps the tallies. The tallies are written by [`save`](Self::save).
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    tallies: Tallies,
    changed: bool,
}

impl Ledger {
    /// Goes on from the tallies that are recorded.
    pub(crate) fn open(connection: &Connection, path: &Path) -> Result<Self, StoreError> {
        Ok(Self { tallies: read(connection, path)?, changed: false })
    }

    /// Adds a row: the columns of its table, and after them the one that is kept apart, if the table has one.
    pub(crate) fn insert(
        &mut self,
        connection: &Connection,
        table: &Table,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<()> {
        let values: Vec<ToSqlOutput<'_>> =
            values.iter().map(|value| value.to_sql()).collect::<Result<_, _>>()?;
        let covered = values.iter().take(table.columns.len());
        let sum = sum_of(table, covered.map(as_ref).collect::<Result<Vec<_>, _>>()?.into_iter());
        let names = table.columns.iter().copied().chain(table.apart.map(|(name, _)| name));
        let mut names: Vec<&str> = names.collect();
        names.push("sum");
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {} ({}) VALUES ({marks})", table.name, names.join(", "));
        let hash = ToSqlOutput::Borrowed(ValueRef::Blob(&sum));
        connection.prepare_cached(&sql)?.execute(params_from_iter(values.iter().chain([&hash])))?;
        self.tally(table).add(&sum);
        Ok(())
    }

    /// Removes the rows that meet a condition.
    pub(crate) fn delete(
        &mut self,
        connection: &Connection,
        table: &Table,
        condition: &str,
        params: impl Params,
    ) -> rusqlite::Result<()> {
        let sql = format!("DELETE FROM {} WHERE {condition} RETURNING sum", table.name);
        let mut statement = connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params)?;
        while let Some(row) = rows.next()? {
            // A hash that is damaged does not fit the tally, which a check says.
            self.tally(table).remove(&row.get(0).unwrap_or_default());
        }
        Ok(())
    }

    /// Adds a row in place of the one that has its key.
    pub(crate) fn replace(
        &mut self,
        connection: &Connection,
        table: &Table,
        values: &[&dyn ToSql],
    ) -> rusqlite::Result<()> {
        let key: Vec<&dyn ToSql> = table.key.iter().map(|at| values[*at]).collect();
        self.delete(connection, table, &table.has_key(), params_from_iter(key))?;
        self.insert(connection, table, values)
    }

    /// Says what is in a table where that was changed by other means.
    pub(super) fn set(&mut self, table: &Table, tally: Tally) {
        *self.tally(table) = tally;
    }

    /// Says that a table has no rows here.
    pub(crate) fn clear(&mut self, table: &Table) {
        self.set(table, Tally::default());
    }

    /// Writes the tallies, where there is something to write.
    pub(crate) fn save(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if !std::mem::take(&mut self.changed) {
            return Ok(());
        }
        let mut value = Vec::with_capacity(TALLY * self.tallies.len());
        for tally in &self.tallies {
            value.extend_from_slice(&tally.count.to_le_bytes());
            value.extend_from_slice(&tally.hash);
        }
        let key = ValueRef::Text(TALLIES.as_bytes());
        let sum = sum_of(&META, [key, ValueRef::Blob(&value)].into_iter());
        let sql = "INSERT INTO meta (key, value, sum) VALUES (?1, ?2, ?3)
                   ON CONFLICT (key) DO UPDATE SET value = excluded.value, sum = excluded.sum";
        connection.prepare_cached(sql)?.execute(rusqlite::params![TALLIES, value, sum])?;
        Ok(())
    }

    fn tally(&mut self, table: &Table) -> &mut Tally {
        self.changed = true;
        &mut self.tallies[table.place()]
    }
}

/// The tallies as they are recorded.
pub(super) fn read(connection: &Connection, path: &Path) -> Result<Tallies, StoreError> {
    let lost = || {
        let detail = "the numbers of rows are not recorded".to_owned();
        StoreError::Damaged { path: path.to_owned(), detail }
    };
    let sql = "SELECT key, value, sum FROM meta WHERE key = ?1";
    let mut statement = connection.prepare_cached(sql).map_err(sqlite_error(path))?;
    let mut rows = statement.query([TALLIES]).map_err(sqlite_error(path))?;
    let row = rows.next().map_err(sqlite_error(path))?.ok_or_else(lost)?;
    verify(&META, row, path)?;
    let value: Vec<u8> = row.get(1).map_err(sqlite_error(path))?;
    decode(&value).ok_or_else(lost)
}

fn decode(value: &[u8]) -> Option<Tallies> {
    let (parts, rest) = value.as_chunks::<TALLY>();
    let mut tallies = Tallies::default();
    let is_known = [BEFORE_SESSIONS, tallies.len()].contains(&parts.len());
    if !is_known || !rest.is_empty() {
        return None;
    }
    for (tally, part) in tallies.iter_mut().zip(parts) {
        let (count, hash) = part.split_at(8);
        *tally = Tally {
            count: u64::from_le_bytes(count.try_into().ok()?),
            hash: hash.try_into().ok()?,
        };
    }
    Some(tallies)
}

/// Computes the hashes of all rows anew, and the tallies.
pub(super) fn fill(connection: &Connection) -> rusqlite::Result<()> {
    let mut ledger = Ledger::default();
    connection.execute("DELETE FROM meta WHERE key = ?1", [TALLIES])?;
    for table in TABLES {
        if let Some((apart, at)) = table.apart {
            fill_apart(connection, table, apart, table.columns[at])?;
        }
        let mut tally = Tally::default();
        for (key, sum) in sums(connection, table)? {
            let sql = format!(
                "UPDATE {} SET sum = ?{} WHERE {}",
                table.name,
                key.len() + 1,
                table.has_key()
            );
            let values = key.into_iter().chain([Value::Blob(sum.to_vec())]);
            connection.prepare_cached(&sql)?.execute(params_from_iter(values))?;
            tally.add(&sum);
        }
        ledger.set(table, tally);
    }
    ledger.save(connection)
}

/// The key of each row and what its hash should be.
fn sums(connection: &Connection, table: &Table) -> rusqlite::Result<Vec<(Vec<Value>, Hash)>> {
    let sql = format!("SELECT {} FROM {}", table.columns.join(", "), table.name);
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([], |row| {
        let values: Result<Vec<ValueRef<'_>>, _> =
            (0..table.columns.len()).map(|at| row.get_ref(at)).collect();
        let values = values?;
        let key = table.key.iter().map(|at| Value::try_from(values[*at]));
        let key = key.collect::<Result<_, _>>().map_err(rusqlite::Error::from)?;
        Ok((key, sum_of(table, values.into_iter())))
    })?;
    rows.collect()
}

fn fill_apart(
    connection: &Connection,
    table: &Table,
    apart: &str,
    column: &str,
) -> rusqlite::Result<()> {
    let key = table.columns[table.key[0]];
    let mut statement =
        connection.prepare(&format!("SELECT {key}, {apart} FROM {}", table.name))?;
    let rows = statement.query_map([], |row| {
        let hash = row.get_ref(1)?.as_bytes().map(sum_apart);
        Ok((row.get::<_, Value>(0)?, hash.map_err(rusqlite::Error::from)?))
    })?;
    let rows: Vec<(Value, Hash)> = rows.collect::<Result<_, _>>()?;
    let sql = format!("UPDATE {} SET {column} = ?2 WHERE {key} = ?1", table.name);
    let mut update = connection.prepare(&sql)?;
    for (key, hash) in rows {
        update.execute(rusqlite::params![key, hash])?;
    }
    Ok(())
}

fn as_ref<'a>(value: &'a ToSqlOutput<'_>) -> rusqlite::Result<ValueRef<'a>> {
    match value {
        ToSqlOutput::Borrowed(value) => Ok(*value),
        ToSqlOutput::Owned(value) => Ok(value.into()),
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}
