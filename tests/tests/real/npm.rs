//! npm and node, with packages that are made on the spot and no registry.

use offshoot_needs::needs;

use crate::scene::{Scene, Who};

fn project() -> Scene {
    let mut scene = Scene::new(Who::Me);
    for (name, value) in [
        ("npm_config_audit", "false"),
        ("npm_config_fund", "false"),
        ("npm_config_update_notifier", "false"),
        // Nobody answers here, should something ask a registry after all.
        ("npm_config_registry", "http://127.0.0.1:9/"),
    ] {
        scene.set(name, value);
    }
    for (path, text) in [
        ("packages/low/package.json", r#"{"name": "low", "version": "1.2.3", "main": "low.js"}"#),
        ("packages/low/low.js", "module.exports = n => n * 2;\n"),
        (
            "packages/high/package.json",
            r#"{"name": "high", "version": "2.0.0", "main": "high.js", "bin": {"high": "cli.js"},
                "dependencies": {"low": "^1.0.0"}}"#,
        ),
        (
            "packages/high/high.js",
            "const low = require('low');\nmodule.exports = n => low(n) + 1;\n",
        ),
        (
            "packages/high/cli.js",
            "#!/usr/bin/env node\nconsole.log('cli', require('./high.js')(Number(process.argv[2])));\n",
        ),
        (
            "app/package.json",
            r#"{"name": "app", "version": "0.0.1", "private": true,
                "scripts": {"start": "node index.js", "tool": "high 20"}}"#,
        ),
        (
            "app/index.js",
            "console.log(require('high')(20), require('low/package.json').version);\n",
        ),
    ] {
        scene.place.write(path, text);
    }
    scene.bind();
    scene
}

/// How long things took is not the same twice.
fn normal(text: &str) -> String {
    let cut = |line: &str| line.rsplit_once(" in ").map_or(line, |(what, _)| what).to_owned();
    text.lines().map(cut).collect::<Vec<_>>().join("\n")
}

#[needs(Overlay, UserNamespace, "node", "npm")]
#[test]
fn packages_are_made_installed_and_run() {
    let scene = project();
    let scripts = [
        "for name in low high; do (cd packages/$name; npm pack --silent --pack-destination ../..); done; ls",
        "cd app; npm install --offline ../low-1.2.3.tgz ../high-2.0.0.tgz; ls -R node_modules",
        "cd app; npm run --silent start; npm run --silent tool; node_modules/.bin/high 1; npm ls",
        "cd app; rm -rf node_modules; npm ci --offline; npm start --silent",
        "cd app; npm uninstall --offline high; ls -A node_modules; ! node index.js 2> /dev/null",
    ];
    let said = scene.both(&scripts, normal);
    assert!(said[2].out.starts_with("41 1.2.3\ncli 41\ncli 3\n"), "{:?}", said[2]);
    scene.same_tree(|_| false);
}
