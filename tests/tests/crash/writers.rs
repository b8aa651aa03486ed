//! Several writers at once, killed at any moment.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use offshoot_tests::rng::Rng;
use offshoot_tests::tier::cases;

use crate::points::seed;
use crate::scene::{Operation, Scene, temporary};

const WRITERS: usize = 3;

/// Writers of one workspace, each of a file of its own, in rounds: after each, every file is what it was or what its
/// writer wrote, and what a writer reported as done is there.
#[test]
fn writers_are_killed_at_random() {
    let scene = Scene::new(Operation::WriteSmall);
    let (home, sources) = (scene.copy(), temporary());
    let mut rng = Rng::new(seed());
    let rounds = cases(20, 500);
    println!("writers: {rounds} rounds, OFFSHOOT_SEED={}", seed());
    let mut known: Vec<Option<Vec<u8>>> = vec![None; WRITERS];
    let (mut whole, mut cut) = (0, 0);
    let mut longest = Duration::from_millis(100);
    for round in 0..rounds {
        let contents: Vec<Vec<u8>> = (0..WRITERS)
            .map(|_| {
                let length = if rng.one_in(3) { 90_000 } else { rng.below(2000) as usize };
                rng.bytes(length + 1)
            })
            .collect();
        let mut children: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let source = sources.path().join(writer.to_string());
                fs::write(&source, &contents[writer]).unwrap();
                let (path, source) = (format!("/file-{writer}"), source.display().to_string());
                let arguments = ["fs", "write", &path, "--from", &source, "-w", "w"];
                scene.command(home.path(), &arguments).spawn().unwrap()
            })
            .collect();
        let start = Instant::now();
        if round == 0 {
            // Nobody is killed: it shows how long they take here.
            assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
            longest = start.elapsed();
        } else {
            thread::sleep(longest.mul_f64(rng.below(1100) as f64 / 1000.0));
            children.iter_mut().for_each(|child| child.kill().unwrap());
        }
        let ends = children.into_iter().map(|child| child.wait_with_output().unwrap().status);
        let finished: Vec<bool> = ends.map(|status| status.success()).collect();
        let check = scene.offshoot(home.path(), &["vault", "check"]);
        assert!(check.status.success(), "round {round}: {check:?}");
        for writer in 0..WRITERS {
            let path = format!("/file-{writer}");
            let read = scene.offshoot(home.path(), &["fs", "cat", &path, "-w", "w"]);
            let found = read.status.success().then_some(read.stdout);
            let written = found.as_ref() == Some(&contents[writer]);
            assert!(
                written || found == known[writer] && !finished[writer],
                "round {round}: {path} is {:?} bytes long; finished: {finished:?}",
                found.map(|bytes| bytes.len())
            );
            *(if written { &mut whole } else { &mut cut }) += 1;
            known[writer] = found;
        }
    }
    println!("writers: {whole} writes there, {cut} cut short");
}
