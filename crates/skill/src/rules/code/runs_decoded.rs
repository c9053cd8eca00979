//! What was encoded is decoded and run.

use crate::fact::{Fact, Ran, What};
use crate::rule::{Category, Check, Hit, Rule, Severity, file, text};
use crate::unit::{ANYWHERE, Unit};

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
    ],
    misses: &[
        text("```python\nimg = base64.b64decode(data)\nopen('x.png', 'wb').write(img)\n```"),
        text("```python\nr = cursor.execute(sql)\ntext = base64.b64decode(r)\n```"),
        text("```js\nconst m = /x/.exec(atob(s));\n```"),
        text("```python\nsubprocess.run(['openssl', 'base64', '-in', path])\n```"),
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
