//! Stacks of layers, mounted by the real kernel, show what the roots hold.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use offshoot_needs::needs;
use offshoot_tests::rng::{Rng, seed_from_env_or};
use offshoot_tests::scan::CompareOptions;
use offshoot_tree::{Body, Entry, RootId, TreeEditor};
use offshoot_vault::{CheckDepth, ImportOptions, Vault};

use crate::children;
use crate::support::{
    Scratch, actor, assert_same, edit, export, file, head, home_at, import, is_long, is_root, meta,
    path, scanned,
};
use crate::wild::Wild;

/// Mounts to be made and looked at: a name, the layers, and in `expected/<name>` what they must show.
pub(crate) struct Mounts<'a> {
    place: &'a Path,
    list: String,
    count: usize,
}

impl<'a> Mounts<'a> {
    pub(crate) fn new(place: &'a Path) -> Self {
        for name in ["expected", "mounts", "nothing"] {
            fs::create_dir(place.join(name)).unwrap();
        }
        Self { place, list: String::new(), count: 0 }
    }

    /// Adds the stack of a root, made near others.
    pub(crate) fn add(&mut self, vault: &Vault, root: &RootId, near: &[RootId]) -> Vec<PathBuf> {
        let stack = vault.stack(root, near).unwrap();
        let name = self.count.to_string();
        self.count += 1;
        export(vault, root, &self.place.join("expected").join(&name));
        fs::create_dir(self.place.join("mounts").join(&name)).unwrap();
        // An overlay without an upper needs two layers at least.
        let nothing = self.place.join("nothing");
        let directories = stack.directories.iter().chain(stack.data.is_empty().then_some(&nothing));
        let all: Vec<&str> = directories.map(|dir| dir.to_str().unwrap()).collect();
        let layers = stack.layers_dir.display();
        let data: String = stack.data.iter().map(|name| format!("::{layers}/{name}")).collect();
        writeln!(self.list, "{name} {}{data}", all.join(":")).unwrap();
        stack.directories
    }

    /// Mounts them all in a namespace of their own and looks at them there.
    pub(crate) fn look(&self) {
        fs::write(self.place.join("list"), &self.list).unwrap();
        let script = "while read name layers; do \
                      mount -t overlay overlay \"mounts/$name\" -o ro,userxattr,lowerdir=\"$layers\" \
                      || exit 1; done < list; exec \"$@\"";
        let flags = if is_root() { "-m" } else { "-Urm" };
        let behind = ["unshare", flags, "sh", "-c", script, "sh"];
        let output = children::command("look at mounts", self.place, &behind).output().unwrap();
        children::assert_passed(&output);
    }
}

/// Runs inside the namespace.
pub(crate) fn look_at_mounts(place: &Path) {
    let options = CompareOptions { owners: false, hard_links: false, ..CompareOptions::default() };
    for entry in fs::read_dir(place.join("expected")).unwrap() {
        let entry = entry.unwrap();
        let mounted = place.join("mounts").join(entry.file_name());
        let (expected, found) = (scanned(&entry.path()), scanned(&mounted));
        assert!(!expected.0.is_empty());
        println!("stack {}", entry.file_name().display());
        assert_same(&expected, &found, &options);
    }
}

#[needs(Root, Overlay)]
#[test]
fn stacks_show_their_roots() {
    let scratch = Scratch::new();
    random_stacks(scratch.path(), seed_from_env_or(7));
    let scratch = Scratch::new();
    chosen_stacks(scratch.path());
}

#[needs(Overlay, UserNamespace)]
#[test]
fn stacks_show_their_roots_to_an_ordinary_user() {
    let scratch = Scratch::new();
    children::run_as_ordinary_user("stacks", scratch.path());
}

pub(crate) fn as_ordinary_user(place: &Path) {
    let (random, chosen) = (place.join("random"), place.join("chosen"));
    fs::create_dir(&random).unwrap();
    random_stacks(&random, seed_from_env_or(8));
    fs::create_dir(&chosen).unwrap();
    chosen_stacks(&chosen);
}

/// Histories of random trees, each state stacked near the one before or the first.
fn random_stacks(place: &Path, seed: u64) {
    println!("seed {seed}");
    let mut mounts = Mounts::new(place);
    let histories = if is_long() { 60 } else { 8 };
    for history in 0..histories {
        let mut wild =
            Wild::new(&place.join(format!("wild-{history}")), seed.wrapping_mul(1000) + history);
        wild.change(20);
        let name = format!("v{history}");
        let options = ImportOptions::default();
        let home = home_at(place);
        let vault = home.create(&name, Some(&wild.dir), &options, &actor()).unwrap().vault;
        let mut rng = Rng::new(seed + history);
        let mut roots = vec![head(&vault)];
        mounts.add(&vault, &roots[0], &[]);
        for _ in 0..4 {
            wild.change(8);
            let mut root = import(&vault, &wild.dir).root;
            if rng.one_in(2) {
                root = edit(&vault, &root, |editor| edit_at_random(&vault, editor, &mut rng));
            }
            commit_if_new(&vault, &root);
            let near = roots[rng.below(roots.len() as u64) as usize];
            mounts.add(&vault, &root, &[near]);
            roots.push(root);
        }
        assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    }
    mounts.look();
}

fn commit_if_new(vault: &Vault, root: &RootId) {
    if head(vault) != *root {
        crate::support::commit(vault, root);
    }
}

