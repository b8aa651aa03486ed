//! What bash reads and dash refuses.

use super::check;

#[test]
fn process_substitutions() {
    check("diff <(a) <(b)", &["a apart", "b apart", "diff \"$\" \"$\""]);
    check("sh < <(curl x)", &["curl x apart", "sh from 0"]);
    check("curl x > >(sh)", &["sh from 1 apart", "curl x"]);
    check("a | tee >(sh) f", &["a apart", "sh from 2 apart", "tee \"$\" f from 0 apart"]);
}

#[test]
fn arrays() {
    check("a=(b $(c) 'd e')", &["c apart", "a=b$d_e"]);
    check("declare -a x=(b `c`); d", &["c apart", "declare -a x=b$", "d"]);
    check("x=(a) b", &["x=a b"]);
}

#[test]
fn here_strings() {
    check("cat <<< \"a $x\"", &["cat from text a_\"$\"\\n"]);
    check("sh <<< 'rm x'", &["sh from text rm_x\\n"]);
}

#[test]
fn tests_with_expressions() {
    check("[[ $(a) =~ (b|c)+ && -f `d` ]] && e", &["a apart", "d apart", "e"]);
    check("[[ ( a == @(b|c) ) ]]; d", &["d"]);
}

#[test]
fn code_in_values() {
    check(
        "x='a[$(rm f)]'; echo $((x))",
        &[
            "x=a[$(rm_f)]",
            "echo $",
            "? an index of an array may run a substitution",
            "? arithmetic may run what a variable holds",
        ],
    );
    check("echo ${x@P}", &["echo $", "? a value is expanded as a prompt"]);
    check("echo ${!x}", &["echo $", "? the name of a variable is in a variable"]);
    check("echo ${!x@} ${!x[@]}", &["echo $ $"]);
    check("i=$((i + 1))", &["i=\"$\""]);
}

#[test]
fn what_shells_called_sh_read_differently() {
    check("time -p [[ a > b ]]", &["time -p [[ a ]] >b", "? `time` may be a program"]);
    check("time -p a", &["a", "time -p a"]);
    check(
        "((a <<E\nE\n); b)",
        &[
            "a from text '' apart",
            "b apart",
            "? parentheses look like arithmetic before a here-document",
        ],
    );
}

#[test]
fn other_loops() {
    check("for ((i=0; i<$(a); i++)); do b; done", &["a apart", "b"]);
    check("for x in a; { b; }", &["x=a", "b"]);
    check("a |& b", &["a apart", "b from 0 apart"]);
    check("case x in a) b;;& c) d;& e) f; esac", &["b", "d", "f"]);
}
