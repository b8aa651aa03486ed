//! What a merge reads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use offshoot_host::Mtime;
use offshoot_store::{Hash, ListedObject, ObjectBackend, ObjectKind, Put, StoreError};

use super::*;
use crate::edit::TreeEditor;
use crate::objects::location::ObjectLocation;

type Values = BTreeMap<(ObjectKind, Hash), Vec<u8>>;

/// Objects in memory, with a count of how many were read.
#[derive(Clone, Default)]
struct Counting {
    values: Arc<Mutex<Values>>,
    reads: Arc<AtomicUsize>,
}

impl ObjectBackend for Counting {
    fn get(&self, kind: ObjectKind, id: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        Ok(self.values.lock().unwrap().get(&(kind, *id)).cloned())
    }

    fn contains(&self, kind: ObjectKind, id: &Hash) -> Result<bool, StoreError> {
        Ok(self.values.lock().unwrap().contains_key(&(kind, *id)))
    }

    fn put(&self, batch: &[Put]) -> Result<(), StoreError> {
        let mut values = self.values.lock().unwrap();
        batch.iter().for_each(|put| drop(values.insert((put.kind, put.id), put.value.clone())));
        Ok(())
    }

    fn replace(&self, batch: &[Put]) -> Result<(), StoreError> {
        self.put(batch)
    }

    fn remove(&self, kind: ObjectKind, ids: &[Hash]) -> Result<(), StoreError> {
        let mut values = self.values.lock().unwrap();
        ids.iter().for_each(|id| drop(values.remove(&(kind, *id))));
        Ok(())
    }

    fn list(
        &self,
        kind: ObjectKind,
        after: Option<&Hash>,
        limit: usize,
    ) -> Result<Vec<Hash>, StoreError> {
        let values = self.values.lock().unwrap();
        let ids = values.keys().filter(|(other, _)| *other == kind).map(|(_, id)| *id);
        Ok(ids.filter(|id| after.is_none_or(|after| id > after)).take(limit).collect())
    }

    fn list_values(
        &self,
        _: ObjectKind,
        _: Option<&Hash>,
        _: usize,
        _: usize,
    ) -> Result<Vec<ListedObject>, StoreError> {
        // A merge looks at no other objects than those it names.
        Ok(Vec::new())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

struct Scene {
    backend: Counting,
    objects: Objects,
}

impl Scene {
    fn new() -> Self {
        let backend = Counting::default();
        let objects = Objects::new(Box::new(backend.clone()), PathBuf::from("layers"));
        Self { backend, objects }
    }

    fn file(&self, text: &str) -> Entry {
        let mut batch = Batch::default();
        let blob = BlobId::of(text.as_bytes());
        batch.blob(blob, &ObjectLocation::Inline(text.as_bytes().to_vec()));
        self.objects.store(&batch).unwrap();
        let body = Body::File { size: text.len() as u64, blob };
        Entry::new(Meta::default(), body)
    }

    /// A state with so many directories of ten files.
    fn wide(&self, directories: usize) -> RootId {
        let mut batch = Batch::default();
        let root = empty_root(&mut batch);
        self.objects.store(&batch).unwrap();
        let names: Vec<String> =
            (0..directories * 10).map(|n| format!("/d{}/e{}/f{n}", n / 1000, n / 10)).collect();
        self.edit(&root, &names.iter().map(|n| (n.as_str(), "1\n2\n3\n")).collect::<Vec<_>>())
    }

    fn edit(&self, root: &RootId, files: &[(&str, &str)]) -> RootId {
        let mut editor = TreeEditor::open(&self.objects, root, Mtime::default()).unwrap();
        for (name, text) in files {
            let path = VaultPath::parse(name.as_bytes()).unwrap();
            editor.make_directories(&path.parent().unwrap(), &Meta::default()).unwrap();
            editor.put(&path, self.file(text)).unwrap();
        }
        let mut batch = Batch::default();
        let (root, _) = editor.finish(&mut batch).unwrap();
        self.objects.store(&batch).unwrap();
        root
    }

    fn merge(&self, base: &RootId, sides: &[RootId]) -> Result<Merged> {
        let sides: Vec<Side> =
            sides.iter().map(|root| Side { label: "side".to_owned(), root: *root }).collect();
        let keep = |_: &[u8]| -> Result<BlobId> { panic!("nothing here is long") };
        let options = MergeOptions::default();
        let merger = Merger::new(&self.objects, &keep, &options, &sides, Purpose::Result);
        let (merged, batch) = merger.run(base)?;
        self.objects.store(&batch)?;
        Ok(merged)
    }

    /// How many objects the merge of a few changes reads.
    fn reads(&self, directories: usize) -> usize {
        let base = self.wide(directories);
        let ours = self.edit(&base, &[("/d0/e1/f11", "one\n2\n3\n"), ("/d0/e2/new", "n")]);
        let theirs = self.edit(&base, &[("/d0/e1/f11", "1\n2\nthree\n"), ("/d0/e3/f31", "x")]);
        self.backend.reads.store(0, Ordering::Relaxed);
        let merged = self.merge(&base, &[ours, theirs]).unwrap();
        assert!(merged.conflicts.is_empty());
        self.backend.reads.load(Ordering::Relaxed)
    }
}

#[test]
fn the_cost_goes_with_the_changes_and_not_with_the_tree() {
    // Both trees have more than a hundred directories on each level that is entered.
    let (small, large) = (Scene::new().reads(100), Scene::new().reads(2_000));
    assert_eq!(small, large, "reads in a tree of 1,000 files and in one of 20,000");
    assert!(large < 50, "{large} reads");
}

#[test]
fn equal_sides_are_not_even_opened() {
    let scene = Scene::new();
    let base = scene.wide(10);
    let ours = scene.edit(&base, &[("/d0/e1/f11", "x")]);
    scene.backend.reads.store(0, Ordering::Relaxed);
    for sides in [[ours, ours], [ours, base], [base, ours]] {
        assert_eq!(scene.merge(&base, &sides).unwrap().root, ours);
    }
    assert_eq!(scene.backend.reads.load(Ordering::Relaxed), 0);
}

/// Takes each object away in turn, and breaks it: a merge reports what it needs and never makes something up.
#[test]
fn missing_and_damaged_objects_are_errors() {
    let scene = Scene::new();
    let base = scene.wide(3);
    let ours = scene.edit(&base, &[("/d0/e1/f11", "one\n2\n3\n"), ("/d0/e2/new", "n")]);
    let theirs = scene.edit(&base, &[("/d0/e1/f11", "1\n2\nthree\n")]);
    let whole = scene.merge(&base, &[ours, theirs]).unwrap();
    let all = scene.backend.values.lock().unwrap().clone();
    let (mut missing, mut damaged) = (0, 0);
    for (key, value) in &all {
        scene.backend.values.lock().unwrap().remove(key);
        match scene.merge(&base, &[ours, theirs]) {
            Err(TreeError::MissingObject(_)) => missing += 1,
            other => assert_eq!(other.unwrap(), whole, "it was not needed"),
        }
        let broken: Vec<u8> = value.iter().map(|byte| byte ^ 1).collect();
        scene.backend.values.lock().unwrap().insert(*key, broken);
        match scene.merge(&base, &[ours, theirs]) {
            Err(TreeError::Damaged { .. }) => damaged += 1,
            other => assert_eq!(other.unwrap(), whole, "it was not needed"),
        }
        scene.backend.values.lock().unwrap().insert(*key, value.clone());
    }
    assert!(missing > 5 && damaged == missing, "{missing} {damaged}");
}