/// Changes that no host directory of an ordinary user could have: a file that nobody may read among them.
fn edit_at_random(vault: &Vault, editor: &mut TreeEditor<'_>, rng: &mut Rng) {
    for name in ["/a", "/b", "/c", "/new"] {
        match rng.below(4) {
            0 => {
                let mut entry = file(vault, &rng.bytes(100));
                entry.meta.mode = 0;
                editor.put(&path(name), entry).unwrap();
            }
            1 => {
                let directory = editor.empty_directory(meta(0o711)).unwrap();
                editor.put(&path(name), directory).unwrap();
            }
            2 if editor.get(&path(name)).unwrap().is_some() => {
                editor.remove(&path(name)).unwrap();
            }
            _ => {}
        }
    }
}

/// Every case by itself, one root and one mount each.
fn chosen_stacks(place: &Path) {
    let source = place.join("source");
    fs::create_dir_all(source.join("dir/inner")).unwrap();
    for name in ["file", "other", "dir/one", "dir/two", "dir/inner/deep"] {
        fs::write(source.join(name), name).unwrap();
    }
    std::os::unix::fs::symlink("file", source.join("link")).unwrap();
    let options = ImportOptions::default();
    let vault = home_at(place).create("v", Some(&source), &options, &actor()).unwrap().vault;
    let base = head(&vault);
    let mut mounts = Mounts::new(place);
    mounts.add(&vault, &base, &[]);
    for change in changes(&vault) {
        let root = edit(&vault, &base, change);
        assert_ne!(root, base);
        let layers = mounts.add(&vault, &root, &[base]);
        assert_eq!(layers.len(), 2, "a delta above the base");
        assert_eq!(vault.stack(&root, &[]).unwrap().directories, layers, "the same the next time");
    }
    // A lost delta layer is made again, also where others stand upon it.
    let root = edit(&vault, &base, |editor| drop(editor.remove(&path("/other")).unwrap()));
    let layers = vault.stack(&root, &[base]).unwrap().directories;
    let above = edit(&vault, &root, |editor| drop(editor.remove(&path("/file")).unwrap()));
    assert_eq!(vault.stack(&above, &[root]).unwrap().directories.len(), 3);
    fs::remove_dir_all(layers[0].parent().unwrap()).unwrap();
    assert!(!mounts.add(&vault, &above, &[root, base]).contains(&layers[0]));
    assert!(!mounts.add(&vault, &root, &[base]).contains(&layers[0]));
    assert_eq!(vault.check(CheckDepth::Content).unwrap().problems, Vec::<String>::new());
    // An empty vault has a stack as well, with the metadata of its top.
    let empty = home_at(place).create("e", None, &options, &actor()).unwrap().vault;
    mounts.add(&empty, &head(&empty), &[]);
    mounts.look();
}

type Edit<'a> = Box<dyn FnOnce(&mut TreeEditor<'_>) + 'a>;

fn changes(vault: &Vault) -> Vec<Edit<'_>> {
    let remove = |at: &'static str| -> Edit<'_> {
        Box::new(move |editor| drop(editor.remove(&path(at)).unwrap()))
    };
    let put = |at: &'static str, entry: Entry| -> Edit<'_> {
        Box::new(move |editor| editor.put(&path(at), entry).unwrap())
    };
    let folder = || -> Entry {
        let mut batch = offshoot_tree::Batch::default();
        let body = Body::Directory(batch.directory(&[]).into());
        vault.store(&batch).unwrap();
        Entry::new(meta(0o755), body)
    };
    let link = || Entry {
        body: Body::Symlink { target: b"dir".to_vec() },
        ..Entry { meta: meta(0o777), ..folder() }
    };
    let mode_zero = Entry { meta: meta(0), ..file(vault, b"nobody may read this") };
    vec![
        remove("/file"),
        remove("/dir"),
        remove("/dir/inner/deep"),
        put("/dir", file(vault, b"was a directory")),
        put("/dir", link()),
        put("/file", folder()),
        put("/file", link()),
        put("/link", file(vault, b"was a link")),
        put("/link", folder()),
        // Emptied, not removed: nothing of what was in it may shine through.
        put("/dir", folder()),
        put("/dir/inner", folder()),
        put("/file", mode_zero),
        Box::new(|editor| {
            let moved = editor.remove(&path("/dir")).unwrap();
            editor.put(&path("/moved"), moved).unwrap();
        }),
        Box::new(|editor| {
            let inner = editor.remove(&path("/dir/inner")).unwrap();
            editor.remove(&path("/dir")).unwrap();
            editor.put(&path("/dir"), inner).unwrap();
        }),
        // Metadata alone: of the top, of a directory, of a file.
        Box::new(|editor| touch(editor, "/")),
        Box::new(|editor| touch(editor, "/dir/inner")),
        Box::new(|editor| touch(editor, "/dir/one")),
    ]
}

fn touch(editor: &mut TreeEditor<'_>, at: &str) {
    let mut entry = editor.get(&path(at)).unwrap().unwrap();
    entry.meta.mode = 0o711;
    entry.meta.mtime = offshoot_host::Mtime { seconds: -5, nanoseconds: 999_999_999 };
    entry.meta.xattrs = vec![
        (b"user.overlay.opaque".to_vec(), b"y".to_vec()),
        (b"user.overlay.overlay.opaque".to_vec(), b"y".to_vec()),
        (b"user.x".to_vec(), b"".to_vec()),
    ];
    editor.put(&path(at), entry).unwrap();
}
