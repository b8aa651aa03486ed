//! What there is to see: the folder, workspaces, and lists in documents.

use std::collections::BTreeMap;
use std::fs;

pub(crate) use offshoot_tests::product::Place;
use serde_json::Value;

/// All files that there ever are.
pub(crate) const FILES: [&str; 4] = ["f0", "f1", "f2", "f3"];

/// What is in files.
pub(crate) type Files = BTreeMap<&'static str, String>;

/// The files of the folder.
pub(crate) fn folder(place: &Place) -> Files {
    let read = |file| Some((file, fs::read_to_string(place.project().join(file)).ok()?));
    FILES.into_iter().filter_map(read).collect()
}

/// The files of a state of the vault.
pub(crate) fn contents(place: &Place, at: &[&str]) -> Files {
    let read = |file| {
        let output = place.run([&["fs", "cat", file], at].concat());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some((file, text))
    };
    FILES.into_iter().filter_map(read).collect()
}

/// The paths of a list with their kinds, where they have such.
pub(crate) fn paths(list: &Value) -> BTreeMap<String, String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let item = |item: &Value| {
        let kind = item["kind"].as_str().unwrap_or_default();
        Some((item["path"].as_str()?.to_owned(), kind.to_owned()))
    };
    list.iter().filter_map(item).collect()
}
