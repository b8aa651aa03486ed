//! Values of JSON files that the agent shares with the user's own.

use std::path::Path;

use offshoot_profile::{HomePath, HomeRow, Preset};
use offshoot_protocol::HomeKeep;
use serde_json::{Map, Value};

use super::side::Side;

/// Larger files are no settings.
const LARGEST: u64 = 16 << 20;
/// What stands for the project in the name of a value.
const PROJECT: &str = "{project}";

/// Takes values from the user's files. What cannot be done is told.
pub(super) fn take(preset: &Preset, outside: &Side, inside: &Side, project: &Path) -> Vec<String> {
    each(preset, |row, path| carry((outside, inside), path, &row.take, row.lock.as_ref(), project))
}

/// Gives values back to them.
pub(super) fn give(preset: &Preset, inside: &Side, outside: &Side, project: &Path) -> Vec<String> {
    each(preset, |row, path| carry((inside, outside), path, &row.give, row.lock.as_ref(), project))
}

fn each(preset: &Preset, carry: impl Fn(&HomeRow, &HomePath) -> Result<(), String>) -> Vec<String> {
    let rows = preset.home.iter().filter(|row| row.keep == HomeKeep::Values);
    let paths = rows.flat_map(|row| row.paths.iter().map(move |path| (row, path)));
    paths.filter_map(|(row, path)| carry(row, path).err()).collect()
}

/// Carries values from one side to the other, where they differ.
fn carry(
    (from, to): (&Side, &Side),
    path: &HomePath,
    names: &[String],
    lock: Option<&HomePath>,
    project: &Path,
) -> Result<(), String> {
    let Some(source) = object(from, path)? else { return Ok(()) };
    let target = object(to, path)?.unwrap_or_default();
    let mut changed = target.clone();
    for name in names {
        let keys: Vec<String> = name
            .split('.')
            .map(|key| {
                if key == PROJECT { project.to_string_lossy().into_owned() } else { key.to_owned() }
            })
            .collect();
        if let Some(value) = find(&source, &keys) {
            put(&mut changed, &keys, value.clone());
        }
    }
    if changed == target {
        return Ok(());
    }
    let text = serde_json::to_vec_pretty(&changed).map_err(|error| error.to_string())?;
    to.write(path, lock, &text)
        .map_err(|error| format!("cannot write {}: {error}", to.place(path).display()))
}

fn object(side: &Side, path: &HomePath) -> Result<Option<Map<String, Value>>, String> {
    let Some(text) = side.read(path, LARGEST)? else { return Ok(None) };
    if text.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    serde_json::from_slice(&text)
        .map(Some)
        .map_err(|error| format!("{} is no JSON object: {error}", side.place(path).display()))
}

fn find<'v>(source: &'v Map<String, Value>, keys: &[String]) -> Option<&'v Value> {
    let (first, rest) = keys.split_first()?;
    let value = source.get(first)?;
    if rest.is_empty() { Some(value) } else { find(value.as_object()?, rest) }
}

fn put(target: &mut Map<String, Value>, keys: &[String], value: Value) {
    let Some((first, rest)) = keys.split_first() else { return };
    if rest.is_empty() {
        target.insert(first.clone(), value);
        return;
    }
    let below = target.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(below) = below {
        put(below, rest, value);
    }
}
