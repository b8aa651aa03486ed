use super::line::{FILES, SHAPES};
use super::value::{has_known_shape, has_shape};
use super::*;

fn rest(name: &str, text: &str) -> String {
    match scrub(name, text.as_bytes()) {
        Scrubbed::Whole => text.to_owned(),
        Scrubbed::Without(kept, _) => String::from_utf8(kept).unwrap(),
        Scrubbed::Nothing(_) => String::new(),
    }
}

fn without(kept: &str, lines: &[usize], logins: &[usize]) -> Scrubbed {
    Scrubbed::Without(kept.into(), OmittedLines { lines: lines.into(), logins: logins.into() })
}

/// What of a line is left in a file: the line, or nothing.
fn stays(name: &str, line: &str) -> bool {
    scrub(name, line.as_bytes()) == Scrubbed::Whole
}

#[test]
fn settings_without_credentials_stay_whole() {
    let text = "[user]\n\tname = A B\n\temail = a@b.example\n\tsigningKey = 0123456789ABCDEF0123456789ABCDEF01234567\n";
    assert_eq!(scrub(".gitconfig", text.as_bytes()), Scrubbed::Whole);
    assert_eq!(scrub("x.xml", b"<a/>"), Scrubbed::Whole);
}

#[test]
fn a_section_about_credentials_goes_as_a_whole() {
    let text = "[user]\n\tname = A\n[credential \"https://x\"]\n\thelper = !gh auth\n[core]\n\teditor = vi\n";
    assert_eq!(rest(".gitconfig", text), "[user]\n\tname = A\n[core]\n\teditor = vi\n");
    let text = "[url \"https://me:pw@host/\"]\n\tinsteadOf = x\n[http]\n\textraHeader = \"Authorization: \\\n  more\"\n\tproxy = p\n";
    let left = "[url \"https://host/\"]\n\tinsteadOf = x\n[http]\n\tproxy = p\n";
    assert_eq!(rest(".gitconfig", text), left);
}

/// The last word of a name may say that its value is none.
#[test]
fn values_of_a_kind_that_is_no_credential_stay() {
    for line in [
        "COOKIE_DOMAIN=example.com",
        "COOKIE_DOMAIN=.api.example.co.uk",
        "COOKIE_PATH=/",
        "COOKIE_PATH=/api/v2",
        "PASSWORD_FILE=/data/secrets/db",
        "COOKIE_NAME=session_id",
        "COOKIE_SAMESITE=Lax",
        "SESSION_TIMEOUT=3600",
        "TOKEN_TTL=15m",
        "TOKEN_URL=https://auth.example.com/oauth/token",
        "AUTH_URL=https://auth.example.com",
        "PASSWORD_MIN_LENGTH=12",
        "passwordMinLength: 12",
        "KEY_COLUMN=id",
        "JWT_ALGORITHM=HS256",
        "secret-name = db-credentials",
        "TOKEN_ENDPOINT=http://localhost:8080/token",
    ] {
        let text = format!("{line}\n");
        for file in ["settings.env", ".bashrc"] {
            if file == ".bashrc" && !line.contains('=') || line.contains(" = ") {
                continue;
            }
            assert_eq!(scrub(file, text.as_bytes()), Scrubbed::Whole, "{file}: {line}");
        }
        assert_eq!(scrub("settings.ini", text.as_bytes()), Scrubbed::Whole, "{line}");
    }
    for line in [
        "COOKIE_DOMAIN=hunter2",
        "COOKIE_DOMAIN=Tr0ub4dor.3",
        "COOKIE_PATH=hunter2",
        "COOKIE_PATH=/k3jh5g2kj3h5g2k3j5hg",
        "PASSWORD=/hunter2",
        "//registry.example/:_authToken=/Zm9vOmJhcg==",
        "COOKIE_NAME=hunter2",
        "COOKIE=example.com",
        "TOKEN_TTL=hunter2",
        "PASSWORD_MAX=12345678",
        "DB_PASSWORD_LENGTH=correct horse",
        "TOKEN_URL=https://auth.example.com/?t=abc",
        "TOKEN_URL=https://auth.example.com/9f8e7d6c5b4a",
        "TOKEN_URL=abcdef",
        "WEBHOOK_URL=https://hooks.example.com/in",
        "SENTRY_DSN_URL=https://sentry.example.com/in",
        "PASSWORD_HASH=HS256",
        "JWT_ALGORITHM=correcthorsebattery",
        "SECRET_TYPE=ghp_abcdefghijklmnopqrst0123",
        "PASSWORD=12",
        "TOKEN=example.com",
    ] {
        let text = format!("a=1\n{line}\n");
        assert_eq!(scrub("settings.ini", text.as_bytes()), without("a=1\n", &[2], &[]), "{line}");
    }
}

