//! A day with npm, with a registry on this machine.

use offshoot_needs::needs;
use offshoot_tests::registry::Registry;

use super::Session;

#[needs(Overlay, UserNamespace, "bash", "git", "node", "npm")]
#[test]
fn a_package_is_installed_and_brought_home() {
    let manifest = "{\n  \"name\": \"app\",\n  \"version\": \"1.0.0\"\n}\n";
    let files = [
        ("package.json", manifest),
        ("index.js", "console.log(require('left'));\n"),
        (".gitignore", "node_modules\n"),
    ];
    let mut session = Session::with_git(&files);
    let registry = Registry::start();
    registry.add_npm("left", "module.exports = 'here';\n", session.place.path());
    let settings = "audit=false\nfund=false\nupdate-notifier=false\nprogress=false\n";
    session.home(".npmrc", &format!("{settings}registry={}/\n", registry.address()));
    session.types(&[
        "offshoot exec -w add --net host -- npm install left",
        "offshoot exec -w add -- node index.js",
        "offshoot diff package.json",
        "offshoot diff -- package.json",
        "offshoot commit",
        "git status --short",
    ]);
    insta::assert_snapshot!(session.text());
}
