//! Lists, pipelines, compound commands, quotes, heredocs.

use super::check;

#[test]
fn lists() {
    check("make restart", &["make restart"]);
    check("make a && make b", &["make a", "make b"]);
    check("make a; make b", &["~make a", "make b"]);
    check("make a\nmake b\n", &["~make a", "make b"]);
    check("make a;", &["make a"]);
    check("make a &", &["~make a"]);
    check("make a & make b", &["~make a", "make b"]);
    check("a && b; c", &["~a", "~b", "c"]);
    check("a || b", &["~a", "?b"]);
    check("a || true", &["~a", "?true"]);
    check("a && b || c", &["~a", "~b", "?c"]);
    check("a || b && c", &["~a", "?b", "c"]);
    check("a &&\n# why\n\n b", &["a", "b"]);
    check("a && \\\n b \\\r\n c", &["a", "b c"]);
    check(
        "make restart; echo \"EXIT: $?\"",
        &["~make restart", "echo EXIT: $?"],
    );
    check("&>log a", &["a"]);
    check("", &[]);
    check("# make restart", &[]);
    check("a # make restart\nb#c", &["~a", "b#c"]);
}

#[test]
fn failures_that_leave() {
    check("a || exit 1; b", &["a", "?~exit 1", "b"]);
    check(
        "a || { echo bad >&2; exit 2; }; b",
        &["a", "?~echo bad", "?~exit 2", "b"],
    );
    check("a || exit 0; b", &["~a", "?~exit 0", "b"]);
    check("a || (exit 1); b", &["~a", "?~exit 1", "b"]);
    check("a && b || exit; c", &["a", "b", "?~exit", "c"]);
    check(
        "(a || exit 1; b) | tee x",
        &["~a", "?~exit 1", "~b", "tee x"],
    );
    check("set -e; a; b", &["set -e", "a", "b"]);
    check(
        "set -euo pipefail\na | tee x\nb",
        &["set -euo pipefail", "a", "tee x", "b"],
    );
    check("set -e; a && b; c", &["set -e", "~a", "~b", "c"]);
    check("set -e; set +e; a; b", &["set -e", "~set +e", "~a", "b"]);
    check("set -e; { a; b; } && c", &["set -e", "~a", "b", "c"]);
    check("set -e; { a && b; }; c", &["set -e", "~a", "~b", "c"]);
    check("set -e; x=$(a; b)", &["set -e", "~a", "b"]);
    check("exit 1; a", &["~exit 1"]);
    check("exit 0; a", &["~exit 0"]);
    check("(exit 0); a", &["~exit 0", "a"]);
}

#[test]
fn pipelines() {
    check("a | tee x", &["~a", "tee x"]);
    check("a |& tee x", &["~a", "tee x"]);
    check("a 2>&1 | tail -5 && b", &["~a", "tail -5", "b"]);
    check("set -o pipefail && a | b", &["set -o pipefail", "a", "b"]);
    check("a |\n b", &["~a", "b"]);
    check("! a", &["~a"]);
    check("! ! a && b", &["a", "b"]);
    check("time a", &["a"]);
    check("time -p a | b", &["~a", "b"]);
    check("time (a; b)", &["~a", "b"]);
    check("time -v a", &["a"]);
    check("cd x | a; b", &["~cd x", "~a", "b"]);
}

#[test]
fn groups() {
    check("(a; b) && c", &["~a", "b", "c"]);
    check("(cd x && a); b", &["~cd x", "~a @x", "b"]);
    check("{ a; b; } > log", &["~a", "b"]);
    check("{ a && b; } | tee x", &["~a", "~b", "tee x"]);
    check("echo }", &["echo }"]);
    check("echo {a,b}", &["echo {a,b}"]);
    check("((a > 3)) && b", &["b"]);
    check("[[ -f x && a || b < c ]] && d", &["[[", "d"]);
    check("[ -f x ] && a", &["[ -f x ]", "a"]);
    check("coproc a; b", &["~a", "b"]);
}

#[test]
fn conditions() {
    check("if a; then b; fi", &["~a", "?b"]);
    check(
        "if a; then b; elif c; then d; else e; fi",
        &["~a", "?b", "?~c", "?d", "?e"],
    );
    check("if a; then b; c; fi; d", &["~a", "?~b", "?~c", "d"]);
    check("while a; do b; done", &["~a", "?b"]);
    check("until a; do sleep 1; done; b", &["~a", "?~sleep 1", "b"]);
    check("until a; do sleep 1; done", &["a", "?sleep 1"]);
    check("for x in 1 2; do a $x; done", &["a $x"]);
    check("for x in $list; do a; done", &["?a"]);
    check("for x in `b`; do a; done", &["~b", "?a"]);
    check("for x\ndo a; done; b", &["?~a", "b"]);
    check("for ((i=0; i<3; i++)); do a; done", &["?a"]);
    check("select x in 1 2; do a; done", &["?a"]);
    check(
        "case $x in a|b) c;; (d) e; f ;& *) g; esac; h",
        &["?~c", "?~e", "?~f", "?~g", "h"],
    );
    check(
        "case x in\n  a)\n    if b; then c; fi\n    ;;\nesac",
        &["?~b", "?c"],
    );
    check("f() { a; }; b", &["?~a", "b"]);
    check("f () (a); b", &["?~a", "b"]);
    check("function f { cd x; a; }\nb", &["?~cd x", "?~a @x", "b"]);
    check("function f() { a; }; f; b", &["?~a", "b"]);
    check("alias a=b; a; c", &["~alias a=b", "c"]);
    check("echo if then fi done", &["echo if then fi done"]);
}

