//! The user's settings of a coding agent.

use offshoot_profile::{HomePath, Preset};
use offshoot_protocol::HomeKeep;

use super::{Finder, Sight, Source, Viewer};

impl Sight {
    /// Shows the settings of an agent: directories as they are, files as copies, whose content is returned.
    pub(in crate::exec) fn add_settings(
        &mut self,
        viewer: &Viewer,
        preset: &Preset,
    ) -> Vec<(HomePath, Vec<u8>)> {
        let Some(home) = &viewer.home else { return Vec::new() };
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
        self.seen.append(&mut finder.sight.seen);
        copies
    }
}
