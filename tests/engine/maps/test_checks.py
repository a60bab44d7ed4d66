"""Test reports: totals, each failure with its message, contradictions."""

from brimgate.engine.maps.checks import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines

PYTEST = """============================= test session starts ==============================
collected 8 items

tests/order/test_index.py::test_total_1 PASSED                           [ 12%]
tests/order/test_index.py::test_total_2 PASSED                           [ 25%]
tests/order/test_index.py::test_total_3 FAILED                           [ 37%]
tests/device/test_viewer.py::TestDaemon::test_start ERROR                [ 50%]
tests/device/test_viewer.py::test_docker SKIPPED (needs docker)          [ 62%]
tests/handler/test_batch.py::test_planner XPASS                          [ 75%]
tests/handler/test_batch.py::test_a[x y] PASSED                          [ 87%]
tests/handler/test_batch.py::test_b PASSED                               [100%]

==================================== ERRORS ====================================
__________________ ERROR at setup of TestDaemon.test_start ____________________
E   sqlalchemy.exc.OperationalError: could not connect to server: Connection refused

tests/conftest.py:12: OperationalError
=================================== FAILURES ===================================
_________________________________ test_total_3 _________________________________

>       assert invoice.total == expected
E       assert 713 == 701

tests/order/test_index.py:41: AssertionError
=========================== short test summary info ============================
FAILED tests/order/test_index.py::test_total_3 - assert 713 == 701
ERROR tests/device/test_viewer.py::TestDaemon::test_start - sqlalchemy.exc.Operat...
===== 1 failed, 5 passed, 1 skipped, 1 xpassed, 1 error in 41.20s =====
"""

JEST = """PASS src/cart.test.ts
FAIL src/price.test.ts
  price
    ✓ adds tax (3 ms)
    ✕ rounds down (5 ms)

  ● price › rounds down

    expect(received).toBe(expected) // Object.is equality

    Expected: 12.5
    Received: 13

      at Object.<anonymous> (src/price.test.ts:14:23)

Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 9 passed, 10 total
"""

GO = """=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
=== RUN   TestLimit
    limit_test.go:22: got 736, want 3
--- FAIL: TestLimit (0.01s)
=== RUN   TestSkip
--- SKIP: TestSkip (0.00s)
FAIL
FAIL\texample.com/limit\t0.012s
ok  \texample.com/add\t0.004s
"""

CARGO = """running 3 tests
test math::adds ... ok
test math::divides ... FAILED
test net::slow ... ignored, needs network

failures:

---- math::divides stdout ----
thread 'math::divides' panicked at src/math.rs:31:9:
assertion `left == right` failed
  left: 4
 right: 5

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s
"""

TAP = """TAP version 13
1..4
ok 1 - opens
not ok 2 - closes
  ---
  message: expected 3 to equal 4
  ...
ok 3 - waits # SKIP no clock
"""

MOCHA = """  cart
    ✓ adds
    1) removes

  1 passing (12ms)
  1 failing

  1) cart
       removes:
     AssertionError: expected 2 to equal 1
      at Context.<anonymous> (test/cart.js:9:14)
"""

RSPEC = """Failures:

  1) Cart totals are rounded
     Failure/Error: expect(cart.total).to eq(10)

       expected: 10
            got: 11
     # ./spec/cart_spec.rb:12:in `block'

12 examples, 1 failure, 2 pending
"""

UNITTEST = """test_a (pkg.T.test_a) ... FAIL
test_b (pkg.T.test_b) ... ok
test_c (pkg.T.test_c) ... skipped 'no net'

======================================================================
FAIL: test_a (pkg.T.test_a)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/app/pkg/t.py", line 3, in test_a
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
"""

MAVEN = """[INFO] Running com.shop.CartTest
[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! - in com.shop.CartTest
[ERROR] com.shop.CartTest.removes  Time elapsed: 0.01 s  <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <1> but was: <2>
\tat com.shop.CartTest.removes(CartTest.java:34)
[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0
"""


def _survey(text: str) -> Survey:
    lines = TextLines.of(text)
    assert DETECTOR.recognise(lines) >= 0.7
    return DETECTOR.survey(lines)


def _told(text: str) -> list[str]:
    return [f"{one.place}: {one.text}" for one in _survey(text).findings]


