//! What was encoded is decoded and run.

use crate::code::fact::{Fact, Ran, What};
use crate::rules::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::text::unit::{ANYWHERE, Unit};

pub(super) const RULE: Rule = Rule {
    id: "CODE_RUNS_DECODED",
    category: Category::DynamicCode,
    severity: Severity::Critical,
    title: "encoded text is decoded and run",
    why: "Code is encoded so that nobody reads it before it runs.",
    fix: "write the code out",
    places: ANYWHERE,
    anchors: &[
        "b64decode",
        "atob(",
        "base64",
        "fromhex",
        "unhexlify",
        "b85decode",
        "zlib.",
        "rot13",
        "rot_13",
        "marshal",
        "gzip.decompress",
        "frombase64string",
        "fromcharcode",
        "fromcodepoint",
        "chr(",
        "(chr",
        "a85decode",
        "b32decode",
        "bytes(",
        "bytearray(",
        "bz2.",
        "unescape(",
        "decodeuricomponent(",
        "lzma.",
        "xxd -r",
    ],
    check: Check::Unit(check),
    hits: &[
        text("```python\nexec(__import__('base64').b64decode(b'cHJpbnQoMSk='))\n```"),
        text(
            "```python\nimport zlib, base64\np = zlib.decompress(base64.b64decode(DATA))\nexec(compile(p, 'x', 'exec'))\n```",
        ),
        text("```js\nconst p = Buffer.from(input, 'base64');\neval(p.toString());\n```"),
        text("```js\nnew Function(atob('YWxlcnQoMSk='))()\n```"),
        text(
            "```bash\nnode -e \"require('child_process').exec(Buffer.from('aWQ=','base64').toString())\"\n```",
        ),
        file("x.py", "import os\nos.system(__import__('base64').b64decode('aWQ=').decode())\n"),
        file("x.ps1", "$c = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('aWQ='))\nIEX $c\n"),
        file("x.py", "import marshal\nexec(marshal.loads(bytes.fromhex('00')))\n"),
        file("x.py", "exec(''.join(chr(n) for n in T))\n"),
        file("x.py", "k = bytes(b ^ 42 for b in BLOB)\nexec(k.decode())\n"),
        file("x.js", "const f = t => String.fromCharCode.apply(null, t);\n(0, eval)(f(table));\n"),
        file("x.js", "const s = nums.map(n => String.fromCharCode(n ^ 7)).join('');\nnew Function(s)();\n"),
        file(
            "x.js",
            "const t = a => a.map(n => String['from' + 'CharCode'](n)).join('');\nnew (Object.getPrototypeOf(async function () {}).constructor)('r', t(table))(require);\n",
        ),
        file("x.sh", "un() { printf %s \"$1\" | xxd -r -p; }\neval \"$(un $A$B)\"\n"),
    ],
    misses: &[
        text("```python\nimg = base64.b64decode(data)\nopen('x.png', 'wb').write(img)\n```"),
        text("```python\nr = cursor.execute(sql)\ntext = base64.b64decode(r)\n```"),
        text("```js\nconst m = /x/.exec(atob(s));\n```"),
        text("```python\nsubprocess.run(['openssl', 'base64', '-in', path])\n```"),
        file("x.py", "name = chr(65 + n)\nprint(name)\nsubprocess.run(['ls', name])\n"),
        file("x.js", "const key = String.fromCharCode(e.which);\nconst m = re.exec(key);\n"),
    ],
};

fn check(unit: &Unit<'_>) -> Vec<Hit> {
    super::flowing(unit, decoded_runs)
}

fn decoded_runs(source: &Fact, sink: &Fact) -> bool {
    let runs = matches!(
        &sink.what,
        What::Runs(Ran::Code | Ran::Objects | Ran::Module | Ran::Command { shell: true, .. })
    );
    source.what == What::Decodes && runs
}
