//! Table: real software that has to build and work inside a jail as it does outside.

/// One project: shell scripts, each in a directory of its own that is the same for both sides.
pub(super) struct Project {
    pub(super) name: &'static str,
    /// Programs without which it cannot be tried.
    pub(super) needs: &'static [&'static str],
    /// Brings everything that the rest needs, with a network, outside. `$ROOT` is this repository.
    pub(super) prepare: &'static str,
    /// Options of `run` without which it does not work, each with its reason beside it.
    pub(super) options: &'static [&'static str],
    /// Command that is timed, without a network.
    pub(super) build: &'static str,
    /// Prints what has to be the same on both sides.
    pub(super) result: &'static str,
}

pub(super) const PROJECTS: &[Project] = &[
    Project {
        name: "rust",
        needs: &["cargo", "git", "tar"],
        prepare: r#"
git -C "$ROOT" archive HEAD | tar x
cargo fetch --locked
"#,
        options: &[],
        build: "cargo build --locked --offline -p ringfence-policy -p ringfence-shell",
        result: r"
cargo test --locked --offline -p ringfence-policy --lib 2>/dev/null | grep '^test result' | sed 's/; finished.*//'
cargo test --locked --offline -p ringfence-shell --lib 2>/dev/null | grep '^test result' | sed 's/; finished.*//'
",
    },
    Project {
        name: "node",
        needs: &["node", "npm", "make", "g++"],
        prepare: r#"
cat > package.json <<'END'
{ "name": "project", "version": "1.0.0", "private": true,
  "devDependencies": { "bufferutil": "4.0.9", "mocha": "11.1.0", "typescript": "5.8.3" } }
END
npm install --no-audit --no-fund --ignore-scripts
npm ci --no-audit --no-fund --ignore-scripts
cp -r node_modules/bufferutil/src node_modules/bufferutil/binding.gyp .
sed -i 's/NAPI_VERSION=1/NAPI_VERSION=8/' binding.gyp
cat > types.ts <<'END'
export function mask(bytes: number[]): number { return bytes.reduce((sum, byte) => (sum * 31 + byte) % 65521, 7); }
END
mkdir -p test
cat > test/native.js <<'END'
const assert = require("node:assert");
const native = require("../build/Release/bufferutil.node");
const { mask } = require("../out/types.js");
describe("a module of machine code", () => {
  for (let size = 0; size < 200; size++) it(`masks ${size} bytes`, () => {
    const from = Buffer.from(Array.from({ length: size }, (_, i) => i)), to = Buffer.alloc(size);
    native.mask(from, Buffer.from([1, 2, 3, 4]), to, 0, size);
    native.unmask(to, Buffer.from([1, 2, 3, 4]));
    assert.deepStrictEqual(to, from);
    assert.ok(mask([...from]) >= 0);
  });
});
END
rm -rf node_modules
# The headers come with node itself, or nothing can be compiled here without a network.
test -e /usr/include/node/node_api.h
"#,
        options: &[],
        build: r#"
npm ci --offline --no-audit --no-fund --ignore-scripts
node "$(npm root -g)/npm/node_modules/node-gyp/bin/node-gyp.js" --nodedir=/usr configure build
node_modules/.bin/tsc --outDir out --target es2020 --module commonjs types.ts
"#,
        result: "node_modules/.bin/mocha --reporter dot 2>&1 | grep -E 'passing|failing' | sed 's/ (.*//'",
    },
    Project {
        name: "python",
        needs: &["python3"],
        prepare: r"
python3 -m pip download -q -d wheels numpy pytest pytest-xdist setuptools flit-core
python3 -m pip download -q --no-deps --no-binary :all: -d source 'more-itertools==10.7.0'
tar xf source/more_itertools-*.tar.gz --strip-components 1
",
        options: &[],
        build: r"
python3 -m venv .venv
.venv/bin/python -m pip install -q --disable-pip-version-check --no-index --find-links wheels numpy pytest pytest-xdist flit-core
.venv/bin/python -m pip install -q --disable-pip-version-check --no-index --no-build-isolation .
",
        result: r"
.venv/bin/python -c 'import numpy; print(numpy.linalg.det(numpy.eye(3) * 2))'
.venv/bin/python -m pytest -q -n 2 tests 2>&1 | tail -1 | sed 's/ in .*//'
",
    },
    Project {
        name: "cmake",
        needs: &["python3", "gcc", "curl"],
        prepare: r#"
python3 -m pip download -q -d wheels cmake ninja
curl -sfL -o crate https://static.crates.io/crates/libz-ng-sys/libz-ng-sys-1.1.22.crate
tar xf crate
mv libz-ng-sys-*/src/zlib-ng zlib-ng
cat > CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.14)
project(roundtrip C)
set(ZLIB_COMPAT OFF CACHE BOOL "")
set(ZLIB_ENABLE_TESTS OFF CACHE BOOL "")
set(BUILD_TESTING OFF CACHE BOOL "")
set(BUILD_SHARED_LIBS OFF CACHE BOOL "")
add_subdirectory(zlib-ng)
add_executable(roundtrip roundtrip.c)
target_include_directories(roundtrip PRIVATE zlib-ng ${CMAKE_BINARY_DIR}/zlib-ng)
target_link_libraries(roundtrip PRIVATE zlibstatic)
enable_testing()
foreach(size RANGE 0 9)
  add_test(NAME size-${size} COMMAND roundtrip ${size})
endforeach()
END
cat > roundtrip.c <<'END'
#include <stdlib.h>
#include <string.h>
#include "zlib-ng.h"
int main(int count, char **words) {
  size_t size = 100000u * (count > 1 ? (size_t)atoi(words[1]) : 1), packed = zng_compressBound(size), back = size;
  unsigned char *from = malloc(size + 1), *mid = malloc(packed + 1), *to = malloc(size + 1);
  for (size_t i = 0; i < size; i++) from[i] = (unsigned char)(i * i >> 7);
  if (zng_compress(mid, &packed, from, size)) return 1;
  return zng_uncompress(to, &back, mid, packed) || back != size || memcmp(from, to, size);
}
END
"#,
        options: &[],
        build: r#"
python3 -m venv .venv
.venv/bin/python -m pip install -q --disable-pip-version-check --no-index --find-links wheels cmake ninja
PATH="$PWD/.venv/bin:$PATH"
cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Release > log
ninja -C build > log
"#,
        result: "cd build && ../.venv/bin/ctest 2>&1 | grep 'tests passed'",
    },
    Project {
        name: "chromium",
        needs: &["chromium"],
        prepare: r#"
cat > page.html <<'END'
<!doctype html><title>page</title><body style="background:#fff;margin:0">
<canvas id="c" width="200" height="200"></canvas>
<script>let c = document.getElementById("c").getContext("2d"); c.fillStyle = "red"; c.fillRect(20, 20, 100, 100);</script>
END
"#,
        // It reserves more private memory than it uses, and the bound on one process counts what is reserved.
        options: &["--limit", "memory=4GiB"],
        // Its own sandbox needs namespaces, and a jail does not let its programs make any.
        build: r#"
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=300,300 --screenshot=shot.png "file://$PWD/page.html" 2> log
"#,
        result: "sha256sum < shot.png; head -c 24 shot.png | od -An -tx1",
    },
    Project {
        name: "java",
        needs: &["javac", "jar"],
        prepare: r"
mkdir -p src/x
for n in $(seq 60); do
  echo 'package x; import java.util.*; class C'$n' { static int sum() { return new ArrayList<>(List.of('$n', 2)).stream().mapToInt(i -> i).sum(); } }' > src/x/C$n.java
done
{ echo 'package x; public class Main { public static void main(String[] a) { long s = 0;'
  for n in $(seq 60); do echo 's += C'$n'.sum();'; done
  echo 'System.out.println(s); } }'; } > src/x/Main.java
",
        options: &[],
        build: "javac -d classes src/x/*.java && jar --create --file x.jar --main-class x.Main -C classes .",
        result: "java -jar x.jar",
    },
    Project {
        name: "maven",
        needs: &["mvn"],
        prepare: r#"
mkdir -p src/main/java/x src/test/java/x
cat > pom.xml <<'END'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>x</groupId><artifactId>x</artifactId><version>1</version>
<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
<project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.10.2</version><scope>test</scope></dependency></dependencies>
<build><plugins><plugin><artifactId>maven-surefire-plugin</artifactId><version>3.2.5</version></plugin></plugins></build>
</project>
END
echo 'package x; public class A { public static int two() { return 2; } }' > src/main/java/x/A.java
echo 'package x; import org.junit.jupiter.api.Test; class ATest { @Test void two() { assert A.two() == 2; } }' > src/test/java/x/ATest.java
mvn -q -B -Dmaven.repo.local="$PWD/.repo" test > log 2>&1 || { echo 'maven could not load its plugins' >&2; exit 1; }
rm -rf target
"#,
        options: &[],
        build: r#"mvn -q -B -o -Dmaven.repo.local="$PWD/.repo" test"#,
        result: "ls target/surefire-reports/*.txt && grep -h 'Tests run' target/surefire-reports/*.txt | sed 's/, Time.*//'",
    },
    Project {
        name: "git-status",
        needs: &["git"],
        prepare: r"
git init -q .
git config gc.auto 0
for d in $(seq 100); do mkdir -p tree/$d; for f in $(seq 100); do echo $d $f > tree/$d/$f; done; done
git add . && git -c user.name=a -c user.email=a@b commit -qm files
",
        options: &[],
        build: "for n in 1 2 3 4 5 6 7 8 9 10; do git status --porcelain > /dev/null; done",
        result: "git status --porcelain | grep -v build.sh | wc -l; git ls-files | wc -l",
    },
    Project {
        name: "small-files",
        needs: &["python3"],
        prepare: r#"
cat > make.py <<'END'
import os
for d in range(100):
    os.mkdir(f"d{d}")
    for f in range(1000):
        with open(f"d{d}/{f}", "w") as file: file.write("small")
END
"#,
        options: &[],
        build: "python3 make.py",
        result: "find d* -type f | wc -l; cat d7/* | wc -c",
    },
];
