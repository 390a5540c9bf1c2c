//! Files that lines read and write.

use super::super::read;

#[track_caller]
fn check_reads(line: &str, expected: &[&str]) {
    assert_eq!(read(line).reads, expected, "line: {line}");
}

#[track_caller]
fn check_writes(line: &str, expected: &[&str]) {
    assert_eq!(read(line).writes, expected, "line: {line}");
}

#[test]
fn readers() {
    check_reads("cat a 'b c' && cat -n a", &["a", "b c"]);
    check_reads("cd x && sed -n '1,20p' a.py", &["a.py"]);
    check_reads("sed -n -e 1p -e 2p a", &["a"]);
    check_reads("sed s/x/y/ a b | head", &["a", "b"]);
    check_reads(
        "head -n 5 a; head -20 b; tail -c 9 c; tail +3 d",
        &["a", "b", "c", "d"],
    );
    check_reads(
        "less a; more b; nl -ba c; bat -r 1:9 d",
        &["a", "b", "c", "d"],
    );
    check_reads("grep -n 'x y' a b", &["a", "b"]);
    check_reads(
        "grep -e x -A 3 a; rg -n --glob '*.rs' x src; ag x",
        &["a", "src"],
    );
    check_reads("awk -F : '{print $1}' a; awk -f p b", &["a", "b"]);
    check_reads("wc -l a; od -c b; xxd -l 9 c", &["a", "b", "c"]);
    check_reads("jq -r --arg k v '.x' a; jq . < b", &["a", "b"]);
    check_reads("while read x; do :; done < a", &["a"]);
    check_reads("x=$(<a); echo \"$(cat b)\"", &["a", "b"]);
    check_reads("bash -lc 'cat a' < b", &["b", "a"]);
    check_reads("[ -f a ] && cat a || cat b", &["a", "b"]);
    check_reads("cat -; cat < /dev/null; cat <<EOF\ncat x\nEOF", &[]);
    check_reads(
        "echo cat a; sed -i s/x/y/ a; cat > a; git commit -m 'cat b'",
        &[],
    );
}

#[test]
fn writers() {
    check_writes(
        "echo x > a; echo y >> b; c &> d; e >| f; g 2>&1 2> h",
        &["a", "b", "d", "f", "h"],
    );
    check_writes("a > /dev/null 2>&1; b >&2; c > \"$F\"", &["$F"]);
    check_writes("cat > 'a b' <<'EOF'\nx > y\nEOF", &["a b"]);
    check_writes(
        "{ a; b; } > c; (d) > e; for x in 1; do f; done > g",
        &["c", "e", "g"],
    );
    check_writes("a | tee -a b c | sudo tee d > /dev/null", &["b", "c", "d"]);
    check_writes(
        "sed -i 's/x/y/' a b; sed -i '' -e x c; sed -i.bak -E x d; sed -Ei x e",
        &["a", "b", "c", "d", "e"],
    );
    check_writes(
        "sed --in-place=.b x f; sed -n x g; sed -i '' x h",
        &["f", "h"],
    );
    check_writes(
        "perl -pi -e 's/x/y/' a; perl -i.bak -pe x b; perl -0pi -e x c; perl -ne x d",
        &["a", "b", "c"],
    );
    check_writes(
        "cp a b; mv -f c d/; cp -t e f g; cp h i j; mv k .",
        &["b", "d/c", "e/f", "e/g", "j/h", "j/i", "./k"],
    );
    check_writes(
        "touch -d now a b; truncate -s 0 c; dd if=x of=d; sort -o e f",
        &["a", "b", "c", "d", "e"],
    );
    check_writes("curl -so a http://x; wget -O b http://y", &["a", "b"]);
    check_writes(
        "git checkout -- a b; git checkout HEAD -- c; git restore --source X d; git restore --staged e",
        &["a", "b", "c", "d"],
    );
    check_writes("git checkout main; git mv a b", &["b"]);
    check_writes("patch x < y.diff; patch --dry-run z", &["x"]);
    let diff = "<<'EOF'\n--- a/src/x.rs\n+++ b/src/x.rs\n@@ -1 +1 @@\n-a\n+b\nEOF";
    check_writes(&format!("patch -p1 {diff}"), &["src/x.rs"]);
    check_writes(&format!("git apply {diff}"), &["src/x.rs"]);
    check_writes(&format!("git apply --check {diff}"), &[]);
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+*** Add File: no\n*** Add File: b\n+y\n*** Delete File: c\n*** End Patch";
    check_writes(
        &format!("cd x && apply_patch <<'EOF'\n{patch}\nEOF"),
        &["a.rs", "b", "c"],
    );
    check_writes(&format!("apply_patch '{patch}'"), &["a.rs", "b", "c"]);
    check_writes("echo 'x > y' # > z", &[]);
    check_writes("[[ a > b ]] && (( c > d ))", &[]);
}
