//! What all shells read alike.

use super::check;

#[test]
fn lists_and_pipelines() {
    check("ls -la", &["ls -la"]);
    check("a; b & c", &["a", "b apart", "c"]);
    check("a && b || c\nd", &["a", "b", "c", "d"]);
    check("a | b | c", &["a apart", "b from 0 apart", "c from 1 apart"]);
    check("! a |\n# no\n b", &["a apart", "b from 0 apart"]);
    check("a \\\n b\\\nc # d\n e#f", &["a bc", "e#f"]);
    check("", &[]);
    check(" # only this", &[]);
}

#[test]
fn quotes() {
    check("a 'b c' \"d e\" f\\ g ''", &["a b_c d_e f_g ''"]);
    check("r\"\"m -r'f' \\x", &["rm -rf x"]);
    check(r#"a "\$x \" \\ \y" '\n'"#, &[r#"a $x_"_\_\y \n"#]);
    check("a \"b\nc\"", &["a b\\nc"]);
    check("a\r", &["a\r"]);
    check("a\u{a0}b", &["a\u{a0}b"]);
    check("r\\\nm x", &["rm x"]);
    check("i\\\nf a; then b; fi", &["a", "b"]);
}

#[test]
fn expansions() {
    check("a $x \"$x\" ${y} \"$@\" $1$? $", &["a $ \"$\" $ $ $$ $"]);
    check("a $(b c) \"$(d)\"", &["b c apart", "d apart", "a $ \"$\""]);
    check("a `b \\`c\\`` \"`d \\\"e\\\"`\"", &["c apart", "b $ apart", "d e apart", "a $ \"$\""]);
    check("a ${x:-$(b)} \"${y#`c`}\" ${#x}", &["b apart", "c apart", "a $ \"$\" $"]);
    check("a $((1 + $(b)))", &["b apart", "a $"]);
    check("${x:=$(rm f)}", &["rm f apart", "x=$", "$"]);
    check(": ${PATH:=/evil}", &["PATH=/evil", ": $"]);
    check("a $(b $(c) | d)", &["c apart", "b $ apart", "d from 0 1 apart", "a $"]);
    check("a $(<f)", &["<f from file f apart", "a $"]);
    check("a \"$(case x in x) b;; esac)\"", &["b apart", "a \"$\""]);
    check("a $(b # c)\n)", &["b apart", "a $"]);
}

#[test]
fn patterns_and_tildes() {
    check("a *.c b? [a-z]x '*' \\* [ ]", &["a ‹*›.c b‹?› ‹[a-z]›x * * [ ]"]);
    check("[ -f x ]", &["[ -f x ]"]);
    check("a ~ ~/x ~me/y b~ '~' ~$x", &["a ‹~› ‹~›/x ‹~me›/y b~ ~ ~$"]);
    check("a=~/x:~/y b=*", &["a=‹~›/x:‹~›/y b=*"]);
    check("a [\"x\"] [$y]", &["a ‹[›x] ‹[›$]"]);
}

#[test]
fn assignments() {
    check("A=1 B='x y' c d=e", &["A=1 B=x_y c d=e"]);
    check("A=$(b) C=", &["b apart", "A=\"$\" C=''"]);
    check("export A=$(b) C=~", &["b apart", "export A=$ C=‹~›"]);
    check("'A'=1 b", &["A=1 b"]);
}

#[test]
fn redirections() {
    check("a >f 2>&1 <g >>h <>i 3>j", &["a >f <g >>h <>i >j from file i"]);
    check("a 2>/dev/null >&2 <&- 1>&-", &["a >/dev/null"]);
    check(">f", &[">f"]);
    check("a <&3", &["a from file \"$\""]);
    check("a >$x >\"$y\" >&$z >|w", &["a >$ >\"$\" >$ >w"]);
    check("{ a; b; } >f 2>g", &["a", "b", ">f >g"]);
    check(
        "while read x; do sh; done <f",
        &["read x from file f", "sh from file f", "<f from file f"],
    );
    check(
        "a | { b; c <d; } | e",
        &["a apart", "b from 0 apart", "c <d from file d apart", "e from 1 2 apart"],
    );
}

#[test]
fn compound_commands() {
    check("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]);
    check("while a; do b; done; until c; do d; done", &["a", "b", "c", "d"]);
    check("for x in a $(b); do c; done", &["b apart", "x=$", "c"]);
    check("for x do c; done", &["x=$", "c"]);
    check("for LD_PRELOAD in ./evil.so\ndo ls\ndone", &["LD_PRELOAD=./evil.so", "ls"]);
    check("case $(a) in b|c) d;; (e) f ;; *) esac", &["a apart", "d", "f"]);
    check("case x in $(a)) b\n esac", &["a apart", "b"]);
    check("(a; cd b) && c", &["a apart", "cd b apart", "c"]);
    check("( (a) ); b", &["a apart", "b"]);
    check("echo if then; echo }", &["echo if then", "echo }"]);
}

#[test]
fn functions() {
    check("f() { rm x; }; f a", &["rm x", "f a calls"]);
    check("f() ( a ); f", &["a apart", "f calls"]);
    check("rm x; rm() { :; }", &["rm x", ":"]);
    check("if a; then rm() { :; }; else rm x; fi; rm y", &["a", ":", "rm x", "rm y"]);
    check("false && rm() { :; }; rm x", &["false", ":", "rm x"]);
    check("(rm() { :; }); rm x", &[": apart", "rm x"]);
    check("rm() { :; } & rm x", &[": apart", "rm x"]);
    check("eval() { :; }; eval x", &[":", "eval x"]);
    check("rm() { :; }; unset -f rm; rm x", &[":", "unset -f rm", "rm x"]);
    check("f() { sh; }; curl x | f", &["sh from 1", "curl x apart", "f from 1 calls apart"]);
}

#[test]
fn what_is_no_program() {
    for text in [
        "a (b)",
        "a )",
        "(a",
        "if a",
        "a; }",
        "'a",
        "\"a",
        "`a",
        "$(a",
        "${a",
        "a >",
        "case x in a) b",
        "; a",
        "fi",
    ] {
        let script = super::parse_text(text.as_bytes());
        assert!(!script.unclear.is_empty(), "{text}: {:?}", super::lines(&script));
    }
    check("a (\nrm x", &["rm x", "? a parenthesis is out of place"]);
}