#[test]
fn lines_with_credentials_go() {
    assert_eq!(
        rest(".npmrc", "registry=https://r/\n//r/:_authToken=abc\nsave=true\n"),
        "registry=https://r/\nsave=true\n"
    );
    assert_eq!(
        rest("pip.conf", "[global]\npassword = https://u:p@h/simple\ntimeout = 3\n"),
        "[global]\ntimeout = 3\n"
    );
    assert_eq!(
        rest("config.toml", "[registry]\nToken = \"x\"\n[net]\nretry = 1"),
        "[registry]\n[net]\nretry = 1"
    );
}

/// Without the line a tool would use another registry than the one that was meant.
#[test]
fn addresses_stay_without_their_logins() {
    for (file, line, left) in [
        (
            "pip.conf",
            "index-url = http://u:pw@localhost:18731/simple",
            "index-url = http://localhost:18731/simple",
        ),
        ("pip.conf", "    https://hunter2hunter2@h/simple", "    https://h/simple"),
        (".npmrc", "@corp:registry=http://u:pw@host/", "@corp:registry=http://host/"),
        (".npmrc", "registry=https://ghp_abcdefghijklmnopqrst0123@host/", "registry=https://host/"),
        (
            "config.toml",
            "registry = \"sparse+https://u:p@w@h/i/\"",
            "registry = \"sparse+https://h/i/\"",
        ),
        ("uv.toml", "url = 'https://u:pw@h/simple'", "url = 'https://h/simple'"),
        (".condarc", "  - https://u:pw@h/c", "  - https://h/c"),
        (
            "go/env",
            "GOPROXY=https://u:pw@a,https://u:pw@b/x,direct",
            "GOPROXY=https://a,https://b/x,direct",
        ),
        (
            ".gemrc",
            ":sources: [https://h/, https://u:pw@h2/]",
            ":sources: [https://h/, https://h2/]",
        ),
        (
            ".bashrc",
            "export PIP_INDEX_URL=\"https://u:pw@h/\" # mine",
            "export PIP_INDEX_URL=\"https://h/\" # mine",
        ),
        (
            ".bashrc",
            "if x; then git clone https://u:pw@h/x; fi",
            "if x; then git clone https://h/x; fi",
        ),
        (
            ".yarnrc.yml",
            "npmRegistryServer: \"https://u:pw@h\"",
            "npmRegistryServer: \"https://h\"",
        ),
        ("settings.xml", "<url>https://u:pw@h/m2</url>", "<url>https://h/m2</url>"),
        ("init.gradle", "maven { url 'https://u:pw@h/m2' }", "maven { url 'https://h/m2' }"),
    ] {
        let text = format!("# first\n{line}\n");
        assert_eq!(
            scrub(file, text.as_bytes()),
            without(&format!("# first\n{left}\n"), &[], &[2]),
            "{line}"
        );
    }
    // Nor does a token in another line take the registry with it.
    let text =
        "npmScopes:\n  corp:\n    npmRegistryServer: \"https://h\"\n    npmAuthToken: abcdef\n";
    let left = "npmScopes:\n  corp:\n    npmRegistryServer: \"https://h\"\n";
    assert_eq!(scrub(".yarnrc.yml", text.as_bytes()), without(left, &[4], &[]));
    // What else an address holds takes the line with it, which is then told of as such.
    for line in [
        "url = https://u:pw@h/t/abcdef/x",
        "url = https://u:pw@h/?token=abcdef",
        "url = https://u:pw@h/ghp_abcdefghijklmnopqrst0123",
    ] {
        let text = format!("a = 1\n{line}\n");
        assert_eq!(scrub("x.conf", text.as_bytes()), without("a = 1\n", &[2], &[]), "{line}");
    }
    // A login that goes on in the next line is none that can be taken out.
    assert_eq!(rest("x.conf", "a = 1\nurl = https://u:\\\npw@h/\n"), "a = 1\n");
    // What a program makes of its variables is not changed.
    for (file, line) in [
        (".bashrc", "url=https://me:$TOKEN@h/"),
        (".bashrc", "url=https://me:${TOKEN}@h/"),
        ("pip.conf", "index-url = https://me:${TOKEN}@h/"),
        ("init.lua", "local url = ('https://%s:%s@h'):format(a, b)"),
        ("init.vim", "let re = 'https://\\w*:\\w*@'"),
        (".gitconfig", "\tinsteadOf = https://git@h/"),
    ] {
        assert!(stays(file, line), "{file}: {line}");
    }
}

