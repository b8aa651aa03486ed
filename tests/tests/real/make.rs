//! make and a C compiler: what is built stays built.

use offshoot_needs::needs;

use crate::scene::{Scene, Who, exactly};

const OBJECTS: usize = 40;

const MAKEFILE: &str = "\
OBJECTS := $(patsubst %.c,build/%.o,$(wildcard *.c))
CFLAGS := -O0 -g -MMD
all: build/program
build/program: $(OBJECTS)
\t$(CC) -o $@ $^
build/%.o: %.c | build
\t$(CC) $(CFLAGS) -c -o $@ $<
build:
\tmkdir -p $@
clean:
\trm -rf build
-include $(OBJECTS:.o=.d)
";

fn project(who: Who) -> Scene {
    let scene = Scene::new(who);
    let mut calls = String::new();
    let mut header = String::from("#include <stdio.h>\n");
    for number in 0..OBJECTS {
        let source = format!("#include \"all.h\"\nint part{number}(void) {{ return {number}; }}\n");
        scene.place.write(format!("part{number}.c"), source);
        header.push_str(&format!("int part{number}(void);\n"));
        calls.push_str(&format!("  sum += part{number}();\n"));
    }
    scene.place.write("all.h", header);
    let main = format!(
        "#include \"all.h\"\nint main(void) {{\n  int sum = 0;\n{calls}  printf(\"%d\\n\", sum);\n  return 0;\n}}\n"
    );
    scene.place.write("main.c", main);
    scene.place.write("Makefile", MAKEFILE);
    scene.bind();
    scene
}

#[needs(Overlay, UserNamespace, "cc", "make")]
#[test]
fn objects_are_built_once() {
    once(Who::Me);
}

#[needs(Overlay, UserNamespace, "cc", "make")]
#[test]
fn objects_are_built_once_for_an_ordinary_user() {
    once(Who::Ordinary);
}

fn once(who: Who) {
    let scene = project(who);
    let scripts = [
        // Four jobs print in any order.
        "make -j4 | sort && build/program",
        "make -j4 && build/program",
        "touch part7.c && make -j4",
        "sed -i 's/return 7/return 1007/' part7.c && make -s && build/program",
        "touch all.h && make -n | wc -l",
        "make && rm build/part3.o && make && make -q",
        "make clean && make -s -j4 && build/program",
    ];
    let said = scene.both(&scripts, exactly);
    assert!(said[1].out.contains("Nothing to be done"), "{:?}", said[1]);
    assert_eq!(said[2].out.lines().count(), 2, "one object and the program: {:?}", said[2]);
    assert!(said[3].out.ends_with("1780\n"), "{:?}", said[3]);
    scene.same_tree(|_| false);
}
