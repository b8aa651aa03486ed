//! What every object backend must do, as code.
//!
//! A backend's tests call [`check`] with a function that makes an empty backend. The suite is itself tested: each
//! of several deliberately broken backends must fail it.

use crate::error::StoreError;
use crate::object::{Hash, ListedObject, ObjectBackend, ObjectKind, Put};

/// Runs the whole suite, each part on a fresh backend; the error names the promise that was broken.
pub fn check(mut make: impl FnMut() -> Box<dyn ObjectBackend>) -> Result<(), String> {
    let parts: [(&str, Part); 9] = [
        ("an empty backend has nothing", empty_has_nothing),
        ("what was put is got back", round_trip),
        ("kinds are apart", kinds_are_apart),
        ("put keeps what is there", put_keeps),
        ("replace replaces", replace_replaces),
        ("values are listed", values_are_listed),
        ("remove removes exactly the named", remove_removes),
        ("list is ordered, complete and pages", list_pages),
        ("threads can share it", threads_share),
    ];
    for (promise, part) in parts {
        part(make().as_ref()).map_err(|what| format!("{promise}: {what}"))?;
    }
    Ok(())
}

type Part = fn(&dyn ObjectBackend) -> Result<(), String>;

fn hash(byte: u8) -> Hash {
    let mut hash = [byte; 32];
    hash[31] = !byte;
    hash
}

fn put(kind: ObjectKind, byte: u8, value: &[u8]) -> Put {
    Put { kind, id: hash(byte), value: value.to_vec() }
}

fn ok<T>(result: Result<T, StoreError>) -> Result<T, String> {
    result.map_err(|error| error.to_string())
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, want: T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: got {got:?}, not {want:?}")) }
}

fn empty_has_nothing(backend: &dyn ObjectBackend) -> Result<(), String> {
    for kind in ObjectKind::ALL {
        expect("get", ok(backend.get(kind, &hash(1)))?, None)?;
        expect("contains", ok(backend.contains(kind, &hash(1)))?, false)?;
        expect("list", ok(backend.list(kind, None, 10))?, Vec::new())?;
    }
    ok(backend.put(&[]))?;
    ok(backend.remove(ObjectKind::Blob, &[hash(1)]))?;
    ok(backend.flush())
}

fn round_trip(backend: &dyn ObjectBackend) -> Result<(), String> {
    let large: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
    let values: [&[u8]; 4] = [b"", b"\0", b"value", &large];
    let batch: Vec<Put> =
        (0u8..).zip(values).map(|(byte, value)| put(ObjectKind::Blob, byte, value)).collect();
    ok(backend.put(&batch))?;
    ok(backend.flush())?;
    for put in &batch {
        let got = ok(backend.get(put.kind, &put.id))?;
        expect("length", got.as_ref().map(Vec::len), Some(put.value.len()))?;
        expect("bytes equal", got.as_ref() == Some(&put.value), true)?;
        expect("contains", ok(backend.contains(put.kind, &put.id))?, true)?;
    }
    Ok(())
}

fn kinds_are_apart(backend: &dyn ObjectBackend) -> Result<(), String> {
    ok(backend.put(&[put(ObjectKind::Blob, 1, b"blob"), put(ObjectKind::Node, 1, b"node")]))?;
    expect("blob", ok(backend.get(ObjectKind::Blob, &hash(1)))?, Some(b"blob".to_vec()))?;
    expect("node", ok(backend.get(ObjectKind::Node, &hash(1)))?, Some(b"node".to_vec()))?;
    expect("root", ok(backend.get(ObjectKind::Root, &hash(1)))?, None)
}

