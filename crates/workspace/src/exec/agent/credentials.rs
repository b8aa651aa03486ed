//! Files with credentials, kept equal in the agent's home and the user's.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use offshoot_host::read_regular;
use offshoot_profile::{HomePath, HomeRow, Preset};
use offshoot_protocol::{CredentialFormat, CredentialMode, HomeKeep};
use offshoot_vault::AgentPlace;

use super::side::Side;

/// No larger file is a credential.
const LARGEST: u64 = 1 << 20;
/// Nor is what is known of all of them.
const LARGEST_STATE: u64 = 1 << 20;

/// What was the same on both sides, by path: a digest of each.
pub(super) type Equal = BTreeMap<String, String>;

/// A file on both sides.
#[derive(Clone, Debug)]
pub(super) struct CredentialPair {
    pub(super) path: HomePath,
    pub(super) host: Side,
    format: CredentialFormat,
    logout: bool,
    lock: Option<HomePath>,
}

/// When both sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Before a command starts: what the agent's home has not is copied in.
    Before,
    /// While it runs, or after.
    While,
}

/// What was done about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    Nothing,
    ToHost,
    FromHost,
}

impl CredentialPair {
    /// All that a preset names.
    pub(super) fn all(preset: &Preset, host: &Path) -> Vec<Self> {
        let rows = preset.home.iter().filter(|row| row.keep == HomeKeep::Credential);
        let pair = |row: &HomeRow, path: &HomePath| Self {
            path: path.clone(),
            host: Side::user(host),
            format: row.format,
            logout: row.logout,
            lock: row.lock.clone(),
        };
        rows.flat_map(|row| row.paths.iter().map(move |path| pair(row, path))).collect()
    }

    /// Whether something can be written to the user's home.
    fn accepts(&self, content: &[u8]) -> bool {
        let text = std::str::from_utf8(content).ok().filter(|text| !text.trim().is_empty());
        let Some(text) = text.filter(|text| !text.contains('\0')) else { return false };
        match self.format {
            CredentialFormat::Json => serde_json::from_str::<serde_json::Value>(text)
                .is_ok_and(|value| value.is_object() || value.is_array()),
            CredentialFormat::Toml => toml::from_str::<toml::Table>(text).is_ok(),
            CredentialFormat::Text => true,
        }
    }

    /// Makes both sides equal. `equal` is what they last had in common.
    fn sync(
        &self,
        home: &Side,
        equal: Option<&str>,
        moment: Moment,
    ) -> Result<(Done, Option<String>), String> {
        let inside = match home.read(&self.path, LARGEST) {
            // What is no file is no login either, and the user's counts.
            Err(_) if moment == Moment::Before => {
                home.clear(&self.path);
                None
            }
            read => read?,
        };
        let outside = self.host_content()?;
        let digests = [&inside, &outside].map(|content| content.as_deref().map(digest));
        let [inside_digest, outside_digest] = &digests;
        let (inside_changed, outside_changed) =
            (inside_digest.as_deref() != equal, outside_digest.as_deref() != equal);
        let stays = || Ok((Done::Nothing, equal.map(str::to_owned)));
        match (inside, outside) {
            (None, None) => Ok((Done::Nothing, None)),
            (Some(_), Some(_)) if inside_digest == outside_digest => {
                Ok((Done::Nothing, inside_digest.clone()))
            }
            (None, Some(content)) if moment == Moment::Before || outside_changed => {
                self.write(home, None, &content)?;
                Ok((Done::FromHost, outside_digest.clone()))
            }
            // Somebody logged out inside.
            (None, Some(_)) if self.logout => {
                self.host.remove(&self.path).map_err(|error| self.problem(&self.host, &error))?;
                Ok((Done::ToHost, None))
            }
            (None, Some(_)) => stays(),
            // Somebody logged out on the host.
            (Some(_), None) if !inside_changed => {
                home.remove(&self.path).map_err(|error| self.problem(home, &error))?;
                Ok((Done::FromHost, None))
            }
            (Some(content), outside) => {
                let to_host = inside_changed
                    && (!outside_changed
                        || outside.is_none()
                        || (equal.is_some() && self.is_newer(home)));
                match (to_host, outside) {
                    (true, Some(own)) if moment == Moment::Before && !self.accepts(&content) => {
                        self.write(home, None, &own)?;
                        Ok((Done::FromHost, outside_digest.clone()))
                    }
                    (true, _) if !self.accepts(&content) => Err(format!(
                        "{} was not written to your home: what the agent left is no {}",
                        self.path, self.format
                    )),
                    (true, before) => {
                        if let Some(before) = before.filter(|_| outside_changed) {
                            self.set_aside(&before)?;
                        }
                        self.write(&self.host, self.lock.as_ref(), &content)?;
                        Ok((Done::ToHost, inside_digest.clone()))
                    }
                    (false, Some(content)) => {
                        self.write(home, self.lock.as_ref(), &content)?;
                        Ok((Done::FromHost, outside_digest.clone()))
                    }
                    (false, None) => stays(),
                }
            }
        }
    }

