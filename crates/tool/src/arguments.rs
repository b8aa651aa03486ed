//! The arguments of a call: read, repaired where there is one meaning only, and checked.

mod fit;
mod raw;
mod repair;
mod schema;

use serde_json::Value;

use crate::error::ToolRefusal;
use fit::Fitting;
pub(crate) use fit::closest;
pub use repair::Repair;
use schema::Schema;

/// More problems are counted.
const MOST_PROBLEMS: usize = 8;

/// Arguments that fit.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) value: Value,
    pub(crate) repairs: Vec<Repair>,
}

/// Reads, repairs and checks arguments.
pub(crate) fn prepare(schema: &Value, raw: &str) -> Result<Prepared, ToolRefusal> {
    let mut repairs = Vec::new();
    let value = raw::read(raw, &mut repairs)?;
    let mut fitting = Fitting::default();
    let schema = Schema::new(schema);
    let value = fitting.fit(schema, value, "");
    if !fitting.problems.is_empty() {
        let more = fitting.problems.len().saturating_sub(MOST_PROBLEMS);
        let mut told = fitting.problems;
        told.truncate(MOST_PROBLEMS);
        if more > 0 {
            told.push(format!("and {more} more"));
        }
        let message = format!("the arguments do not fit: {}", told.join("; "));
        let hint = schema.names().map(|names| format!("the arguments are: {names}"));
        return Err(ToolRefusal { message, hint });
    }
    repairs.append(&mut fitting.repairs);
    Ok(Prepared { value, repairs })
}

#[cfg(test)]
mod tests;
