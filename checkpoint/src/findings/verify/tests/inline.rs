//! Scripts within a command line.

use super::*;

/// The script, the changed file, and whether it is enough.
const SCRIPTS: &[(&str, &str, bool)] = &[
    (
        "python -c 'from shop.cart import total; print(total(3))'",
        "shop/cart.py",
        true,
    ),
    (
        "python -c 'from shop.cart import total; assert total(3) == 3'",
        "shop/cart.py",
        true,
    ),
    (
        "python -c 'from shop.cart import LIMIT; print(LIMIT)'",
        "shop/cart.py",
        true,
    ),
    (
        "python -c 'from shop.cart import main; main()'",
        "shop/cart.py",
        true,
    ),
    (
        "python -c 'from shop import cart\nc = cart.Cart()\nc.add(1)\nprint(c.total())'",
        "shop/cart.py",
        true,
    ),
    (
        "python - <<'EOF'\nimport shop.cart as c\nprint(c.total(1))\nEOF",
        "shop/cart.py",
        true,
    ),
    // It imports only, or asks about what it imported.
    ("python -c 'import shop.cart'", "shop/cart.py", false),
    (
        "python -c 'import shop.cart; print(\"ok\")'",
        "shop/cart.py",
        false,
    ),
    (
        "python -c 'from shop.cart import total; print(total)'",
        "shop/cart.py",
        false,
    ),
    (
        "python -c 'from shop.cart import total; print(callable(total))'",
        "shop/cart.py",
        false,
    ),
    (
        "python -c 'from shop import cart; print(dir(cart))'",
        "shop/cart.py",
        false,
    ),
    // Nothing is seen of what it called, or whatever happens is hidden.
    (
        "python -c 'from shop.cart import total; total(3)'",
        "shop/cart.py",
        false,
    ),
    (
        "python - <<'EOF'\nfrom shop.cart import total\ntry:\n    print(total(3))\nexcept Exception as e:\n    print(e)\nEOF",
        "shop/cart.py",
        false,
    ),
    (
        "python - <<'EOF'\nfrom shop.cart import total\ntry:\n    print(total(3))\nexcept Exception:\n    raise SystemExit(1)\nEOF",
        "shop/cart.py",
        true,
    ),
    // Another file.
    (
        "python -c 'from shop.tax import rate; print(rate(3))'",
        "shop/cart.py",
        false,
    ),
    (
        "python -c 'import ast; ast.parse(open(\"shop/cart.py\").read())'",
        "shop/cart.py",
        false,
    ),
    // Other languages.
    (
        "node -e \"const { total } = require('./cart'); console.log(total([1]))\"",
        "cart.js",
        true,
    ),
    (
        "node -e \"const { total } = require('./cart'); total([1])\"",
        "cart.js",
        false,
    ),
    ("node -p \"require('./cart').total([1])\"", "cart.js", true),
    ("node -e \"require('./cart')\"", "cart.js", false),
    (
        "node --input-type=module -e \"import('./cart.mjs').then(m => console.log(m.total([1])))\"",
        "cart.mjs",
        true,
    ),
    ("ruby -r./lib/cart -e 'puts 1'", "lib/cart.rb", false),
    (
        "ruby -e 'require \"./lib/cart\"; puts Cart.new.total'",
        "lib/cart.rb",
        true,
    ),
    (
        "php -r 'require \"src/cart.php\"; var_dump(cart(3));'",
        "src/cart.php",
        true,
    ),
];

#[test]
fn an_inline_script_has_to_reach_the_change_and_show_something() {
    let shop = project("shop: shop");
    let mut wrong = Vec::new();
    for (command, file, enough) in SCRIPTS {
        let asked = asked(&shop, &[&format!("edit {file}"), &format!("$ {command}")]);
        if asked.ends_with("    -") != *enough {
            wrong.push(asked);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
