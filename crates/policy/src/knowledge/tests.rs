//! The tables lead to everything that is in them, and nothing is lost or taken for harmless where they are broken.

use std::ops::Range;

use super::reader::Reader;
use super::*;

/// A short program with options of all kinds, and one with subcommands.
const PROGRAMS: [&str; 2] = ["sort", "rustup"];

/// The number of a program, and where it lies in the tables.
fn lies(index: &Index, name: &str) -> (usize, Range<usize>) {
    let (_, number) = index.find(name).unwrap();
    let offset = u32::from_le_bytes(index.tools[number]).try_into().unwrap();
    let mut reader = Reader::record(&index.body[offset..]).unwrap();
    reader.tool().unwrap();
    (number, TABLES.len() - index.body.len() + offset..TABLES.len() - reader.rest().len())
}

/// What the tables say of a program, for comparing.
fn told(knowledge: &Knowledge, name: &str) -> String {
    format!("{:?}", knowledge.program(name))
}

#[test]
fn every_name_is_found_and_what_it_leads_to_decodes() {
    let index = Index::open(TABLES).unwrap();
    let text = |row| std::str::from_utf8(index.name(row).unwrap()).unwrap();
    let names: Vec<&str> = index.names.iter().map(text).collect();
    assert!(names.len() > 1000 && names.is_sorted(), "{} names", names.len());
    for name in names {
        let (found, number) = index.find(name).unwrap();
        assert_eq!(found, name);
        assert!(index.tool(number).is_some(), "{name} does not decode");
        assert!(!std::ptr::eq(program(name).unwrap().1, &unreadable::TOOL), "{name}");
    }
    assert!(index.variables().is_some_and(|variables| variables.len() > 100));
    assert!(index.places().is_some_and(|places| places.len() > 20));
}

#[test]
fn a_tool_is_decoded_once_for_all_its_names() {
    let (first, tool) = program("python3").unwrap();
    let (second, same) = program("python").unwrap();
    assert_eq!((first, second), ("python3", "python"));
    assert!(std::ptr::eq(tool, same));
    assert!(std::ptr::eq(tool, program("python3.12").unwrap().1));
}

#[test]
fn what_is_not_there_is_not_found() {
    for name in ["", "a", "zzzzzz", "sor", "sortt", "sort9", "é"] {
        assert!(program(name).is_none(), "{name}");
    }
}

#[test]
fn tables_that_end_too_early_are_an_error() {
    let whole = Index::open(TABLES).unwrap();
    for name in PROGRAMS {
        let (number, bytes) = lies(&whole, name);
        for end in bytes.clone() {
            let index = Index::open(&TABLES[..end]).unwrap();
            assert!(index.tool(number).is_none(), "{name} without its last {}", bytes.end - end);
        }
        assert!(Index::open(&TABLES[..bytes.end]).unwrap().tool(number).is_some());
    }
    for end in 0..16 {
        assert!(Index::open(&TABLES[..end]).is_none(), "{end}");
    }
}

#[test]
fn whatever_is_lost_nothing_is_harmless_for_it() {
    let whole = Knowledge::new(TABLES);
    let right = told(&whole, "sort");
    for end in (0..TABLES.len()).step_by(499) {
        let cut = Knowledge::new(&TABLES[..end]);
        let found = told(&cut, "sort");
        // A program that is not known is at least mutating too.
        let closed = cut.program("sort").is_none_or(|(_, tool)| !tool.is.is_read_only());
        assert!(found == right || closed, "{end}: {found}");
        assert!(cut.variables().iter().any(|variable| variable.fits("LD_PRELOAD")), "{end}");
        assert!(cut.places().iter().any(|place| place.path.starts_with("etc")), "{end}");
    }
}

#[test]
fn wrong_bytes_are_refused_or_read_as_something_else() {
    let index = Index::open(TABLES).unwrap();
    for name in PROGRAMS {
        let (_, place) = lies(&index, name);
        let right = &TABLES[place];
        let spoilt = |at: usize| {
            let mut bytes = right.to_vec();
            bytes[at] ^= 0xff;
            Reader::record(bytes.leak())?.tool()
        };
        let refused = (0..right.len()).filter(|at| spoilt(*at).is_none()).count();
        assert!(refused > right.len() / 2, "{name}: {refused} of {}", right.len());
    }
}

#[test]
fn subcommands_lie_only_so_deep_in_each_other() {
    // Each level says: no options that matter, one subcommand.
    let bytes: &[u8] = [0, 1].repeat(1 << 20).leak();
    assert!(Reader::new(bytes).tool().is_none());
}
