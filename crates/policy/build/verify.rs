//! Reads back what was written, with the reader of the crate.

use crate::Source;
use crate::index::Index;

/// Whether every tool is found by each of its names, and all can be read.
pub(crate) fn verify(sources: &[Source], tables: &'static [u8]) -> Result<(), String> {
    let index = Index::open(tables).ok_or("the tables cannot be opened")?;
    let tools = || sources.iter().flat_map(|source| &source.file.tool);
    if index.count() != tools().count() {
        return Err(format!("the tables have {} tools", index.count()));
    }
    for tool in tools() {
        for name in tool.names.split_whitespace() {
            let found = index.find(name).and_then(|(_, number)| index.tool(number));
            if found.is_none_or(|found| tool.names.split_whitespace().next() != Some(found.name)) {
                return Err(format!("{name}: the tables do not lead to it"));
            }
        }
    }
    index.variables().ok_or("the variables cannot be read")?;
    index.places().ok_or("the places cannot be read")?;
    Ok(())
}
