"""The comparison of answers finds each kind of difference, and no others."""

import dataclasses
import datetime
import decimal
import unittest

from answers import difference
from engines import Rows

D = decimal.Decimal


def rows(*lines, approximate=None, places=None):
    width = len(lines[0]) if lines else 1
    return Rows([f"c{n}" for n in range(width)], list(lines), approximate or [False] * width, places or [None] * width)


class Comparison(unittest.TestCase):
    def test_the_same_rows_in_another_order(self):
        self.assertIsNone(difference(rows((1, "a"), (2, None)), rows((2, None), (1, "a"))))
        self.assertIsNone(difference(rows(), rows()))

    def test_other_rows(self):
        cases = [
            (rows((1,), (1,), (2,)), rows((1,), (2,), (2,))),  # other multiplicities
            (rows((1,)), rows((1,), (1,))),
            (rows((None,)), rows((0,))),
            (rows(("",)), rows((None,))),
            (rows(("a ",)), rows(("a",))),
            (rows((D("1.00"),)), rows((D("1.01"),))),
            (rows((1, 2)), rows((2, 1))),
            (rows((1, 2)), rows((1,))),
            (rows((datetime.date(2020, 1, 1),)), rows((datetime.date(2020, 1, 2),))),
            (rows(([1, 2],)), rows(([2, 1],))),
        ]
        for ours, theirs in cases:
            with self.subTest(ours=ours.rows, theirs=theirs.rows):
                self.assertIsNotNone(difference(ours, theirs))

    def test_values_are_equal_whatever_their_type(self):
        midnight = datetime.datetime(2020, 1, 1)
        zone = datetime.timezone(datetime.timedelta(hours=1))
        for a, b in [(1, D("1.00")), (datetime.date(2020, 1, 1), midnight), (b"x", bytearray(b"x")),
                     (datetime.datetime(2020, 1, 1, 1, tzinfo=zone), midnight)]:
            with self.subTest(a=a, b=b):
                self.assertIsNone(difference(rows((a,)), rows((b,))))

    def test_floats_are_close(self):
        def floats(*values):
            return rows(*((value,) for value in values), approximate=[True])

        nan = float("nan")
        self.assertIsNone(difference(floats(1.0, nan, None), floats(None, 1.0 + 1e-12, nan)))
        self.assertIsNotNone(difference(floats(1.0), floats(1.0 + 1e-8)))
        self.assertIsNotNone(difference(floats(nan), floats(None)))
        self.assertIsNotNone(difference(floats(0.0), floats(1e-9)))
        # Neighbours that sort differently on each side.
        a = Rows(["x", "y"], [(1.0, 2.0), (1.0 + 1e-12, 1.0)], [True, True])
        b = Rows(["x", "y"], [(1.0 + 1e-12, 2.0), (1.0, 1.0)], [True, True])
        self.assertIsNone(difference(a, b))

    def test_a_decimal_against_a_float_has_its_last_digit(self):
        theirs = rows((0.049985295,), approximate=[True])
        self.assertIsNone(difference(rows((D("0.049985"),), places=[6]), theirs))
        self.assertIsNotNone(difference(rows((D("0.049983"),), places=[6]), theirs))
        exact = rows((D("0.049985"),), places=[6])
        self.assertIsNotNone(difference(exact, rows((D("0.049986"),), places=[6])))

    def test_order_by_keys(self):
        ours = rows((1, "a"), (1, "b"), (2, "c"))
        self.assertIsNone(difference(ours, rows((1, "b"), (1, "a"), (2, "c")), keys=(0,)))
        self.assertIn("in order", difference(ours, rows((1, "b"), (2, "c"), (1, "a")), keys=(0,)))
        # With a limit, the rows of the last key are any of several.
        other = dataclasses.replace(ours, rows=[(1, "a"), (1, "b"), (2, "d")])
        self.assertIsNotNone(difference(ours, other, keys=(0,)))
        self.assertIsNone(difference(ours, other, keys=(0,), limited=True))


if __name__ == "__main__":
    unittest.main()
