//! What commands need that bring files home.

use offshoot_vault::Vault;
use offshoot_vault::merge::MergeOptions;
use offshoot_workspace::{HomeEvent, HomeOptions, How, Settled};

use super::Context;
use crate::output::eprint;
use crate::render::{DIM, line, paint};

impl Context {
    /// How files come home; `told` is told what people should know beside the outcome.
    pub(crate) fn home_options<'a>(&self, told: &'a dyn Fn(&HomeEvent)) -> HomeOptions<'a> {
        HomeOptions {
            import: self.import_options(),
            merge: MergeOptions {
                renames: self.settings.config.diff.renames,
                rename_similarity: self.settings.config.diff.rename_similarity,
                max_text_bytes: self.settings.config.diff.max_text_bytes,
                ..MergeOptions::default()
            },
            wait: self.settings.config.store.busy_timeout,
            settle: None,
            told: Some(told),
        }
    }

    /// Says that somebody has to finish a change of the folder, or take it back.
    pub(crate) fn note_interrupted(&self, vault: &Vault) {
        if vault.interrupted_applies().is_ok_and(|applies| !applies.is_empty()) {
            self.output.note(
                "a commit was interrupted in the folder: `offshoot pull --head`, or any commit, finishes it or takes it back",
            );
        }
    }

    /// Says what people should know beside the outcome.
    pub(crate) fn tell(&self, event: &HomeEvent) {
        match event {
            HomeEvent::Changing => {}
            HomeEvent::Settled(settled) => self.tell_settled(settled),
            HomeEvent::Kept(kept) => self.output.note(kept.to_string()),
            HomeEvent::Note(note) => self.output.note(note.to_string()),
        }
    }

    /// Says what became of something that was interrupted.
    fn tell_settled(&self, settled: &Settled) {
        let what = match settled.how {
            How::CleanedUp => "was done and is cleaned up",
            How::Dropped => "had not begun and is dropped",
            How::Finished => "is finished now",
            How::TakenBack => "was taken back",
        };
        if !self.output.is_quiet() {
            let text = format!("an interrupted {} {what}", settled.summary);
            eprint(&format!("{}\n", paint(DIM, &line(&text))));
        }
    }
}