def test_pytest_failures_come_with_message_and_place() -> None:
    survey = _survey(PYTEST)
    expected = "test report: 9 tests: 5 passed, 1 failed, 1 error, 1 xpassed, 1 skipped · 41 s"
    assert survey.title == expected
    told = _told(PYTEST)
    assert (
        "19: FAILED tests/order/test_index.py::test_total_3 (tests/order/test_index.py:41): assert 713 == 701"
        in told
    )
    assert any(
        one.startswith("14: ERROR tests/device/test_viewer.py::TestDaemon::test_start") for one in told
    )
    assert "9: XPASS tests/handler/test_batch.py::test_planner" in told
    assert any("needs docker 1" in line.text for line in survey.lines)


def test_a_total_that_contradicts_the_listed_results_is_told() -> None:
    assert any("states 5 passed, but 4 result lines say so" in one for one in _told(PYTEST))


def test_other_runners() -> None:
    assert _told(JEST) == [
        (
            "7: FAILED rounds down (src/price.test.ts:14): expect(received).toBe(expected) // Object.is equality"
            " (expected 12.5, received 13)"
        )
    ]
    assert _told(GO) == ["5: FAILED TestLimit (limit_test.go:22): got 736, want 3"]
    assert _told(CARGO)[0].startswith("8: FAILED math::divides (src/math.rs:31:9): assertion `left == right`")
    assert "left 4, right 5" in _told(CARGO)[0]
    assert "4: FAILED closes: expected 3 to equal 4" in _told(TAP)
    assert _told(MOCHA) == ["8: FAILED cart removes (test/cart.js:9): AssertionError: expected 2 to equal 1"]
    assert "expected 10, got 11" in _told(RSPEC)[0]
    assert _told(UNITTEST) == ["6: FAILED test_a (pkg.T.test_a) (/app/pkg/t.py:3): AssertionError: 1 != 2"]
    assert "expected: <1> but was: <2>" in _told(MAVEN)[0]


def test_titles_of_other_runners() -> None:
    assert _survey(GO).title.startswith("test report: 3 tests: 1 passed, 1 failed, 1 skipped (counted")
    assert _survey(CARGO).title == "test report: 3 tests: 1 passed, 1 failed, 1 skipped · 0.02 s"
    assert _survey(MAVEN).title == "test report: 4 tests: 3 passed, 1 failed"
    assert _survey(RSPEC).title == "test report: 12 tests: 9 passed, 1 failed, 2 skipped"


def test_a_plan_that_is_not_fulfilled_is_told() -> None:
    assert "2: announces 4 tests, but 3 have an outcome" in _told(TAP)


def test_failures_with_one_message_are_told_together() -> None:
    lines = [f"tests/a.py::test_{n} FAILED [{n}%]" for n in range(40)]
    lines += [f"FAILED tests/a.py::test_{n} - TimeoutError: after {n} s" for n in range(40)]
    lines += ["=== 40 failed in 3.00s ==="]
    told = _told("\n".join(lines))
    assert len(told) == 1
    assert "39 more fail alike" in told[0]


def test_other_texts_are_not_test_reports() -> None:
    for text in ("", "ok\nfine\n", '{"passed": 3}', "2026-01-01 INFO 3 passed\n" * 20, "\x00\xff" * 50):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))


COLLECTED = (
    "===== test session starts =====\n"
    + "".join(f"tests/test_cart.py::test_{n}\n" for n in range(40))
    + "\n40 tests collected in 0.1s\n"
)
VERBOSE = "".join(
    f"tests/test_cart.py::test_{n} {'FAILED' if n in (3, 4, 5) else 'PASSED'} [ {n}%]\n"
    for n in range(40)
    if n != 17
)


def failure(number: int, logged: str) -> str:
    return f"""________________ test_{number} ________________
>       assert answer.status == 200
E       assert 500 == 200

tests/test_cart.py:{number}: AssertionError
------------------ Captured log call ------------------
ERROR    shop.http:errors.py:41 unhandled: {logged}

"""


def test_a_test_that_was_collected_and_has_no_result_is_told() -> None:
    found = [one for one in _told(COLLECTED + VERBOSE) if "without a result" in one]
    assert found == ["19: 1 test collected without a result: tests/test_cart.py::test_17"]
    assert not any("without a result" in one for one in _told(COLLECTED.partition("\n")[0] + "\n" + VERBOSE))


def test_failures_that_look_alike_are_told_apart_by_what_was_logged() -> None:
    refused = [failure(number, "OperationalError: connection refused") for number in (3, 4)]
    odd = failure(5, "ZeroDivisionError: division by zero (shop/shares.py:117)")
    found = _told(
        "===== test session starts =====\n" + VERBOSE + "=== FAILURES ===\n" + "".join([*refused, odd])
    )
    (alone,) = [one for one in found if "ZeroDivisionError" in one]
    assert "test_5" in alone and "shop/shares.py:117" in alone