fn put_keeps(backend: &dyn ObjectBackend) -> Result<(), String> {
    ok(backend.put(&[put(ObjectKind::Blob, 1, b"first"), put(ObjectKind::Blob, 1, b"twice")]))?;
    ok(backend.put(&[put(ObjectKind::Blob, 1, b"second"), put(ObjectKind::Blob, 2, b"other")]))?;
    expect("kept", ok(backend.get(ObjectKind::Blob, &hash(1)))?, Some(b"first".to_vec()))?;
    expect("new", ok(backend.get(ObjectKind::Blob, &hash(2)))?, Some(b"other".to_vec()))
}

fn replace_replaces(backend: &dyn ObjectBackend) -> Result<(), String> {
    let batch = [put(ObjectKind::Blob, 1, b"new"), put(ObjectKind::Blob, 2, b"other")];
    ok(backend.replace(&batch))?;
    ok(backend.replace(&[put(ObjectKind::Blob, 1, b"newer")]))?;
    expect("value", ok(backend.get(ObjectKind::Blob, &hash(1)))?, Some(b"newer".to_vec()))?;
    expect("other", ok(backend.get(ObjectKind::Blob, &hash(2)))?, Some(b"other".to_vec()))?;
    expect("count", ok(backend.list(ObjectKind::Blob, None, 10))?.len(), 2)
}

fn remove_removes(backend: &dyn ObjectBackend) -> Result<(), String> {
    let batch: Vec<Put> = (1..=4).map(|byte| put(ObjectKind::Node, byte, &[byte])).collect();
    ok(backend.put(&batch))?;
    ok(backend.put(&[put(ObjectKind::Blob, 2, b"other kind")]))?;
    ok(backend.remove(ObjectKind::Node, &[hash(2), hash(9), hash(4)]))?;
    expect("left", ok(backend.list(ObjectKind::Node, None, 10))?, vec![hash(1), hash(3)])?;
    expect("gone", ok(backend.contains(ObjectKind::Node, &hash(2)))?, false)?;
    expect("other kind", ok(backend.contains(ObjectKind::Blob, &hash(2)))?, true)
}

fn list_pages(backend: &dyn ObjectBackend) -> Result<(), String> {
    let shuffled: Vec<Put> =
        (0..=255u8).map(|i| put(ObjectKind::Blob, i.wrapping_mul(37), &[i])).collect();
    ok(backend.put(&shuffled))?;
    ok(backend.put(&[put(ObjectKind::Root, 5, b"other kind")]))?;
    let mut seen: Vec<Hash> = Vec::new();
    loop {
        let page = ok(backend.list(ObjectKind::Blob, seen.last(), 100))?;
        expect("page within its limit", page.len() <= 100, true)?;
        if page.is_empty() {
            break;
        }
        seen.extend(page);
        expect("pages end", seen.len() <= 256, true)?;
    }
    expect("all", seen, (0..=255u8).map(hash).collect())
}

fn values_are_listed(backend: &dyn ObjectBackend) -> Result<(), String> {
    let batch: Vec<Put> =
        (1..=9u8).map(|byte| put(ObjectKind::Blob, byte, &vec![byte; byte.into()])).collect();
    ok(backend.put(&batch))?;
    ok(backend.put(&[put(ObjectKind::Node, 5, b"other kind")]))?;
    let listed = ok(backend.list_values(ObjectKind::Blob, Some(&hash(3)), 4, 5))?;
    let expected: Vec<ListedObject> = (4..=7u8)
        .map(|byte| {
            let start = vec![byte; usize::from(byte.min(5))];
            ListedObject { id: hash(byte), length: byte.into(), start }
        })
        .collect();
    expect("listed", listed, expected)
}

