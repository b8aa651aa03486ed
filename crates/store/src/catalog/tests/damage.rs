//! Rows that are changed, lost or doubled, tables that are not what they were, and logs that were cut short.

use super::*;

/// Everything that is wrong with the rows of a catalog.
fn row_problems(path: &Path) -> Vec<String> {
    let catalog = Catalog::open(path, OpenOptions::default()).unwrap();
    catalog.read(|reader| reader.check_rows()).unwrap()
}

#[test]
fn rows_of_an_older_format_get_hashes() {
    let (_folder, path) = scratch();
    let old = first_format(&path);
    old.execute("INSERT INTO refs VALUES ('workspace', '1', '', 'a', 'x')", []).unwrap();
    old.execute("INSERT INTO meta VALUES ('vault', x'00')", []).unwrap();
    old.execute_batch(schema::VERSION_2).unwrap();
    let command = "INSERT INTO execs VALUES
        (x'00000000000000000000000000000007', NULL, NULL, 1, 2, 'completed', 'true', 0, NULL, 0, NULL, NULL, '{}', '{\"a\":1}')";
    old.execute(command, []).unwrap();
    old.pragma_update(None, "user_version", 2).unwrap();
    drop(old);
    assert_eq!(row_problems(&path), Vec::<String>::new());
    let catalog = Catalog::open(&path, OpenOptions::default()).unwrap();
    let id = catalog.read(|reader| reader.execs(None, None, 9)).unwrap()[0].id;
    let found = catalog.read(|reader| reader.exec(&id)).unwrap().unwrap();
    assert_eq!((found.command.as_str(), found.envelope.as_deref()), ("true", Some("{\"a\":1}")));
    let one = [change("1", Some(named("a", "x")), None)];
    apply(&catalog, &one).unwrap();
    assert_eq!(row_problems(&path), Vec::<String>::new());
}

#[test]
fn a_row_that_is_changed_lost_or_doubled_is_found() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    for name in ["a", "b"] {
        apply(&catalog, &[change(name, None, Some(named(name, "x")))]).unwrap();
    }
    let row = StackRow { root: [1; 32], layers: vec![Id::at(1)], data: Vec::new() };
    catalog.write(|writer| writer.set_stack(&row)).unwrap();
    assert_eq!(row_problems(&path), Vec::<String>::new());
    let (other, found) = (Connection::open(&path).unwrap(), || row_problems(&path).join("\n"));
    let sql = |text: &str| other.execute(text, []).unwrap();

    sql("UPDATE refs SET value = 'y' WHERE id = 'a'");
    let read = catalog.read(|reader| reader.get_ref(&key("a")));
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
    assert!(found().contains("ref workspace a a"), "{}", found());
    sql("UPDATE refs SET value = 'x' WHERE id = 'a'");
    sql("CREATE TABLE kept AS SELECT * FROM refs");
    assert!(found().contains("kept"), "{}", found());
    sql("DELETE FROM refs WHERE id = 'b'");
    assert!(found().contains("table refs has 1 rows, not the 2"), "{}", found());
    sql("INSERT INTO refs SELECT * FROM kept WHERE id = 'b'");
    sql("DROP TABLE kept");
    assert_eq!(found(), "");

    // What is made again from others can be mended.
    sql("UPDATE stacks SET layers = x''");
    assert!(found().contains("stack of root 0101"), "{}", found());
    assert_eq!(catalog.write(|writer| writer.remove_damaged_caches()).unwrap(), 1);
    assert_eq!(found(), "");
    sql("UPDATE meta SET value = x'00' WHERE key = 'rows'");
    let write = apply(&catalog, &[]);
    assert!(matches!(write, Err(StoreError::Damaged { .. })), "{write:?}");
    assert!(catalog.restore_tallies().unwrap());
    assert!(!catalog.restore_tallies().unwrap());
    assert_eq!(found(), "");
}

