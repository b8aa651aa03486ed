//! Putting several versions of one file together.

use offshoot_text::lines::is_binary;
use offshoot_text::markers::{marker_length, with_markers};
use offshoot_text::merge::{Region, TextMerge};

use super::fields::{Choice, choose, differ_in_substance, merge_meta};
use super::record::{all_records, merge_records};
use super::{Merger, Purpose};
use crate::entry::conflict_kind::ConflictKind;
use crate::entry::{Body, Entry};
use crate::error::{Result, TreeError};
use crate::hash::BlobId;
use crate::objects::INLINE_LIMIT;
use crate::objects::location::ObjectLocation;

/// What several versions became.
pub(super) struct Combined {
    /// Without a name.
    pub(super) entry: Entry,
    pub(super) problems: Vec<Problem>,
}

/// Something that did not fit.
pub(super) struct Problem {
    pub(super) kind: ConflictKind,
    pub(super) regions: Vec<Region>,
    pub(super) marker_length: Option<usize>,
}

/// What the content of several versions became.
struct CombinedBody {
    body: Body,
    problem: Option<Problem>,
    /// Markers of an earlier conflict are left in it.
    still_marked: bool,
}

/// What texts became.
enum Text {
    Merged(Vec<u8>),
    /// With conflict markers.
    Marked {
        bytes: Vec<u8>,
        regions: Vec<Region>,
        marker_length: usize,
    },
}

impl Problem {
    pub(super) fn of(kind: ConflictKind) -> Self {
        Self { kind, regions: Vec::new(), marker_length: None }
    }
}

impl Combined {
    fn clean(entry: Entry) -> Self {
        Self { entry, problems: Vec::new() }
    }
}

/// A version without its name, which a moved file may have changed.
fn nameless(entry: &Entry) -> Entry {
    Entry { name: Vec::new(), ..entry.clone() }
}

