//! The user's settings of a coding agent.

use offshoot_profile::{HomePath, Preset};
use offshoot_protocol::HomeKeep;

use super::{Finder, Seen, Sight, Source, Viewer};

impl Sight {
    /// Shows the settings of an agent: directories as they are, files as copies, whose content is returned. What is not in a copy is told.
    pub(in crate::exec) fn add_settings(
        &mut self,
        viewer: &Viewer,
        preset: &Preset,
    ) -> (Vec<(HomePath, Vec<u8>)>, Vec<String>) {
        let Some(home) = &viewer.home else { return Default::default() };
        let mut finder = Finder::new(viewer);
        let rows = preset.home.iter().filter(|row| row.keep == HomeKeep::Config);
        let mut copies = Vec::new();
        for path in rows.flat_map(|row| &row.paths) {
            let place = home.join(path.to_string());
            if self.seen.iter().any(|seen| seen.path == place) || !finder.may_be_there(&place) {
                continue;
            }
            if place.is_dir() {
                finder.show(place, Source::Preset);
                continue;
            }
            let name = place.to_string_lossy().into_owned();
            let copied = finder.copy_as(&name, place, Source::Preset);
            copies.extend(copied.map(|content| (path.clone(), content)));
        }
        let told = finder.sight.seen.iter().filter_map(without_credentials).collect();
        self.seen.append(&mut finder.sight.seen);
        (copies, told)
    }
}

/// Says what an agent does not get of a file: it may be the login that it needs.
fn without_credentials(seen: &Seen) -> Option<String> {
    let copy = seen.copy.as_ref()?;
    let path = seen.path.display();
    let lines = match (&copy.left_out, copy.withheld_for) {
        (None, Some(line)) => {
            return Some(format!(
                "the agent does not get {path}, since line {line} seems to hold a credential; pass a login as a variable, with `-e NAME`"
            ));
        }
        (left_out, _) => left_out.as_ref()?,
    };
    let mut lines: Vec<usize> = lines.lines.iter().chain(&lines.logins).copied().collect();
    lines.sort_unstable();
    let named: Vec<String> = lines.iter().map(usize::to_string).collect();
    let (word, seem) = if named.len() == 1 { ("line", "seems") } else { ("lines", "seem") };
    (!named.is_empty()).then(|| {
        format!(
            "the agent gets {path} without {word} {}, which {seem} to hold a credential; pass a login as a variable, with `-e NAME`",
            named.join(", ")
        )
    })
}
