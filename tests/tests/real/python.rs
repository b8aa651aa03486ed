//! Python: environments, wheels and compiled modules.

use offshoot_needs::needs;
use offshoot_tests::tier::Tier;

use crate::scene::{Scene, Who, exactly};

/// Makes a wheel by hand, so that nothing is needed but the library of the language.
pub(crate) const WHEEL: &str = r#"
import base64, hashlib, zipfile
files = {
    "greet/__init__.py": "def main():\n    print('hello from a wheel')\n    return 0\n",
    "greet/data.txt": "data\n",
    "greet-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: greet\nVersion: 1.0\n",
    "greet-1.0.dist-info/WHEEL":
        "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "greet-1.0.dist-info/entry_points.txt": "[console_scripts]\ngreet = greet:main\n",
}
record = "greet-1.0.dist-info/RECORD"
lines = []
with zipfile.ZipFile("greet-1.0-py3-none-any.whl", "w") as wheel:
    def add(name, text):
        wheel.writestr(zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6)), text)
    for name, text in files.items():
        digest = hashlib.sha256(text.encode()).digest()
        digest = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(text)}")
        add(name, text)
    add(record, "\n".join(lines + [record + ",,"]) + "\n")
"#;

fn project(who: Who) -> Scene {
    let mut scene = Scene::new(who);
    scene.set("PIP_NO_INDEX", "1");
    scene.set("PIP_NO_CACHE_DIR", "1");
    scene.set("PIP_DISABLE_PIP_VERSION_CHECK", "1");
    scene.set("PIP_ROOT_USER_ACTION", "ignore");
    scene.place.write("wheel.py", WHEEL);
    for number in 0..20 {
        scene.place.write(format!("package/module{number}.py"), format!("VALUE = {number}\n"));
    }
    scene.place.write("package/__init__.py", "");
    scene.bind();
    scene
}

/// A compiled module has the time of its source in it, and the sources were written at two times.
fn differs(path: &str) -> bool {
    path.contains("__pycache__/")
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_wheel_in_an_environment() {
    wheel(Who::Me);
}

#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn a_wheel_in_an_environment_of_an_ordinary_user() {
    // To make an environment with pip in it takes seconds of two processors.
    match Tier::from_env() {
        Tier::Quick => environment(Who::Ordinary),
        Tier::Long => wheel(Who::Ordinary),
    }
}

fn wheel(who: Who) {
    let scene = project(who);
    let scripts = [
        "python3 wheel.py; python3 -m zipfile -l greet-1.0-py3-none-any.whl",
        "python3 -m venv env",
        "env/bin/pip install --no-index -q greet-1.0-py3-none-any.whl; env/bin/pip list --format=freeze",
        ". env/bin/activate; greet; python -c 'import greet, sys; print(greet.__file__, sys.prefix)'",
        "env/bin/pip uninstall -y -q greet; ! test -e env/bin/greet",
    ];
    let said = scene.both(&scripts, exactly);
    assert!(said[3].out.starts_with("hello from a wheel\n"), "{:?}", said[3]);
    scene.same_tree(differs);
}

/// An environment without pip, into which a wheel is unpacked.
fn environment(who: Who) {
    let scene = project(who);
    let scripts = [
        "python3 wheel.py; python3 -m venv --without-pip env",
        "env/bin/python -m zipfile -e greet-1.0-py3-none-any.whl env/lib/python3*/site-packages",
        ". env/bin/activate; python -c 'import greet, sys; greet.main(); print(sys.prefix)'",
        "env/bin/python -m compileall -q package env; env/bin/python -c 'import package.module7'",
    ];
    let said = scene.both(&scripts, exactly);
    assert!(said[2].out.starts_with("hello from a wheel\n"), "{:?}", said[2]);
    scene.same_tree(differs);
}

/// Compiled modules stay valid over a seal: they name the time of their source.
#[needs(Overlay, UserNamespace, "python3")]
#[test]
fn compiled_modules_stay_valid() {
    let scene = project(Who::Me);
    let scripts = [
        "python3 -m compileall package | sort",
        "python3 -m compileall package | grep -c Compiling || true",
        // The time is in whole seconds, and the module was compiled in this one.
        "echo 'VALUE = 100' > package/module3.py; touch -d @1000000000 package/module3.py
         python3 -m compileall package | grep Compiling",
        "python3 -c 'import package.module3 as m; print(m.VALUE, m.__cached__)'",
    ];
    let said = scene.both(&scripts, exactly);
    assert_eq!(said[1].out, "0\n", "nothing is compiled twice");
    scene.same_tree(differs);
}