/// Each row of the table is found by itself, whatever the variable is called.
#[test]
fn every_shape_is_found() {
    for shape in SHAPES {
        assert!(has_shape(shape.example, shape), "{}", shape.start);
        assert!(!stays("settings.conf", shape.example), "{}", shape.start);
        assert!(!stays(".bashrc", shape.example), "{}", shape.start);
    }
    for harmless in [
        "npm_config_fetch_retries=3",
        "alias sk-learn-environment='conda activate scikit-learn'",
        "x=task-force-of-people-2026-11-17",
        "AKIA=1",
        "cio=1 SKIP=1 patience=2 path=/usr/share/patterns/2026",
        "image: acme/tool:v1.0-rc1-20261117-alpine",
        "ssh-key-ed25519 sdk-manager-2026 key-bindings-vi dapidriver=2026 pul-request=1",
        "time=12:AA level=rnd_seed r8_register=1 whsec_=",
        "https://hooks.slack.com/ https://discord.com/api https://api.telegram.org/",
        "https://x.test/?design=1&sig",
    ] {
        assert!(!has_known_shape(harmless), "{harmless}");
    }
    for file in FILES {
        assert!(!stays(file.ends, file.example), "{}", file.ends);
        assert!(stays("other.conf", file.example), "{}", file.ends);
    }
}

#[test]
fn credentials_of_every_tool_are_found() {
    for (file, line) in [
        (".gitconfig", "\tsmtpPass = hunter2"),
        (".gitconfig", "\textraHeader = AUTHORIZATION: basic abcdef"),
        (".gitconfig", "\tproxy = http://me:pw@proxy:3128"),
        (".gitconfig", "\tdeploy = !curl -u me:pw https://example.com"),
        (".curlrc", "user = \"me:pw\""),
        (".curlrc", "-u me:pw"),
        (".curlrc", "proxy-user = me:pw"),
        (".curlrc", "header = \"Authorization: Bearer abcdef\""),
        (".bundle/config", "BUNDLE_X: \"me:ghp_abcdefghijklmnopqrst0123\""),
        (".bundle/config", "BUNDLE_GEMS__X: \"me:pw\""),
        (".condarc", "  - https://conda.anaconda.org/t/tk-abcdefgh/x"),
        (".npmrc", "proxy = me:pw@proxy:3128"),
        (".npmrc", "https-proxy=http://me:pw@proxy:3128/"),
        (".npmrc", "//r/:_password=\"aHVudGVyMg==\""),
        (".cargo/config.toml", "proxy = \"me:pw@proxy:3128\""),
        ("pip.conf", "extra-index-url = https://me:pw@host/simple"),
        (".yarnrc", "\"//r/:_authToken\" abcdef"),
        (".yarnrc.yml", "npmAuthIdent: \"me:pw\""),
        (".yarnrc.yml", "npmAuthToken: |"),
        ("NuGet.Config", "<add key=\"ClearTextPassword\" value=\"hunter2\" />"),
        ("settings.xml", "<password>hunter2</password>"),
        ("settings.xml", "<password>"),
        ("init.lua", "token = 'abcdef'"),
        (".wgetrc", "header = Cookie: a=b"),
        (".wgetrc", "header = X-Auth: abcdef"),
        (".wgetrc", "header = Authorization: abcdef"),
        (".npmrc", "otp=123456"),
        (".bashrc", "export AZURE_STORAGE_CONNECTION_STRING='AccountName=a;EndpointSuffix=b'"),
        ("x.conf", "store = AccountName=a;AccountKey=abcdef==;EndpointSuffix=b"),
        (".bashrc", "export DEPLOY_WEBHOOK_URL=https://example.com/x"),
        (".bashrc", "export COOKIE='a=b'"),
        ("fstab", "//h/s /mnt cifs username=me,password=hunter2,uid=1 0 0"),
        (".tmux.conf", "set-environment -g GITHUB_TOKEN abcdef"),
        ("go/env", "X_KEY=0123456789abcdefghijklmnopqrstuvwxyz"),
        (".bashrc", "export DB_PASS=hunter2"),
        (".bashrc", "MYSQL_PWD=hunter2"),
        (".bashrc", "export TOKEN=${OTHER:-hunter2}"),
        (".bashrc", "export TOKEN=$(echo hunter2)"),
        (".bashrc", "alias pr='curl -H \"Authorization: Bearer abcdef\" https://x'"),
        (".bashrc", "# export GITHUB_TOKEN=abcdef"),
        (".bashrc", "export http_proxy=http://me:pw@proxy"),
        (".bashrc", "login --password hunter2"),
        ("config.fish", "set -gx GITHUB_TOKEN abcdef"),
        (".npmrc", "key=\"-----BEGIN RSA PRIVATE KEY-----\\nMII\\n-----END RSA PRIVATE KEY-----\""),
    ] {
        assert!(!stays(file, line), "{file}: {line}");
    }
}

