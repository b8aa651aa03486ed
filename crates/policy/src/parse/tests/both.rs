//! What dash and bash both read, but differently: both readings are there.

use super::{check, parse_text};

#[test]
fn quotes() {
    check(r"a $'b\x2f\101\n\'c'", &["a b/A\\n'c", "? a quote is not closed"]);
    check(r"a $'b\tc'", &["a b\tc", r"a $b\tc"]);
    check("a $\"b $x\"", &["a b_\"$\"", "a $b_\"$\""]);
    check("a $'\\xff'", &["a \"$\"", "a $\\xff"]);
}

#[test]
fn redirections() {
    check("a &>f", &["a >f", "a apart", ">f"]);
    check("a &>>f", &["a >>f", "a apart", ">>f"]);
    check("a 12>f", &["a >f", "a 12 >f"]);
    check("a {x}>f", &["a >f", "a {x} >f"]);
}

#[test]
fn braces() {
    check("rm {a,b}.c", &["rm a.c b.c", "rm {a,b}.c"]);
    check("{rm,-r} x{1..3}", &["rm -r x1 x2 x3", "{rm,-r} x{1..3}"]);
    check("a {b} {} {c", &["a {b} {} {c"]);
    check("{,rm} x", &["rm x", "{,rm} x"]);
    check("a {1..1000}", &["a $", "a {1..1000}"]);
    check("a {b,{c,d}e}", &["a b ce de", "a {b,{c,d}e}"]);
    check("a \\${b,c}", &["a $b $c", "a ${b,c}"]);
    check("rm ''{,x}", &["rm '' x", "rm {,x}"]);
    check("rm {a,b{}", &["rm {a,b{}"]);
    check("rm {a,b{}}", &["rm a b{}", "rm {a,b{}}"]);
    check("xargs -I{} rm {}", &["xargs -I{} rm {}"]);
    check("rm ~:", &["rm ‹~›:", "rm ~:"]);
    check("x={a,b}", &["x={a,b}"]);
}

/// To bash a brace ahead of all commas closes nothing: `{a}b,c}` is `a}b` and `c`.
#[test]
fn braces_that_close_nothing() {
    for word in
        ["{a}b,-c}", "{a}\\{b,-c}", "x{}b,-c}", "''{}b,-c}", "{a,b}{}c,-d}", "{a}{b,c}d,-e}"]
    {
        let script = parse_text(format!("sort {word}").as_bytes());
        assert_eq!(super::lines(&script)[0], "sort $", "{word}");
    }
    check(
        "sort {a}b {a}b,c {}b,c} {a{b}c,d}",
        &["sort {a}b {a}b,c {}b,c} a{b}c d", "sort {a}b {a}b,c {}b,c} {a{b}c,d}"],
    );
}

#[test]
fn words_of_bash_grammar() {
    check("[[ a > b ]]", &["[[ a ]] >b"]);
    check("((x > y))", &["x >y apart"]);
    check("time rm x", &["rm x", "time rm x"]);
    check("function f { rm x; }", &["rm x"]);
    check("a[0]=$(b) c", &["b apart", "a=\"$\" c", "a‹[0]›=$ c"]);
    check("a+=b c", &["a=b c", "a+=b c"]);
    check("make x=~/y", &["make x=‹~›/y", "make x=~/y"]);
    check("a $[1 + 2]", &["a $", "a $[1 + 2]"]);
}

#[test]
fn both_are_fed() {
    check("cat $'x' | sh", &["cat x apart", "cat $x apart", "sh from 0 1 apart"]);
    check("cd a; b {c,d}; cd e", &["cd a", "b c d", "b {c,d}", "cd e"]);
}
