//! Reading what the product says about a command.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use offshoot_tests::oracle::changes::{Change, Side};
use serde_json::Value;

use crate::product::Answer;

/// The answer in a result; an error where the command did not end well or something is not as agreed.
pub(crate) fn answer(result: &Value) -> Result<Answer, String> {
    if result["exit_code"] != 0 || !result["signal"].is_null() {
        return Err(format!("the program did not end well: {result}"));
    }
    // Programs make sockets, which are not kept; anything else would be a reason for a difference, and there is to be none.
    let is_expected = |warning: &Value| {
        warning.as_str().is_some_and(|text| text.ends_with("sockets are not kept"))
    };
    let warnings = result["warnings"].as_array().ok_or("no list of warnings")?;
    if !warnings.iter().all(is_expected) {
        return Err(format!("there are warnings: {}", result["warnings"]));
    }
    let stdout = bytes(&result["stdout"]).ok_or("no standard output")?;
    let changes = result["changed_files"].as_array().ok_or("no list of changed files")?;
    let read = |value: &Value| change(value).ok_or_else(|| format!("an odd change: {value}"));
    Ok(Answer {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        changes: changes.iter().map(read).collect::<Result<_, _>>()?,
    })
}

fn change(value: &Value) -> Option<Change> {
    let side = |value: &Value| match value {
        Value::Null => Some(None),
        _ => side(value).map(Some),
    };
    if !value["from"].is_null() {
        return None;
    }
    Some(Change {
        path: bytes(&value["path"])?,
        kind: value["kind"].as_str()?.to_owned(),
        before: side(&value["before"])?,
        after: side(&value["after"])?,
        partners: Vec::new(),
    })
}

fn side(value: &Value) -> Option<Side> {
    Some(Side {
        entry: value["entry"].as_str()?.to_owned(),
        mode: value["mode"].as_str()?.to_owned(),
        size: value["size"].as_u64()?,
        checksum: value["checksum"].as_str().map(str::to_owned),
    })
}

/// Fails where the audit log lists other changes than the envelope, which the judge compares with scans.
pub(crate) fn compare_audited(files: &Value, changes: &[Change]) -> Result<(), String> {
    type Brief = (Vec<u8>, String, [Option<(u64, Option<String>)>; 2]);
    let side = |side: &Side| (side.size, side.checksum.clone());
    let expected = changes.iter().map(|change| {
        let sides = [&change.before, &change.after].map(|it| it.as_ref().map(side));
        (change.path.clone(), change.kind.clone(), sides)
    });
    let read = |value: &Value| -> Option<Brief> {
        let side = |side: &Value| {
            let checksum = side["checksum"].as_str().map(str::to_owned);
            side["size"].as_u64().map(|size| (size, checksum))
        };
        let sides = [side(&value["before"]), side(&value["after"])];
        Some((bytes(&value["path"])?, value["kind"].as_str()?.to_owned(), sides))
    };
    let listed = files["changed"].as_array().map_or(&[][..], Vec::as_slice);
    let found: Option<Vec<Brief>> = listed.iter().map(read).collect();
    match found.is_some_and(|found| found.iter().cloned().eq(expected)) {
        true => Ok(()),
        false => Err(format!("the audit log lists {files}, and {} files changed", changes.len())),
    }
}

/// Text, or the bytes of what is none.
fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value.as_str() {
        Some(text) => Some(text.as_bytes().to_vec()),
        None => STANDARD.decode(value["base64"].as_str()?).ok(),
    }
}