#[test]
fn what_only_says_where_a_credential_is_stays() {
    for (file, line) in [
        (".bashrc", "# set a password here"),
        (".bashrc", "export SSH_AUTH_SOCK=$XDG_RUNTIME_DIR/agent.sock"),
        (".bashrc", "export SSH_AUTH_SOCK=/run/user/1000/agent.sock"),
        (".bashrc", "export HISTIGNORE=\"*token*:*password=*\""),
        (".bashrc", "export PASSWORD_STORE_DIR=~/.password-store"),
        (".bashrc", "export PASSWORD_STORE_DIR=\"$HOME/.password-store\""),
        (".bashrc", "export GITHUB_TOKEN=$(gh auth token)"),
        (".bashrc", "export GITHUB_TOKEN=\"$(op read \"op://team/github/token\")\""),
        (".bashrc", "export GITHUB_TOKEN=`gh auth token`"),
        (".bashrc", "export GITHUB_TOKEN=${GH_TOKEN:-}"),
        (".bashrc", "alias token='gh auth token'"),
        (".bashrc", "read -sp \"Password: \" answer"),
        (".bashrc", "if [ -z \"$GITHUB_TOKEN\" ]; then"),
        (".bashrc", "curl -H \"Authorization: Bearer $TOKEN\" https://x"),
        (".bashrc", "export TOKENIZERS_PARALLELISM=false"),
        (".bashrc", "get_token() { gh auth token; }"),
        (".bashrc", "alias dk='docker run -u 1000:1000 curlimages/curl'"),
        (".npmrc", "//r/:_authToken=${NPM_TOKEN}"),
        (".npmrc", "//r/:always-auth=true"),
        (".gitconfig", "\tinsteadOf = https://github.com/"),
        (".gitconfig", "[url \"ssh://git@github.com/\"]"),
        (".gitconfig", "\turl = git@github.com:me/it"),
        (".gitconfig", "\taskPass = /usr/bin/ksshaskpass"),
        ("settings.xml", "<password>${env.NEXUS}</password>"),
        ("settings.xml", "<name>Mirror of releases</name>"),
        ("init.lua", "local token = vim.env.TOKEN"),
        ("config.toml", "max_tokens = 4096"),
        (".gitconfig", "\tcookieFile = ~/.gitcookies"),
        ("x.conf", "webhook_port = 9000"),
        ("fstab", "UUID=01234567-89ab-cdef-0123-456789abcdef / ext4 errors=remount-ro 0 1"),
    ] {
        assert!(stays(file, line), "{file}: {line}");
    }
}

#[test]
fn what_cannot_be_divided_goes() {
    let found = scrub("settings.xml", b"<a>\n<password>x</password>\n</a>");
    assert_eq!(found, Scrubbed::Nothing(2));
    let line = b"<configuration><add key=\"ClearTextPassword\" value=\"x\" /></configuration>";
    assert_eq!(scrub("NuGet.Config", line), Scrubbed::Nothing(1));
    let named = b"<a>\n<name>Private-Token</name>\n<value>abcdef</value>\n</a>";
    assert_eq!(scrub("settings.xml", named), Scrubbed::Nothing(2));
    let block = b"a: 1\nnpmAuthToken: |\n  hunter2\n";
    assert_eq!(scrub(".yarnrc.yml", block), Scrubbed::Nothing(2));
    let folded = b"a: 1\nnpmAuthToken: hunter2\n  hunter3\n";
    assert_eq!(scrub(".yarnrc.yml", folded), Scrubbed::Nothing(2));
    let value_below = b"[a]\npassword =\n    hunter2\n";
    assert_eq!(scrub("x.conf", value_below), Scrubbed::Nothing(2));
    let open = b"[a]\ntoken = \"\"\"\nabc\n\"\"\"\n";
    assert_eq!(scrub("config.toml", open), Scrubbed::Nothing(2));
    let key = b"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n";
    assert_eq!(scrub("x.conf", key), Scrubbed::Nothing(1));
}