#[test]
fn tables_that_are_not_what_they_were_are_damage() {
    let (_folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    Connection::open(&path).unwrap().execute_batch("ALTER TABLE refs RENAME TO rags").unwrap();
    let read = catalog.read(|reader| reader.all_refs());
    assert!(matches!(read, Err(StoreError::Damaged { .. })), "{read:?}");
    let problems = row_problems(&path).join("\n");
    assert!(problems.contains("table refs") && problems.contains("table rags"), "{problems}");
}

fn operation(id: Id) -> NewOperation {
    NewOperation {
        id,
        time_ms: 1,
        actor: "{}".to_owned(),
        kind: "test".to_owned(),
        scope: String::new(),
        summary: String::new(),
        reverts: None,
        changes: "[]".to_owned(),
    }
}

/// A row of another catalog is whole in itself, and its number is right: only the tally of its table tells.
#[test]
fn a_row_that_came_from_elsewhere_is_found() {
    let made = |summary: &str| {
        let (folder, path) = scratch();
        let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
        let added = catalog.write(|writer| {
            let new = NewOperation { summary: summary.to_owned(), ..operation(Id::at(7)) };
            writer.add_operation(&new)?;
            writer.add_audit(1, &new.id, summary, |_| [0; 32])
        });
        added.unwrap();
        (folder, path)
    };
    let ((_here, own), (_there, other)) = (made("own"), made("another's"));
    assert_eq!(row_problems(&own), Vec::<String>::new());
    for table in ["operations", "audit"] {
        let connection = Connection::open(&own).unwrap();
        let attach = format!("ATTACH '{}' AS other", other.display());
        connection.execute_batch(&attach).unwrap();
        let swap = |from: &str| {
            let sql = format!("REPLACE INTO main.{table} SELECT * FROM {from}.{table}");
            assert_eq!(connection.execute(&sql, []).unwrap(), 1);
        };
        let keep = format!("CREATE TEMP TABLE {table} AS SELECT * FROM main.{table}");
        connection.execute_batch(&keep).unwrap();
        swap("other");
        let problems = row_problems(&own).join("\n");
        assert!(problems.contains(&format!("table {table} has other rows")), "{problems}");
        swap("temp");
        assert_eq!(row_problems(&own), Vec::<String>::new(), "{table}");
    }
}

#[test]
fn a_log_that_was_cut_short_is_noticed() {
    let (folder, path) = scratch();
    let catalog = Catalog::create(&path, OpenOptions::default()).unwrap();
    let add = |catalog: &Catalog| -> Id {
        let added = catalog.write(|writer| {
            let id = writer.new_id();
            writer.add_operation(&operation(id))?;
            Ok::<Id, StoreError>(id)
        });
        added.unwrap()
    };
    let first = add(&catalog);
    let log = folder.path().join("catalog.db-wal");
    let before = std::fs::metadata(&log).unwrap().len();
    let second = add(&catalog);
    assert_eq!(catalog.cut_short().unwrap(), None);
    drop(catalog);
    // One byte of the last commit.
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[usize::try_from(before).unwrap() + 100] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    std::fs::remove_file(folder.path().join("catalog.db-shm")).unwrap();
    let catalog = Catalog::open(&path, OpenOptions::default()).unwrap();
    let lost = CutShort { ends: Some(first), acknowledged: second };
    assert_eq!(catalog.cut_short().unwrap(), Some(lost));
    assert_eq!(row_problems(&path), Vec::<String>::new(), "what is left is whole");
    // What is only ordered is not acknowledged.
    catalog.accept_loss().unwrap();
    assert_eq!(catalog.cut_short().unwrap(), None);
    let noted = std::fs::read(folder.path().join("newest")).unwrap();
    let ordered = catalog.write_ordered(|writer| {
        let id = writer.new_id();
        writer.add_operation(&operation(id))
    });
    ordered.unwrap();
    assert_eq!(std::fs::read(folder.path().join("newest")).unwrap(), noted);
}
