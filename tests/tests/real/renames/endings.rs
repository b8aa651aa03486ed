//! Moves that are not carried to their end: killed, out of time, or out of room.

use std::time::{Duration, Instant};

use offshoot_needs::needs;
use offshoot_tests::image::LoopImage;

use super::{inside, python};
use crate::scene::{Scene, Who};

/// Whoever is killed in the middle of a move leaves one whole tree, and nothing else.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_move_whose_caller_is_killed() {
    let scene = many_files(Who::Ordinary);
    let script = r#"
import signal, subprocess, sys, time
seen = set()
mover = "import os, sys; os.rename(sys.argv[1], sys.argv[2])"
place, other = "many", "moved"
for turn in range(14):
    child = subprocess.Popen([sys.executable, "-c", mover, place, other], stderr=subprocess.DEVNULL)
    time.sleep(0.02 * turn)
    child.kill()
    child.wait()
    # The broker may still be taking away what is not to stay.
    for attempt in range(1000):
        there = [name for name in ("many", "moved") if os.path.exists(name)]
        hidden = [name for name in os.listdir(".") if name.startswith(".offshoot")]
        if len(there) == 1 and not hidden:
            break
        time.sleep(0.01)
    counts = [sum(len(files) for _, _, files in os.walk(name)) for name in there]
    if counts != [FILES] or hidden:
        raise SystemExit(f"{there} {counts} {hidden}")
    seen.add(there[0] == place)
    place, other = (there[0], other if there[0] == place else place)
print(sorted(seen))
"#;
    let said = inside(&scene, &script.replace("FILES", &FILES.to_string()));
    assert!(["[False, True]\n", "[True]\n", "[False]\n"].contains(&said.as_str()), "{said}");
    println!("moved, stayed: {said}");
    scene.offshoot_ok(&["vault", "check"]);
}

/// The end of a command's time does not wait for a move to be done, nor is half of one kept.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_move_whose_time_is_over() {
    let scene = many_files(Who::Ordinary);
    let mover = python("rename('many', 'moved')");
    for timeout in ["30ms", "60ms", "120ms", "250ms"] {
        let started = Instant::now();
        let options = ["--timeout", timeout, "-c", "exec.grace=0s"];
        let envelope = scene.exec(&options, &["sh", "-c", &mover]);
        assert!(started.elapsed() < Duration::from_secs(30), "{envelope:#}");
        let count = "find . -type f | wc -l; ls -A";
        let said = scene.inside(count).out;
        let whole = ["many", "moved"].map(|name| format!("{FILES}\n{name}\n"));
        assert!(whole.contains(&said), "{timeout}: {said}\n{envelope:#}");
        scene.inside("! mv moved many 2>/dev/null || true");
    }
    scene.offshoot_ok(&["vault", "check"]);
}

const FILES: usize = 1_500;

fn many_files(who: Who) -> Scene {
    let scene = Scene::new(who);
    for number in 0..FILES {
        scene.place.write(format!("many/{}/{number}", number % 30), format!("{number}\n"));
    }
    scene.bind();
    scene
}

/// A directory that does not fit a second time stays where it is, whole.
#[needs(LoopMount, Overlay, UserNamespace, "python3")]
#[test]
fn a_move_on_a_full_disk() {
    let mut scene = Scene::new(Who::Me);
    let mount = LoopImage::create(40 << 20).unwrap().mount().unwrap();
    scene.set("OFFSHOOT_HOME", mount.path().join("home"));
    for number in 0..22 {
        let bytes: Vec<u8> = (0..1 << 20).map(|at: u32| (at.wrapping_mul(31) >> 3) as u8).collect();
        scene.place.write(format!("large/{}/{number}", number % 3), bytes);
    }
    scene.bind();
    let script = r#"
before = tree("large")
print(rename("large", "moved"), before == tree("large"), os.listdir("."))
"#;
    assert_eq!(inside(&scene, script), "ENOSPC True ['large']\n");
    scene.offshoot_ok(&["vault", "check"]);
}