#[test]
fn substitutions() {
    check("echo $(a b)", &["~a b", "echo $()"]);
    check("echo \"x $(a \"b c\") y\"", &["~a b c", "echo x $() y"]);
    check("echo '$(a)'", &["echo $(a)"]);
    check("echo \"\\$(a)\"", &["echo $(a)"]);
    check("x=$(a)", &["a"]);
    check("x=$(a) y=`b` && c", &["~a", "b", "c"]);
    check("echo `a \\`b\\``", &["~b", "~a $()", "echo $()"]);
    check("diff <(a) <(b)", &["~a", "~b", "diff $() $()"]);
    check("a > >(tee log)", &["~tee log", "a"]);
    check("echo $((1 + $(a)))", &["~a", "echo $(())"]);
    check("echo $(( (1 + 2) * 3 )) && b", &["echo $(())", "b"]);
    check(
        "echo $((a) | b); ((c) && d)",
        &["~a", "~b", "~echo $()", "c", "d"],
    );
    check(
        "echo ${x:-$(a)} ${y:-')'} ${z}",
        &["~a", "echo ${x:-$()} ${y:-)} ${z}"],
    );
    check("echo $(case x in a) b;; esac)", &["?~b", "echo $()"]);
    check("echo $(a # don't )\n) b", &["~a", "echo $() b"]);
    check("if $(a); then b; fi", &["~a", "~$()", "?b"]);
    check("bash -c \"$(a)\"", &["~a", "$()"]);
    check("x=(a $(b) 'c)') d", &["~b", "d"]);
    check(
        "ls !(make|pytest) *.@(a|b)",
        &["ls !(make|pytest) *.@(a|b)"],
    );
}

#[test]
fn quotes() {
    check("echo 'make restart && x'", &["echo make restart && x"]);
    check(
        "git commit -m \"run make restart; pytest\"",
        &["git commit -m run make restart; pytest"],
    );
    check("'make' res\"ta\"rt \\make", &["make restart make"]);
    check("\\make restart", &["make restart"]);
    check("echo $'a\\'b\\n\\x41\\u00e9\\101'", &["echo a'b\nA\u{e9}A"]);
    check("echo $\"a b\"", &["echo a b"]);
    check("echo a\\ b\\;c", &["echo a b;c"]);
    check("echo \"a\\nb\\\"\"", &["echo a\\nb\""]);
    check("'if' a && 'then' b", &["if a", "then b"]);
    check("é 'ü'", &["é ü"]);
    check("echo '' \"\"", &["echo  "]);
}

#[test]
fn heredocs() {
    check("cat > f <<EOF\nmake restart\nEOF\nb", &["~cat", "b"]);
    check("cat <<'E O' && b\n$(a)\nE O\nc", &["~cat", "~b", "c"]);
    check(
        "cat <<EOF\n$(a) `b` \\$(c) 'don't \"\nEOF\nd",
        &["~cat", "~a", "~b", "d"],
    );
    check("cat <<-EOF\n\ta\n\tEOF\nb", &["~cat", "b"]);
    check("cat <<A <<B\na\nA\nb\nB\nc", &["~cat", "c"]);
    check("cat <<EOF | a\nb\nEOF", &["~cat", "a"]);
    check("cat <<EOF\nnever closed\nmake", &["cat"]);
    check("a <<< 'make restart'", &["a"]);
    check("(cat <<EOF)\nx\nEOF\nb", &["~cat", "b"]);
    check(
        "git commit -m \"$(cat <<'EOF'\nfix: don't (run\n\nmake restart\nEOF\n)\" && make test",
        &["~cat", "git commit -m $()", "make test"],
    );
    check("x=\"$(cat <<EOF\na\nEOF)\"; b", &["~cat", "b"]);
    check(
        "while read l; do a; done <<EOF\nmake\nEOF\nb",
        &["~read l", "?~a", "b"],
    );
}

#[test]
fn redirections_and_assignments() {
    check("a 2>&1 >out <in b", &["a b"]);
    check("a &>out b &>>out 2>/dev/null c >| d", &["a b c"]);
    check("a 2>&- 3<>f <&4 >&2", &["a"]);
    check("> out", &[]);
    check("A=1 B='x y' a C=2", &["a C=2"]);
    check("A=1", &[]);
    check("a[1]=2 B+=3 a", &["a"]);
    check("'A'=1 b", &["A=1 b"]);
    check("a2>x", &["a2"]);
}

#[test]
fn directories() {
    check("cd x && a", &["cd x", "a @x"]);
    check("cd x; cd ../y && a", &["~cd x", "cd ../y @x", "a @x/../y"]);
    check("cd /x && cd - && a", &["cd /x", "cd - @/x", "a"]);
    check("cd && a", &["cd", "a @~"]);
    check(
        "pushd x && a && popd && b",
        &["pushd x", "a @x", "popd @x", "b"],
    );
    check("cd $D && a", &["cd $D", "a @$D"]);
    check("make -C x restart", &["make -C x restart @x"]);
    check(
        "cd a && make -Cb --directory=c restart",
        &["cd a", "make -Cb --directory=c restart @a/b/c"],
    );
    check("git -C x status", &["git -C x status @x"]);
    check("npm --prefix web test", &["npm --prefix web test @web"]);
    check("env -C x A=1 a", &["a @x"]);
    check("uv run --directory x pytest", &["pytest @x"]);
    check("uv --directory x run pytest", &["pytest @x"]);
    check(
        "cd x && bash -c 'cd y && a'",
        &["cd x", "cd y @x", "a @x/y"],
    );
}