fn threads_share(backend: &dyn ObjectBackend) -> Result<(), String> {
    let worker = |worker: u8| -> Result<(), String> {
        for i in 0..16u8 {
            let byte = worker * 16 + i;
            ok(backend.put(&[put(ObjectKind::Blob, byte, &[byte])]))?;
            expect("own", ok(backend.get(ObjectKind::Blob, &hash(byte)))?, Some(vec![byte]))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|n| scope.spawn(move || worker(n))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().map_err(|_| "a thread panicked".to_owned()).and_then(|result| result)
        })
    })?;
    expect("count", ok(backend.list(ObjectKind::Blob, None, 1000))?.len(), 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryBackend;

    #[derive(Clone, Copy, Debug)]
    enum Fault {
        PutOverwrites,
        MixesKinds,
        ForgetsEmptyValues,
        ReplaceKeeps,
        RemovesTooMuch,
        ListSkipsOne,
        ListUnordered,
        ListsWholeValues,
        PutStopsAtExisting,
    }

    /// A memory backend with one thing wrong.
    struct Broken(MemoryBackend, Fault);

    impl Broken {
        fn kind(&self, kind: ObjectKind) -> ObjectKind {
            if matches!(self.1, Fault::MixesKinds) { ObjectKind::Blob } else { kind }
        }
    }

    impl ObjectBackend for Broken {
        fn get(&self, kind: ObjectKind, id: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
            self.0.get(self.kind(kind), id)
        }
        fn contains(&self, kind: ObjectKind, id: &Hash) -> Result<bool, StoreError> {
            self.0.contains(self.kind(kind), id)
        }
        fn put(&self, batch: &[Put]) -> Result<(), StoreError> {
            for put in batch {
                let put = Put { kind: self.kind(put.kind), ..put.clone() };
                match self.1 {
                    Fault::PutOverwrites => self.0.replace(&[put])?,
                    Fault::ForgetsEmptyValues if put.value.is_empty() => {}
                    Fault::PutStopsAtExisting if self.0.contains(put.kind, &put.id)? => break,
                    _ => self.0.put(&[put])?,
                }
            }
            Ok(())
        }
        fn replace(&self, batch: &[Put]) -> Result<(), StoreError> {
            match self.1 {
                Fault::ReplaceKeeps => self.0.put(batch),
                _ => self.0.replace(batch),
            }
        }
        fn remove(&self, kind: ObjectKind, ids: &[Hash]) -> Result<(), StoreError> {
            if matches!(self.1, Fault::RemovesTooMuch) {
                for kind in ObjectKind::ALL {
                    self.0.remove(kind, ids)?;
                }
            }
            self.0.remove(self.kind(kind), ids)
        }
        fn list(
            &self,
            kind: ObjectKind,
            after: Option<&Hash>,
            limit: usize,
        ) -> Result<Vec<Hash>, StoreError> {
            let mut ids = self.0.list(self.kind(kind), after, limit)?;
            match self.1 {
                Fault::ListSkipsOne if ids.len() > 1 => drop(ids.remove(0)),
                Fault::ListUnordered => ids.reverse(),
                _ => {}
            }
            Ok(ids)
        }
        fn list_values(
            &self,
            kind: ObjectKind,
            after: Option<&Hash>,
            limit: usize,
            start: usize,
        ) -> Result<Vec<ListedObject>, StoreError> {
            let start = if matches!(self.1, Fault::ListsWholeValues) { usize::MAX } else { start };
            self.0.list_values(self.kind(kind), after, limit, start)
        }
        fn flush(&self) -> Result<(), StoreError> {
            self.0.flush()
        }
    }

    #[test]
    fn the_memory_backend_passes() {
        assert_eq!(check(|| Box::new(MemoryBackend::default())), Ok(()));
    }

    #[test]
    fn every_broken_backend_fails() {
        use Fault::*;
        let faults = [
            PutOverwrites,
            MixesKinds,
            ForgetsEmptyValues,
            ReplaceKeeps,
            RemovesTooMuch,
            ListSkipsOne,
            ListUnordered,
            ListsWholeValues,
            PutStopsAtExisting,
        ];
        for fault in faults {
            let outcome = check(|| Box::new(Broken(MemoryBackend::default(), fault)));
            assert!(outcome.is_err(), "{fault:?} was not noticed");
        }
    }
}
