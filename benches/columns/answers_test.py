#!/usr/bin/env python3
"""Tests of the comparison of answers."""

import io
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

import answers  # noqa: E402


def answer(rows):
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/part-r-00000", "wb") as f:
            f.write(rows)
        return answers.read(folder, parquet=False)


class Answers(unittest.TestCase):
    SAME = [
        ("order", b"a\t1\nb\t2\n", b"b\t2\na\t1\n"),
        ("zeros of decimals", b"a\t1.50\t7.00\t-0.10\n", b"a\t1.5\t7\t-0.1\n"),
        ("floats", b"a\t0.1234567890123\n", b"a\t0.1234567890124\n"),
        ("no line end at the end", b"a\t1\nb\t2\n", b"a\t1\nb\t2"),
        ("empty", b"", b""),
    ]
    OTHER = [
        ("a value", b"a\t1\nb\t2\n", b"a\t1\nb\t3\n"),
        ("a float", b"a\t0.12345678\n", b"a\t0.12345679\n"),
        ("values of two rows", b"a\t1\nb\t2\n", b"a\t2\nb\t1\n"),
        ("a row more", b"a\t1\n", b"a\t1\na\t1\n"),
        ("a row twice", b"a\na\nb\n", b"a\nb\nb\n"),
        ("a column more", b"a\t1\n", b"a\t1\t1\n"),
        ("zeros of integers", b"a\t10\n", b"a\t1\n"),
        ("nothing", b"a\n", b""),
    ]

    def test_same(self):
        for title, a, b in self.SAME:
            with self.subTest(title):
                self.assertTrue(answers.agree(answer(a), answer(b)))

    def test_other(self):
        for title, a, b in self.OTHER:
            with self.subTest(title):
                self.assertFalse(answers.agree(answer(a), answer(b)))

    def test_more_rows_than_are_kept(self):
        rows = [b"%d\t%d.00\n" % (n, n * n) for n in range(answers.ROWS_KEPT + 1)]
        whole = answer(b"".join(rows))
        self.assertEqual(whole.rows, [])
        self.assertTrue(answers.agree(whole, answer(b"".join(reversed(rows)).replace(b".00", b""))))
        self.assertFalse(answers.agree(whole, answer(b"".join(rows[:-1]) + b"0\t0\n")))

    def test_blocks_end_with_lines(self):
        text = b"".join(b"x" * n + b"\n" for n in range(200)) + b"last"
        kept, answers.BLOCK_BYTES = answers.BLOCK_BYTES, 64
        try:
            found = list(answers.blocks(io.BytesIO(text)))
        finally:
            answers.BLOCK_BYTES = kept
        self.assertGreater(len(found), 2)
        self.assertTrue(all(block.endswith(b"\n") for block in found))
        self.assertEqual(b"".join(found), text + b"\n")


if __name__ == "__main__":
    unittest.main()
