"""What has to hold at the end of the day; the agent never sees this. Prints how many tests hold."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import unittest


def read(*lines: str) -> list[dict]:
    from shop import orders

    return orders.parse("\n".join(lines))


def earned(*lines: str) -> int:
    from shop import orders

    return orders.total(read(*lines))


class Day(unittest.TestCase):
    def test_the_check_passes(self) -> None:
        from shop import check

        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(check.main(), 0)

    def test_amounts_of_both_kinds(self) -> None:
        self.assertEqual(earned("1;a;DE;1.234,50;sale", ""), 123450)
        self.assertEqual(earned("1;a;DE;1,234.50;sale", ""), 123450)

    def test_half_to_even(self) -> None:
        self.assertEqual(earned("1;a;DE;10.125;sale", ""), 1012)
        self.assertEqual(earned("1;a;DE;10.135;sale", ""), 1014)

    def test_refunds_are_negative(self) -> None:
        self.assertEqual(earned("1;a;DE;10.00;sale", "2;a;DE;4.00;refund", ""), 600)

    def test_no_country_is_xx(self) -> None:
        self.assertEqual([one["country"] for one in read("1;a;;10.00;sale", "")], ["XX"])

    def test_the_last_line_counts(self) -> None:
        self.assertEqual(earned("1;a;DE;1.00;sale", "2;a;DE;2.00;sale"), 300)

    def test_cents_are_whole_numbers(self) -> None:
        self.assertIs(type(read("1;a;DE;0.29;sale", "")[0]["cents"]), int)
        self.assertEqual(earned("1;a;DE;0.29;sale", ""), 29)

    def test_the_report_adds_up_by_country(self) -> None:
        from shop import report

        found = report.by_country("1;a;FR;1.00;sale\n2;a;;2.00;sale\n3;a;FR;0.40;refund")
        self.assertEqual(list(found.items()), [("FR", 60), ("XX", 200)])


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(Day)
    done = unittest.TextTestRunner(io.StringIO()).run(tests)
    print(done.testsRun - len(done.failures) - len(done.errors))
