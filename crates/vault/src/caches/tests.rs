use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

const NPM: CacheWish = CacheWish { name: "npm", mode: 0o755, only_if_kept: false };
const PIP: CacheWish = CacheWish { name: "pip", mode: 0o755, only_if_kept: false };
const PLENTY: u64 = 1 << 40;

struct Bench {
    _folder: tempfile::TempDir,
    caches: Caches,
}

fn bench() -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let caches = Caches { dir: folder.path().join("caches") };
    Bench { _folder: folder, caches }
}

impl Bench {
    fn begin(&self, wishes: &[CacheWish]) -> CacheUse {
        self.caches.begin(wishes, true).unwrap().unwrap()
    }

    /// A command that writes these files to a cache.
    fn fill(&self, wish: &CacheWish, files: &[(&str, &str)]) {
        let used = self.begin(std::slice::from_ref(wish));
        write(&used, 0, files);
        used.keep(&[wish.name], PLENTY).unwrap();
    }

    fn layers(&self, name: &str) -> Vec<PathBuf> {
        let layers = self.caches.layers(name).unwrap();
        layers.into_iter().map(|layer| self.caches.dir.join(layer)).collect()
    }

    fn names(&self) -> Vec<String> {
        self.caches.list().unwrap().into_iter().map(|info| info.name).collect()
    }
}

fn upper(used: &CacheUse, at: usize) -> PathBuf {
    used.directory().join(&used.entries()[at].upper.as_ref().unwrap().0)
}

fn write(used: &CacheUse, at: usize, files: &[(&str, &str)]) {
    let upper = upper(used, at);
    for (path, content) in files {
        fs::create_dir_all(upper.join(path).parent().unwrap()).unwrap();
        fs::write(upper.join(path), content).unwrap();
    }
}

fn set_opaque(path: &Path) {
    let flags = rustix::fs::XattrFlags::empty();
    rustix::fs::setxattr(path, "user.overlay.opaque", b"y", flags).unwrap();
}

#[test]
fn what_is_kept_becomes_one_layer() {
    let bench = bench();
    bench.fill(&NPM, &[("a", "1"), ("d/x", "1")]);
    bench.fill(&NPM, &[("a", "2"), ("d/y", "2"), ("e/z", "2")]);
    let layers = bench.layers("npm");
    assert_eq!(layers.len(), 1, "{layers:?}");
    let read = |path: &str| fs::read_to_string(layers[0].join(path)).unwrap();
    assert_eq!([read("a"), read("d/x"), read("d/y"), read("e/z")], ["2", "1", "2", "2"]);
    assert_eq!(bench.names(), ["npm"]);
    let left: Vec<_> = bench.caches.entries(&bench.caches.dir).unwrap();
    assert!(!left.iter().any(|name| name.starts_with(IN_USE)), "{left:?}");
}

