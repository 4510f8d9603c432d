"""What common tools print: eighty lines of their progress, and the end that matters.

For each tool: a line of its progress, the end, and what a digest has to say of it.
"""

from __future__ import annotations

OUTPUTS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "pytest": (
        "tests/test_m{n}.py .................... [{n:3}%]",
        """
tests/test_api.py ......F............. [100%]

=================================== FAILURES ===================================
__________________________________ test_limit __________________________________

    def test_limit():
        for _ in range(101):
            answer = client.get('/items')
>       assert answer.status_code == 429
E       assert 200 == 429
E        +  where 200 = <Response [200 OK]>.status_code

tests/test_api.py:88: AssertionError
----------------------------- Captured stdout call -----------------------------
GET /items 200 in 3 ms
=========================== short test summary info ============================
FAILED tests/test_api.py::test_limit - assert 200 == 429
======================== 1 failed, 399 passed in 12.34s ========================
""",
        ("tests/test_api.py::test_limit - assert 200 == 429", "1 failed, 399 passed"),
    ),
    "jest": (
        "    ✓ works {n} ({n} ms)",
        """
FAIL src/login.test.ts
  Login
    ✓ shows the form (3 ms)
    ✕ logs in with a valid password (5 ms)

  ● Login › logs in with a valid password

    expect(received).toBe(expected) // Object.is equality

    Expected: 200
    Received: 429

      15 |     const answer = await login('a', 'b');
      16 |
    > 17 |     expect(answer.status).toBe(200);
         |                           ^
      18 |   });

      at Object.toBe (src/login.test.ts:17:5)

Test Suites: 1 failed, 40 passed, 41 total
Tests:       1 failed, 161 passed, 162 total
Snapshots:   0 total
Time:        4.201 s
Ran all test suites.
""",
        (
            "Login › logs in with a valid password: Expected: 200, Received: 429 (src/login.test.ts:17:5)",
            "1 failed, 161 passed",
        ),
    ),
    "vitest": (
        " ✓ src/m{n}.test.ts ({n} tests) {n}ms",
        """
 ❯ src/login.test.ts (2 tests | 1 failed) 12ms
   × Login > logs in 9ms
     → expected 429 to be 200 // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/login.test.ts > Login > logs in
AssertionError: expected 429 to be 200 // Object.is equality

- Expected
+ Received

- 200
+ 429

 ❯ src/login.test.ts:17:27
     15|     const answer = await login('a', 'b');
     16|
     17|     expect(answer.status).toBe(200);
       |                           ^

 Test Files  1 failed | 88 passed (89)
      Tests  1 failed | 4003 passed (4004)
   Start at  10:00:00
   Duration  2.31s (transform 1s, setup 0ms)
""",
        (
            "src/login.test.ts > Login > logs in",
            "expected 429 to be 200",
            "src/login.test.ts:17:27",
            "1 failed",
        ),
    ),
    "mocha": (
        "    ✔ works {n}",
        """
  Login
    1) logs in


  150 passing (312ms)
  1 failing

  1) Login
       logs in:

      AssertionError: expected 429 to equal 200
      + expected - actual

      -429
      +200

      at Context.<anonymous> (test/login.js:17:12)
      at process.processImmediate (node:internal/timers:478:21)
""",
        ("Login logs in", "expected 429 to equal 200", "test/login.js:17:12", "1 failing"),
    ),
    "go test": (
        "--- PASS: TestA{n} (0.00s)",
        """
=== RUN   TestLogin
    login_test.go:17: status = 429, want 200
--- FAIL: TestLogin (0.01s)
FAIL
FAIL    example.com/app/auth    0.052s
ok      example.com/app/store    0.101s
FAIL
""",
        ("TestLogin", "status = 429, want 200", "login_test.go:17", "FAIL example.com/app/auth"),
    ),
    "cargo build": (
        "   Compiling crate{n} v1.0.{n}",
        """
warning: unused variable: `y`
 --> src/main.rs:3:9
  |
3 |     let y = 1;
  |         ^ help: if this is intentional, prefix it with an underscore: `_y`
  |
  = note: `#[warn(unused_variables)]` on by default

error[E0382]: borrow of moved value: `x`
  --> src/main.rs:17:20
   |
15 |     let x = String::new();
   |         - move occurs because `x` has type `String`, which does not implement the `Copy` trait
16 |     take(x);
   |          - value moved here
17 |     println!("{}", x);
   |                    ^ value borrowed here after move

For more information about this error, try `rustc --explain E0382`.
warning: `app` (bin "app") generated 1 warning
error: could not compile `app` (bin "app") due to 1 previous error; 1 warning emitted
""",
        ("error[E0382]: borrow of moved value: `x`", "src/main.rs:17:20", "could not compile"),
    ),
    "cargo test": (
        "test m{n}::tests::works ... ok",
        """
test auth::tests::logs_in ... FAILED

failures:

---- auth::tests::logs_in stdout ----
thread 'auth::tests::logs_in' panicked at src/auth.rs:42:9:
assertion `left == right` failed
  left: 429
 right: 200
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace


failures:
    auth::tests::logs_in

test result: FAILED. 120 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.21s

error: test failed, to rerun pass `--lib`
""",
        ("auth::tests::logs_in", "src/auth.rs:42:9", "left: 429", "right: 200", "1 failed"),
    ),
    "tsc": (
        "[{n}] Building project 'packages/p{n}/tsconfig.json'...",
        """
src/login.ts(17,5): error TS2322: Type 'string' is not assignable to type 'number'.
src/store.ts(3,10): error TS2305: Module '"./db"' has no exported member 'open'.
error Command failed with exit code 2.
""",
        ("src/login.ts(17,5): error TS2322", "src/store.ts(3,10): error TS2305"),
    ),
    "tsc pretty": (
        "info: reading packages/p{n}/tsconfig.json",
        """
src/login.ts:17:5 - error TS2322: Type 'string' is not assignable to type 'number'.

17     age = name;
       ~~~

src/store.ts:3:10 - error TS2305: Module '"./db"' has no exported member 'open'.

3 import { open } from './db';
           ~~~~


Found 2 errors in 2 files.

Errors  Files
     1  src/login.ts:17
     1  src/store.ts:3
""",
        ("src/login.ts:17:5 - error TS2322", "Found 2 errors"),
    ),
    "eslint": (
        "[{n}/80] checking src/m{n}.ts",
        """
/home/u/app/src/login.ts
   3:10  warning  Unexpected console statement  no-console
  17:5   error    'age' is assigned a value but never used  no-unused-vars
  21:1   error    Unexpected var, use let or const instead  no-var

✖ 3 problems (2 errors, 1 warning)
  1 error and 0 warnings potentially fixable with the `--fix` option.
""",
        (
            "/home/u/app/src/login.ts",
            "17:5",
            "no-unused-vars",
            "✖ 3 problems (2 errors, 1 warning)",
        ),
    ),
    "gcc": (
        "cc -O2 -Wall -Iinclude -c -o m{n}.o src/m{n}.c",
        """
cc -O2 -Wall -Iinclude -c -o login.o src/login.c
src/login.c: In function ‘login’:
src/login.c:17:5: error: ‘age’ undeclared (first use in this function)
   17 |     age = 3;
      |     ^~~
src/login.c:17:5: note: each undeclared identifier is reported only once for each function it appears in
src/login.c:3:10: warning: unused variable ‘y’ [-Wunused-variable]
make: *** [Makefile:12: login.o] Error 1
make: *** Waiting for unfinished jobs....
""",
        ("src/login.c:17:5: error: ‘age’ undeclared", "make: *** [Makefile:12: login.o] Error 1"),
    ),
    "maven": (
        "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.0{n} s -- in M{n}Test",
        """
[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.01 s <<< FAILURE! -- in com.example.LoginTest
[ERROR] com.example.LoginTest.logsIn -- Time elapsed: 0.004 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <200> but was: <429>
    at org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)
    at com.example.LoginTest.logsIn(LoginTest.java:17)
[INFO] 
[INFO] Results:
[INFO] 
[ERROR] Failures: 
[ERROR]   LoginTest.logsIn:17 expected: <200> but was: <429>
[INFO] 
[ERROR] Tests run: 121, Failures: 1, Errors: 0, Skipped: 0
[INFO] 
[INFO] ------------------------------------------------------------------------
[INFO] BUILD FAILURE
[INFO] ------------------------------------------------------------------------
[INFO] Total time:  5.2 s
[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.2.5:test (default-test) on project app: There are test failures.
""",
        (
            "expected: <200> but was: <429>",
            "LoginTest.java:17",
            "Tests run: 121, Failures: 1",
            "BUILD FAILURE",
        ),
    ),
    "gradle": (
        "> Task :m{n}:compileJava UP-TO-DATE",
        """
> Task :app:test

LoginTest > logsIn() FAILED
    org.opentest4j.AssertionFailedError at LoginTest.java:17

121 tests completed, 1 failed

> Task :app:test FAILED

FAILURE: Build failed with an exception.

* What went wrong:
Execution failed for task ':app:test'.
> There were failing tests. See the report at: file:///home/u/app/build/reports/tests/test/index.html

* Try:
> Run with --scan to get full insights.

BUILD FAILED in 6s
91 actionable tasks: 1 executed, 90 up-to-date
""",
        (
            "LoginTest > logsIn(): org.opentest4j.AssertionFailedError",
            "LoginTest.java:17",
            "BUILD FAILED",
        ),
    ),
    "dotnet": (
        "  m{n} -> /home/u/app/m{n}/bin/Debug/net8.0/m{n}.dll",
        """
Starting test execution, please wait...
[xUnit.net 00:00:00.51]     App.Tests.LoginTests.Logs_in [FAIL]
  Failed App.Tests.LoginTests.Logs_in [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 200
Actual:   429
  Stack Trace:
     at App.Tests.LoginTests.Logs_in() in /home/u/app/App.Tests/LoginTests.cs:line 17

Failed!  - Failed:     1, Passed:   120, Skipped:     0, Total:   121, Duration: 1 s - App.Tests.dll (net8.0)
""",
        (
            "App.Tests.LoginTests.Logs_in",
            "Assert.Equal() Failure",
            "Expected: 200, Actual: 429",
            "LoginTests.cs:17",
            "Failed: 1",
        ),
    ),
    "npm install": (
        "npm http fetch GET 200 https://registry.npmjs.org/p{n} {n}ms (cache hit)",
        """
npm ERR! code ERESOLVE
npm ERR! ERESOLVE unable to resolve dependency tree
npm ERR! 
npm ERR! While resolving: app@1.0.0
npm ERR! Found: react@19.0.0
npm ERR! node_modules/react
npm ERR! 
npm ERR! Could not resolve dependency:
npm ERR! peer react@"^18.0.0" from react-widgets@5.8.4
npm ERR! A complete log of this run can be found in: /home/u/.npm/_logs/x-debug-0.log
""",
        ("npm ERR! code ERESOLVE", "Could not resolve dependency"),
    ),
    "docker": (
        "#{n} [stage {n}/80] RUN step {n}",
        """
#61 [5/6] RUN npm run build
#61 0.512 npm ERR! missing script: build
#61 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 1
------
 > [5/6] RUN npm run build:
0.512 npm ERR! missing script: build
------
Dockerfile:12
--------------------
  12 | >>> RUN npm run build
--------------------
ERROR: failed to solve: process "/bin/sh -c npm run build" did not complete successfully: exit code: 1
""",
        ("npm ERR! missing script: build", "failed to solve", "exit code: 1"),
    ),
    "rspec": (
        "......................................................................",
        """
F

Failures:

  1) Login logs in
     Failure/Error: expect(answer.status).to eq(200)

       expected: 200
            got: 429

       (compared using ==)
     # ./spec/login_spec.rb:17:in `block (2 levels) in <top (required)>'

Finished in 1.21 seconds (files took 0.4 seconds to load)
122 examples, 1 failure

Failed examples:

rspec ./spec/login_spec.rb:15 # Login logs in
""",
        (
            "Login logs in",
            "expected: 200",
            "got: 429",
            "spec/login_spec.rb:17",
            "122 examples, 1 failure",
        ),
    ),
    "phpunit": (
        ".............................................................  {n} / 1830 ({n}%)",
        r"""
There was 1 failure:

1) Tests\LoginTest::testLogsIn
Failed asserting that 429 matches expected 200.

/home/u/app/tests/LoginTest.php:17

FAILURES!
Tests: 1830, Assertions: 4000, Failures: 1.
""",
        (
            "LoginTest::testLogsIn",
            "Failed asserting that 429 matches expected 200",
            "LoginTest.php:17",
            "Failures: 1",
        ),
    ),
    "mypy": (
        "LOG:  Parsing src/m{n}.py (m{n})",
        """
src/login.py:17: error: Incompatible types in assignment (expression has type "str", variable has type "int")  [assignment]
src/store.py:3: error: Module "db" has no attribute "open"  [attr-defined]
src/store.py:4: note: Maybe "Open"?
Found 2 errors in 2 files (checked 91 source files)
""",
        ("src/login.py:17: error: Incompatible types", "Found 2 errors in 2 files"),
    ),
    "ruff": (
        "  Downloading package{n} ({n} KiB)",
        """
F401 [*] `os` imported but unused
 --> src/login.py:3:8
  |
1 | import sys
2 |
3 | import os
  |        ^^
  |
help: Remove unused import: `os`

Found 1 error.
[*] 1 fixable with the `--fix` option.
""",
        ("F401", "src/login.py:3:8", "Found 1 error"),
    ),
    "ruff, grouped": (
        "Checked src/m{n}.py",
        """
src/login.py:
  3:8 F401 [*] `os` imported but unused
  5:9 B006 Do not use mutable data structures for argument defaults

src/parse.py:
  3:8 F401 [*] `os` imported but unused
  4:7 invalid-syntax: Expected a parameter or the end of the parameter list

Found 4 errors.
[*] 2 fixable with the `--fix` option.
""",
        (
            "src/login.py:3:8 F401 [*] os imported but unused",
            "src/login.py:5:9 B006",
            "src/parse.py:3:8 F401 [*] os imported but unused",
            "src/parse.py:4:7 invalid-syntax: Expected a parameter",
            "Found 4 errors",
        ),
    ),
    "ruff, concise": (
        "Checked src/m{n}.py",
        """
src/login.py:4:7: invalid-syntax: Expected a parameter or the end of the parameter list
src/parse.py:3:8: F401 [*] `os` imported but unused
src/parse.py:5:9: B006 Do not use mutable data structures for argument defaults
Found 3 errors.
""",
        ("src/login.py:4:7: invalid-syntax: Expected", "src/parse.py:3:8: F401", "Found 3 errors"),
    ),
    "pip": (
        "Collecting package{n}",
        """
ERROR: Could not find a version that satisfies the requirement left-pad-py==9 (from versions: 1.0)
ERROR: No matching distribution found for left-pad-py==9
""",
        (
            "ERROR: Could not find a version that satisfies the requirement left-pad-py==9",
            "No matching distribution",
        ),
    ),
    "terraform": (
        "aws_instance.web[{n}]: Refreshing state... [id=i-0abc{n:04}]",
        """
aws_s3_bucket.logs: Creating...
╷
│ Error: creating S3 Bucket (logs): BucketAlreadyExists: The requested bucket name is not available
│ 
│   with aws_s3_bucket.logs,
│   on main.tf line 12, in resource "aws_s3_bucket" "logs":
│   12: resource "aws_s3_bucket" "logs" {
│ 
╵
""",
        ("Error: creating S3 Bucket (logs): BucketAlreadyExists", "main.tf:12"),
    ),
    "actions": (
        "2026-02-10T10:00:{n:02}.1234567Z Downloading layer {n}",
        """
2026-02-10T10:01:00.1234567Z Traceback (most recent call last):
2026-02-10T10:01:00.1234567Z   File "/home/runner/work/app/test.py", line 17, in test_login
2026-02-10T10:01:00.1234567Z AssertionError: 200 != 429
2026-02-10T10:01:01.1234567Z ##[error]Process completed with exit code 1.
""",
        ("##[error]Process completed with exit code 1", "AssertionError: 200 != 429"),
    ),
    "ctest": (
        "{n:3}/121 Test #{n}: m{n} .................   Passed    0.0{n} sec",
        """
        Start 121: login
121/121 Test #121: login ...............***Failed    0.03 sec

99% tests passed, 1 tests failed out of 121

Total Test time (real) =   3.21 sec

The following tests FAILED:
    121 - login (Failed)
Errors while running CTest
""",
        ("login (Failed)", "99% tests passed, 1 tests failed out of 121"),
    ),
    "unittest": (
        "test_m{n} (tests.test_m.MTest.test_m{n}) ... ok",
        """
test_login (tests.test_login.LoginTest.test_login) ... FAIL

======================================================================
FAIL: test_login (tests.test_login.LoginTest.test_login)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/u/app/tests/test_login.py", line 17, in test_login
    self.assertEqual(answer.status, 200)
AssertionError: 429 != 200

----------------------------------------------------------------------
Ran 101 tests in 0.912s

FAILED (failures=1)
""",
        (
            "tests.test_login.LoginTest.test_login",
            "AssertionError: 429 != 200",
            "test_login.py:17",
            "FAILED (failures=1)",
        ),
    ),
    "git push": (
        "remote: Counting objects: {n}% ({n}/100)",
        """
To github.com:u/app.git
 ! [rejected]        main -> main (non-fast-forward)
error: failed to push some refs to 'github.com:u/app.git'
hint: Updates were rejected because the tip of your current branch is behind
""",
        ("! [rejected]", "failed to push some refs"),
    ),
    "server log": (
        "2026-02-10 10:00:{n:02},123 INFO app.web GET /items/{n} 200 {n}ms",
        """
2026-02-10 10:02:00,123 ERROR app.db connection refused: db.internal:5432
2026-02-10 10:02:00,123 INFO app.web GET /items/0 200 0ms
2026-02-10 10:02:01,123 INFO app.web GET /items/1 200 1ms
2026-02-10 10:02:02,123 INFO app.web GET /items/2 200 2ms
""",
        ("connection refused", "db.internal:5432"),
    ),
    "all passed": (
        "tests/test_m{n}.py::test_error_{n} PASSED [{n:3}%]",
        """
============================= 400 passed in 12.34s =============================
""",
        ("400 passed",),
    ),
    "node": (
        "✔ works {n} (0.1ms)",
        """
✖ login (9.1ms)
✖ timeout (87.1ms)
  'test timed out after 20ms'
ℹ tests 82
ℹ pass 80
ℹ fail 2

✖ failing tests:

test at a.test.mjs:3:26
✖ login (9.1ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  429 !== 200

      at TestContext.<anonymous> (file:///home/u/app/a.test.mjs:3:59)
      at Test.runInAsyncScope (node:async_hooks:206:9) {
    code: 'ERR_ASSERTION',
    actual: 429,
    expected: 200,
  }

test at a.test.mjs:6:1
✖ timeout (87.1ms)
  'test timed out after 20ms'
""",
        (
            "ℹ fail 2",
            "login: AssertionError [ERR_ASSERTION]: Expected values to be strictly equal",
            "a.test.mjs:3:59",
            "timeout: test timed out after 20ms (a.test.mjs:6:1)",
        ),
    ),
    "node tap": (
        "ok {n} - works {n}",
        """
# Subtest: rejects empty
not ok 81 - rejects empty
  ---
  duration_ms: 0.2
  location: '/home/u/app/a.test.mjs:3:82'
  error: 'cart is empty'
  ...
# Subtest: deep equal
not ok 82 - deep equal
  ---
  location: '/home/u/app/a.test.mjs:4:1'
  error: |-
    Expected values to be strictly deep-equal:
    + actual - expected
  ...
1..82
# tests 82
# pass 80
# fail 2
""",
        (
            "2 failed, 80 passed of 82",
            "rejects empty: cart is empty (/home/u/app/a.test.mjs:3:82)",
            "deep equal: Expected values to be strictly deep-equal: (/home/u/app/a.test.mjs:4:1)",
        ),
    ),
    "cargo test, unwrap": (
        "test m{n}::tests::works ... ok",
        """
test tests::open ... FAILED
test tests::stops - should panic ... FAILED

failures:

---- tests::stops stdout ----
note: test did not panic as expected at src/lib.rs:6:26

---- tests::open stdout ----

thread 'tests::open' (32076) panicked at src/lib.rs:5:64:
called `Result::unwrap()` on an `Err` value: "no db"

test result: FAILED. 80 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out

error: test failed, to rerun pass `--lib`
""",
        (
            'tests::open: called `Result::unwrap()` on an `Err` value: "no db" (src/lib.rs:5:64)',
            "tests::stops: test did not panic as expected (src/lib.rs:6:26)",
            "80 passed; 2 failed",
        ),
    ),
    "linker": (
        "cc -O2 -c -o m{n}.o src/m{n}.c",
        """
/usr/bin/ld: m9.o: in function `main':
m9.c:(.text+0x19): undefined reference to `nosuch'
collect2: error: ld returned 1 exit status
make: *** [Makefile:3: app] Error 1
""",
        ("undefined reference to `nosuch'", "make: *** [Makefile:3: app] Error 1"),
    ),
    "g++": (
        """t.cpp:{n}:35: note:   no known conversion for argument 1
 {n} |       push_back(const value_type& __x)
      |                 ~~~~~~~~~~~~~~~~~~^~~""",
        """
t.cpp:92:5: error: no matching function for call to ‘push_back’
   92 | int main(){ v.push_back("x"); }
      |             ~~~~~~~~~~~^~~~~
""",
        ("t.cpp:92:5: error: no matching function for call to ‘push_back’",),
    ),
    "apt": (
        "Get:{n} https://deb.example.org/debian bookworm/main amd64 p{n} all 1.{n} [12 kB]",
        """
E: Unable to locate package foo-bar
""",
        ("E: Unable to locate package foo-bar",),
    ),
    "shell": (
        "step {n}",
        """
./run.sh: line 12: foo: command not found
cp: cannot stat 'a': No such file or directory
rm: cannot remove 'b': Permission denied
""",
        (
            "foo: command not found",
            "cannot stat 'a': No such file or directory",
            "cannot remove 'b': Permission denied",
        ),
    ),
    "go build": (
        "go: downloading example.com/m{n} v1.0.{n}",
        """
# example.com/app
./main.go:17:5: undefined: foo
""",
        ("./main.go:17:5: undefined: foo",),
    ),
    "klog": (
        "I0210 10:00:00.12345{n}       1 controller.go:{n}] Reconciling pod-{n}",
        """
E0210 10:01:00.123456       1 lease.go:330] no lock: connection refused
I0210 10:02:00.123456       1 controller.go:3] Reconciling
""",
        ("lease.go:330] no lock: connection refused",),
    ),
    "logfmt": (
        "time=2026-02-10T10:00:00Z level=info msg=handled path=/x/{n}",
        """
time=2026-02-10T10:01:00Z level=error msg="dial tcp: connection refused"
time=2026-02-10T10:02:00Z level=info msg=handled path=/x/3
""",
        (
            "level=error",
            "connection refused",
        ),
    ),
    "vite": (
        "transforming ({n}) src/m{n}.ts",
        """
x Build failed in 1.2s
error during build:
src/App.tsx (3:9): "foo" is not exported by "src/x.ts".
file: /app/src/App.tsx:3:9
""",
        (
            "error during build",
            "/app/src/App.tsx:3:9",
            '"foo" is not exported',
        ),
    ),
    "webpack": (
        "asset chunk{n}.js 10 KiB [emitted]",
        """
ERROR in ./src/a.ts 3:9-12
TS2304: Cannot find name 'foo'.
webpack 5.1 compiled with 1 error in 1200 ms
""",
        (
            "ERROR in ./src/a.ts 3:9-12",
            "compiled with 1 error",
        ),
    ),
    "gcc, German": (
        "cc -c m{n}.c",
        """
m3.c:1:16: Fehler: unbekannter Typname: »retrun«
make: *** [Makefile:5: m3.o] Fehler 1
""",
        (
            "m3.c:1:16: Fehler: unbekannter Typname",
            "make: *** [Makefile:5: m3.o] Fehler 1",
        ),
    ),
    "systemd": (
        "Feb 10 10:00:00 web1 systemd[1]: Started Session {n} of user root.",
        """
Feb 10 10:01:00 web1 nginx[812]: [emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)
Feb 10 10:01:00 web1 systemd[1]: nginx.service: Main process exited, code=exited, status=1/FAILURE
Feb 10 10:02:00 web1 systemd[1]: Started Session 81 of user root.
""",
        (
            "Address already in use",
            "status=1/FAILURE",
        ),
    ),
    "javac": (
        "[parsing started {n}.java]",
        """
A.java:1: error: incompatible types: String cannot be converted to int
class A { int f() { return "x"; } }
                            ^
1 error
""",
        ("A.java:1: error: incompatible types", "1 error"),
    ),
}
