//! Fragments of shell, with the tools that people and agents use on files.
//!
//! None reads from a pipe, waits for input, or lets a copy contain itself.

use super::Generator;

/// Each works on files `$1` and `$2`, neither of which leads to a pipe.
const ON_FILES: [&str; 15] = [
    "sed -i 's/line/LINE/' -- \"./$1\"",
    "sed -i.bak 's/some/any/' -- \"./$1\"",
    "[ -f \"$1\" ] && cat -- \"$1\" >>\"$2\"",
    "dd if=/dev/zero of=\"$1\" bs=1 count=7 seek=4096 conv=notrunc",
    "printf changed 1<>\"$1\"",
    ": >\"$1\"",
    "cp -a -T -- \"$1\" \"$2\"",
    "cp -f --preserve=mode,timestamps -T -- \"$1\" \"$2\"",
    "ln -f -T -- \"$1\" \"$2\"",
    "ln -sfn -- a \"$1\"",
    "touch -h -d '2010-01-02 03:04:05.678901234' -- \"$1\"",
    "chmod u+rw -- \"$1\"",
    "touch -- \"$1\"",
    // As many editors write: the same bytes, attributes and times in another file.
    "cp -a -T -- \"$1\" \"$1.copy\" && mv -f -T -- \"$1.copy\" \"$1\"",
    "printf '#!/bin/sh\\necho ran >\"$0.out\"\\n' >\"$2\" && chmod 700 -- \"$2\" && \"./$2\"",
];

/// What opens a pipe waits for its other end for ever.
const NO_PIPES: &str = "[ ! -p \"$1\" ] && [ ! -p \"$2\" ] && ";

/// Each works on the directory `$1` and the new name `$2`.
///
/// `tar` ends with 1 where a time of change, which nothing can set, is not the same before and after. An overlay may touch
/// that of a directory when it is first read, so that status is no more than a remark here.
const ON_DIRECTORIES: [&str; 15] = [
    "cp -a -T -- \"$1\" \"$2\"",
    "cp -al -T -- \"$1\" \"$2\"",
    "cp -r -T -- \"$1\" \"$2\" && find \"./$2\" -exec touch -h -d @1234567890 {} +",
    "mkdir -- \"$2\" && tar -c --format=posix --xattrs -f - -- \"$1\" | tar -x --xattrs -p -f - -C \"$2\"",
    "tar -c --format=posix -f \"$2\" -- \"$1\" && rm -rf -- \"$1\" && tar -x -f \"$2\"; rm -f -- \"$2\"",
    "find \"./$1\" -type f -size -2 -delete",
    "find \"./$1\" -mindepth 1 -name 'a*' -delete",
    "find \"./$1\" -depth -delete",
    "rm -rf -- \"$1\" && mkdir -- \"$1\" && echo new >\"$1/new\"",
    "chmod -R u+rwX,go-w -- \"$1\"",
    "mkdir -- \"$2\" && for i in 1 2 3 4; do (echo $i >\"$2/$i\"; mv -- \"$2/$i\" \"$2/n$i\") & done; wait",
    "mkdir -- \"$2\" && (setsid sh -c 'sleep 0.01; echo late >\"$1/late\"' sh \"$2\") & wait",
    "mkdir -- \"$2\" && cd -- \"$2\" && seq 400 | xargs touch -d @1234567890",
    "cd -- \"$1\" && ls | head -n 3 | xargs -d '\\n' rm -f --",
    "mkdir -p -- \"$2/p/q\" && mv -- \"$2/p\" \"$2/r\" && mv -- \"$2\" \"$2.moved\"",
];

pub(super) fn action(generator: &mut Generator) {
    let on_files = generator.rng.one_in(2);
    let scripts: &[&str] = if on_files { &ON_FILES } else { &ON_DIRECTORIES };
    let script = *generator.rng.pick(scripts).expect("there are scripts");
    let (first, second) = if on_files {
        let second = if generator.rng.one_in(2) { generator.new_path() } else { generator.file() };
        (generator.file(), second)
    } else {
        (generator.inner_directory(), fresh_top(generator))
    };
    let script = if on_files { [NO_PIPES, script].concat() } else { script.to_owned() };
    // A program is told of what makes links.
    let links = script.contains("ln -f") || script.contains("cp -al");
    let verb: &[u8] = if links { b"links" } else { b"sh" };
    generator.step([verb, script.as_bytes(), &first, &second]);
    if on_files {
        generator.made_file(&second);
        generator.settle(&second);
        generator.settle(&first);
    } else {
        generator.made_directory(&second);
    }
}

/// A name at the top that nothing else has: a copy into what is copied would have no end.
fn fresh_top(generator: &mut Generator) -> Vec<u8> {
    let number = generator.rng.below(1 << 30);
    format!("top{number}").into_bytes()
}