#[test]
fn directories_that_are_closed_or_replaced_are_folded() {
    let bench = bench();
    bench.fill(&NPM, &[("closed/a", "1"), ("new/a", "1"), ("file/a", "1"), ("folder", "1")]);
    let closed = bench.layers("npm")[0].join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o555)).unwrap();
    let used = bench.begin(&[NPM]);
    write(&used, 0, &[("closed/b", "2"), ("new/b", "2"), ("file", "2"), ("folder/b", "2")]);
    let upper = upper(&used, 0);
    fs::set_permissions(upper.join("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    set_opaque(&upper.join("new"));
    set_opaque(&upper.join("folder"));
    used.keep(&["npm"], PLENTY).unwrap();
    let layer = &bench.layers("npm")[0];
    let mode = fs::metadata(layer.join("closed")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o555);
    assert!(layer.join("closed/a").exists() && layer.join("closed/b").exists());
    assert!(!layer.join("new/a").exists() && layer.join("new/b").exists());
    assert!(layer.join("file").is_file() && layer.join("folder/b").is_file());
}

#[test]
fn nobody_touches_what_another_command_uses() {
    let bench = bench();
    bench.fill(&NPM, &[("a", "1")]);
    let long = bench.begin(&[NPM]);
    let below = long.directory().join(&long.entries()[0].layers[0]);
    bench.fill(&NPM, &[("a", "2")]);
    assert_eq!(fs::read_to_string(below.join("a")).unwrap(), "1");
    assert!(!bench.caches.clear(&["npm".to_owned()]).unwrap());
    assert_eq!(bench.caches.tidy(0).unwrap(), Tidied::default());
    assert_eq!(fs::read_to_string(below.join("a")).unwrap(), "1");
    // What came meanwhile is above for those who come later.
    let later = bench.begin(&[NPM]);
    let top = later.directory().join(&later.entries()[0].layers[0]);
    assert_eq!(fs::read_to_string(top.join("a")).unwrap(), "2");
    drop(later);
    write(&long, 0, &[("b", "3")]);
    long.keep(&["npm"], PLENTY).unwrap();
    let layers = bench.layers("npm");
    assert_eq!(layers.len(), 1);
    assert_eq!(fs::read_to_string(layers[0].join("a")).unwrap(), "2");
    assert!(layers[0].join("b").exists());
}

#[test]
fn layers_that_nobody_can_fold_do_not_pile_up() {
    let bench = bench();
    let _long = bench.begin(&[NPM]);
    for round in 0..MOST_LAYERS + 3 {
        bench.fill(&NPM, &[("a", &round.to_string())]);
    }
    assert_eq!(bench.layers("npm").len(), MOST_LAYERS);
}

#[test]
fn the_least_recently_used_goes_first() {
    let bench = bench();
    let large = "x".repeat(100_000);
    bench.fill(&NPM, &[("a", &large)]);
    let old = SystemTime::now() - std::time::Duration::from_secs(60);
    bench.caches.note_size("npm", 110_000, Some(old)).unwrap();
    let used = bench.begin(&[PIP]);
    write(&used, 0, &[("b", &large)]);
    let tidied = used.keep(&["pip"], 150_000).unwrap();
    let dropped: Vec<_> = tidied.dropped.iter().map(|info| info.name.as_str()).collect();
    assert_eq!(dropped, ["npm"]);
    assert_eq!(bench.names(), ["pip"]);
}

#[test]
fn what_is_not_kept_and_what_the_dead_left_is_gone() {
    let bench = bench();
    let used = bench.begin(&[NPM, PIP]);
    write(&used, 0, &[("a", "1")]);
    write(&used, 1, &[("b", "1")]);
    used.keep(&["pip"], PLENTY).unwrap();
    assert_eq!(bench.names(), ["pip"]);
    let dead = bench.caches.dir.join(".use-dead/npm/work/work");
    fs::create_dir_all(&dead).unwrap();
    fs::set_permissions(&dead, fs::Permissions::from_mode(0o000)).unwrap();
    bench.caches.tidy(PLENTY).unwrap();
    assert!(!bench.caches.dir.join(".use-dead").exists());
    assert!(bench.caches.clear(&["pip".to_owned()]).unwrap());
    assert_eq!(bench.names(), Vec::<String>::new());
}

#[test]
fn a_cache_that_cannot_be_folded_is_dropped() {
    let bench = bench();
    let deep = "d/".repeat(DEEP) + "a";
    bench.fill(&NPM, &[(&deep, "1")]);
    bench.fill(&PIP, &[("a", "1")]);
    bench.fill(&NPM, &[(&deep, "2")]);
    assert_eq!(bench.names(), ["pip"]);
}

/// Deeper than what is folded.
const DEEP: usize = 300;

#[test]
fn nothing_is_made_for_wishes_that_need_something_kept() {
    let bench = bench();
    let wish = CacheWish { only_if_kept: true, ..NPM };
    assert!(bench.caches.begin(std::slice::from_ref(&wish), false).unwrap().is_none());
    bench.fill(&PIP, &[("a", "1")]);
    assert!(bench.caches.begin(std::slice::from_ref(&wish), false).unwrap().is_none());
    bench.fill(&NPM, &[("a", "1")]);
    assert_eq!(bench.begin(&[wish]).entries().len(), 1);
    // Who writes nothing leaves nothing.
    let reads = bench.caches.begin(&[NPM], false).unwrap().unwrap();
    assert_eq!(reads.entries()[0].upper, None);
    reads.keep(&["npm"], PLENTY).unwrap();
    assert_eq!(bench.names(), ["npm", "pip"]);
}