impl<E: From<TreeError>> Merger<'_, E> {
    /// Merges the versions of those sides that have one of their own.
    pub(super) fn combine(
        &mut self,
        base: Option<&Entry>,
        sides: &[(usize, &Entry)],
    ) -> Result<Combined, E> {
        let base = base.map(nameless);
        let all: Vec<(usize, Entry)> =
            sides.iter().map(|(side, entry)| (*side, nameless(entry))).collect();
        let changed: Vec<&(usize, Entry)> =
            all.iter().filter(|(_, entry)| base.as_ref() != Some(entry)).collect();
        let Some((_, first)) = changed.first() else {
            let unchanged = base.or(all.first().map(|(_, entry)| entry.clone()));
            return Ok(Combined::clean(unchanged.expect("something is merged")));
        };
        if changed.iter().all(|(_, entry)| entry == first) {
            return Ok(Combined::clean(first.clone()));
        }
        self.combine_changed(base.as_ref(), &changed)
    }

    fn combine_changed(
        &mut self,
        base: Option<&Entry>,
        changed: &[&(usize, Entry)],
    ) -> Result<Combined, E> {
        let entries: Vec<&Entry> = changed.iter().map(|(_, entry)| entry).collect();
        let bodies = entries.iter().map(|entry| &entry.body);
        let body = match choose(base.map(|entry| &entry.body), bodies) {
            Some(Choice::One(body)) => Some(body),
            _ => None,
        };
        if kinds_differ(base, &entries) {
            return Ok(self.combine_kinds(base, &entries, body));
        }
        let mut combined = with_meta(base, &entries);
        match body {
            Some(body) => combined.entry.body = body.clone(),
            None => {
                let merged = self.combine_bodies(base, changed)?;
                combined.entry.body = merged.body;
                if merged.still_marked {
                    combined.entry.conflict = all_records(base, &entries);
                }
                // The time belongs to the content, so sides that changed something else have no say in it.
                let wrote = |entry: &&&Entry| base.is_none_or(|base| base.body != entry.body);
                let times = entries.iter().filter(wrote).map(|entry| entry.meta.mtime);
                combined.entry.meta.mtime = times.max().unwrap_or_default();
                combined.problems.extend(merged.problem);
            }
        }
        Ok(combined)
    }

    /// Something that became another kind of thing for one side at least. Metadata belong to the kind, so what has it is taken
    /// whole, unless that would drop what another side did.
    fn combine_kinds(
        &self,
        base: Option<&Entry>,
        entries: &[&Entry],
        body: Option<&Body>,
    ) -> Combined {
        let is_dropped = |entry: &&&Entry| {
            Some(&entry.body) != body && base.is_none_or(|base| differ_in_substance(base, entry))
        };
        let with_body: Vec<&Entry> =
            entries.iter().copied().filter(|entry| Some(&entry.body) == body).collect();
        if with_body.is_empty() || entries.iter().any(|entry| is_dropped(&entry)) {
            return self.undecided(base, entries, ConflictKind::Kind);
        }
        with_meta(None, &with_body)
    }

    /// Content that several sides changed differently, all of one kind.
    fn combine_bodies(
        &mut self,
        base: Option<&Entry>,
        changed: &[&(usize, Entry)],
    ) -> Result<CombinedBody, E> {
        let entries: Vec<&Entry> = changed.iter().map(|(_, entry)| entry).collect();
        let kind = if base.is_some() { ConflictKind::Content } else { ConflictKind::AddAdd };
        match self.combine_texts(base, changed)? {
            Some(Text::Merged(bytes)) => {
                self.texts += 1;
                let still_marked =
                    all_records(base, &entries).is_some_and(|record| record.is_marked(&bytes));
                return Ok(CombinedBody { body: self.add(bytes)?, problem: None, still_marked });
            }
            Some(Text::Marked { bytes, regions, marker_length }) => {
                let still_marked =
                    all_records(base, &entries).is_some_and(|record| record.is_marked(&bytes));
                let problem = Some(Problem { kind, regions, marker_length: Some(marker_length) });
                return Ok(CombinedBody { body: self.add(bytes)?, problem, still_marked });
            }
            None => {}
        }
        let undecided = self.undecided(base, &entries, kind);
        let problem = undecided.problems.into_iter().next();
        Ok(CombinedBody { body: undecided.entry.body, problem, still_marked: false })
    }

    /// What to take where nothing fits: the first side's, or for a base what it was.
    fn undecided(&self, base: Option<&Entry>, entries: &[&Entry], kind: ConflictKind) -> Combined {
        let kept = match (self.purpose, base) {
            (Purpose::Base, Some(base)) => base,
            _ => entries[0],
        };
        let kind = if base.is_none() { ConflictKind::AddAdd } else { kind };
        let entry = Entry { conflict: merge_records(base, entries), ..kept.clone() };
        Combined { entry, problems: vec![Problem::of(kind)] }
    }

    /// Merges by lines, if all versions are texts.
    fn combine_texts(
        &self,
        base: Option<&Entry>,
        changed: &[&(usize, Entry)],
    ) -> Result<Option<Text>, E> {
        let Some(before) = self.text(base)? else { return Ok(None) };
        // Sides without a change have the text of the base.
        let mut texts = vec![before.clone(); self.sides.len()];
        for (side, entry) in changed {
            match self.text(Some(entry))? {
                Some(text) => texts[*side] = text,
                None => return Ok(None),
            }
        }
        let texts: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
        let merge = TextMerge::of(&before, &texts);
        if let Some(bytes) = merge.merged() {
            return Ok(Some(Text::Merged(bytes)));
        }
        let labels: Vec<&str> = self.sides.iter().map(|side| side.label.as_str()).collect();
        let marker_length = marker_length(&[&[before.as_slice()], texts.as_slice()].concat());
        let bytes = with_markers(&merge, "base", &labels, marker_length);
        let regions = merge.conflicts().cloned().collect();
        Ok(Some(Text::Marked { bytes, regions, marker_length }))
    }

    /// The bytes of a text; empty for none. Nothing where it is not a text that is merged by lines.
    fn text(&self, entry: Option<&Entry>) -> Result<Option<Vec<u8>>, E> {
        Ok(match entry.map(|entry| &entry.body) {
            None => Some(Vec::new()),
            Some(Body::File { size, blob }) if *size <= self.options.max_text_bytes => {
                Some(self.objects.blob(blob)?).filter(|bytes| !is_binary(bytes))
            }
            Some(_) => None,
        })
    }

    fn add(&mut self, bytes: Vec<u8>) -> Result<Body, E> {
        let size = bytes.len() as u64;
        let blob = if bytes.len() > INLINE_LIMIT {
            (self.keep)(&bytes)?
        } else {
            let blob = BlobId::of(&bytes);
            self.batch.blob(blob, &ObjectLocation::Inline(bytes));
            blob
        };
        Ok(Body::File { size, blob })
    }
}

/// The first entry with the metadata of all.
fn with_meta(base: Option<&Entry>, entries: &[&Entry]) -> Combined {
    let merged = merge_meta(base, entries, entries[0]);
    let (name, body) = (Vec::new(), entries[0].body.clone());
    let conflict = merge_records(base, entries);
    let entry = Entry { name, meta: merged.meta, group: merged.group, body, conflict };
    Combined { entry, problems: merged.problems.into_iter().map(Problem::of).collect() }
}

fn kinds_differ(base: Option<&Entry>, entries: &[&Entry]) -> bool {
    let mut kinds = base.into_iter().chain(entries.iter().copied()).map(Entry::kind);
    kinds.next().is_some_and(|first| kinds.any(|kind| kind != first))
}