/// The rest of what a shell starts with is what a person works with: aliases, the prompt.
#[test]
fn of_what_a_shell_starts_with_assignments_go() {
    let text =
        "alias ll='ls -l'\nif true; then\n    export GITHUB_TOKEN=abcdef  # mine\nfi\nPS1='$ '\n";
    let left = "alias ll='ls -l'\nif true; then\n    :\nfi\nPS1='$ '\n";
    assert_eq!(scrub(".bashrc", text.as_bytes()), without(left, &[3], &[]));
    for whole in [
        "TOKEN=abcdef make\n",
        "if x; then export TOKEN=abcdef; fi\n",
        "export TOKEN=abc\\\ndef\n",
        "export TOKEN='abc\ndef'\n",
        "cat > ~/.npmrc <<EOF\n_authToken=abcdef\nEOF\n",
        "login --password hunter2\n",
        "x='\nexport TOKEN=abcdef\n'\n",
        "export TOKEN=abcdef\necho 'open\n",
    ] {
        assert!(matches!(scrub(".bashrc", whole.as_bytes()), Scrubbed::Nothing(_)), "{whole}");
    }
    // Neither a comment nor a number that is shifted opens anything.
    let text = "# don't\necho $((1 << 2)) \"it's\"\ncat <<'END'\nit's\nEND\nexport TOKEN=abcdef\n";
    assert_eq!(rest(".zshrc", text), text.replace("export TOKEN=abcdef", ":"));
}

/// No word of the table is in these values: it is the name, the form or the file that tells.
#[test]
fn credentials_are_told_by_their_names_and_forms() {
    for (file, kept, line) in [
        (".curlrc", "silent", "user = \"me:abc\""),
        (".curlrc", "silent", "-u me:abc"),
        (".npmrc", "save=true", "key=\"-----BEGIN PRIVATE KEY-----\\nabc\""),
        (".gitconfig", "\tsmtpUser = me", "\tsmtpPass = abc"),
        (".condarc", "auto_update_conda: false", "  - https://conda.test/t/abc/mine"),
        (".bundle/config", "BUNDLE_JOBS: \"4\"", "BUNDLE_GEMS__HOST__TEST: \"me:abc\""),
        ("gradle.properties", "org.gradle.caching=true", "nexusPwd=abc"),
        ("config.toml", "retry = 1", "proxy = \"me:abc@proxy.test:3128\""),
        ("config.toml", "monkey = 1", "STRIPE_KEY = \"abc\""),
    ] {
        let left = rest(file, &format!("{kept}\n{line}\n"));
        // A value that may go on in other lines takes the whole file with it.
        let whole = line.contains("BEGIN");
        assert!(!left.contains("abc") && (whole || left.starts_with(kept)), "{line}: {left}");
    }
    for (file, text) in [
        (".bashrc", "export GH_PAT=abc"),
        (".yarnrc.yml", "npmAuthIdent: \"me:abc\""),
        ("settings.xml", "<passphrase>abc</passphrase>"),
        ("composer.json", "{\"github-oauth\": {\"github.com\": \"abc\"}}"),
    ] {
        assert!(!rest(file, text).contains("abc"), "{text}");
    }
}

#[test]
fn what_only_resembles_a_credential_stays() {
    for (file, text) in [
        (".bashrc", "PS1='\\u@\\h:\\w$ '; cd \"$OLDPWD\"; export LD_LIBRARY_PATH=$PWD/lib\n"),
        (
            ".gitconfig",
            "[url \"git@host.test:\"]\n\tinsteadOf = host:\n[user]\n\tsigningkey = AB12\n",
        ),
        (".tmux.conf", "bind-key r source-file ~/.tmux.conf\n"),
        (".vimrc", "let g:some_keymap = 1\n"),
        ("gradle.properties", "systemProp.http.proxyHost=proxy.test\n"),
    ] {
        assert_eq!(scrub(file, text.as_bytes()), Scrubbed::Whole, "{text}");
    }
}