    fn host_content(&self) -> Result<Option<Vec<u8>>, String> {
        self.host.read(&self.path, LARGEST)
    }

    fn is_newer(&self, home: &Side) -> bool {
        home.modified(&self.path) > self.host.modified(&self.path)
    }

    /// Keeps what the user had, beside it.
    fn set_aside(&self, content: &[u8]) -> Result<(), String> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{}.offshoot-{}", self.path, since.as_secs());
        let aside = HomePath::parse(&name)?;
        self.write_as(&self.host, &aside, None, content)
    }

    fn write(&self, side: &Side, lock: Option<&HomePath>, content: &[u8]) -> Result<(), String> {
        self.write_as(side, &self.path, lock, content)
    }

    fn write_as(
        &self,
        side: &Side,
        path: &HomePath,
        lock: Option<&HomePath>,
        content: &[u8],
    ) -> Result<(), String> {
        side.write(path, lock, content).map_err(|error| self.problem(side, &error))
    }

    fn problem(&self, side: &Side, error: &std::io::Error) -> String {
        format!("cannot write {}: {error}", side.place(&self.path).display())
    }
}

/// Makes both sides of all files equal: what was done about each, and what could not be.
pub(super) fn sync(
    home: &AgentPlace,
    pairs: &[CredentialPair],
    moment: Moment,
) -> Vec<Result<Done, String>> {
    let side = Side::agent(&home.path());
    let Ok(_alone) = home.compare() else { return Vec::new() };
    let before = load(home);
    let mut equal = before.clone();
    let mut all = Vec::new();
    for pair in pairs {
        let path = pair.path.to_string();
        let done = pair.sync(&side, before.get(&path).map(String::as_str), moment);
        all.push(done.map(|(done, common)| {
            match common {
                Some(common) => equal.insert(path, common),
                None => equal.remove(&path),
            };
            done
        }));
    }
    if equal != before {
        save(home, &equal);
    }
    all
}

/// Copies what the user has, and writes nothing to their home.
pub(super) fn copy_in(home: &AgentPlace, pairs: &[CredentialPair]) -> Vec<Result<Done, String>> {
    let side = Side::agent(&home.path());
    let copy = |pair: &CredentialPair| {
        let Some(content) = pair.host_content()? else { return Ok(Done::Nothing) };
        pair.write(&side, None, &content)?;
        Ok(Done::FromHost)
    };
    pairs.iter().map(copy).collect()
}

/// Removes what the user's home has too: the next command gets it from there. Where nothing comes back, all goes.
pub(super) fn remove_equal(pairs: &[CredentialPair], home: &Path, mode: CredentialMode) {
    let side = Side::agent(home);
    for pair in pairs {
        let Ok(Some(inside)) = side.read(&pair.path, LARGEST) else { continue };
        let is_equal = pair.host_content().ok().flatten().is_some_and(|outside| outside == inside);
        if is_equal || mode != CredentialMode::Sync {
            let _looked_at_again = side.remove(&pair.path).is_err();
        }
    }
}

fn load(home: &AgentPlace) -> Equal {
    let text = read_regular(&home.synced(), LARGEST_STATE).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

fn save(home: &AgentPlace, equal: &Equal) {
    let path = home.synced();
    let hidden = path.with_extension("new");
    let text = serde_json::to_vec(equal).unwrap_or_default();
    // Without it the host's file counts.
    let _lost =
        std::fs::write(&hidden, text).and_then(|()| std::fs::rename(&hidden, &path)).is_err();
}

fn digest(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
