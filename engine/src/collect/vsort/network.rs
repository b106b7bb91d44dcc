//! The comparator lists of the base case, shared by the kernels because they do not depend on the vector's width.
//!
//! A base case is a matrix of up to 16 rows, a row a vector, read row by row. [`sort_columns`] sorts every column.
//! [`merge_groups`] then takes two neighbouring groups of lanes, each sorted when read row by row. It moves every key
//! of the two into its right row; the kernel orders the lanes of each row. Doubling the groups sorts all keys.
//!
//! ```text
//! 4 rows, groups of one lane       row 0 with row 3 turned,     row 0 with row 1 turned,
//!   row 0   a0 b0                  row 1 with row 2 turned:     row 2 with row 3 turned:
//!   row 1   a1 b1                    the 4 smallest               the 2 smallest
//!   row 2   a2 b2                                                 the next 2
//!   row 3   a3 b3                    the 4 largest                ...
//! ```
//!
//! A comparator that touches row `$rows` or a later one is left out at compile time. Such a row would hold only the
//! largest value, and would keep it. So the 16-row lists also serve 1, 2, 4, 6, 8 and 12 rows.

/// Puts the smaller keys of each row pair into the first row and the larger ones into the second, lane by lane.
macro_rules! compare_rows {
    ($v:ident, $rows:ident, $min_max:ident, $(($a:literal, $b:literal))*) => { $(
        if $b < $rows {
            ($v[$a], $v[$b]) = $min_max($v[$a], $v[$b]);
        }
    )* };
}

/// `compare_rows` after reversing (`$turn`) the lanes of the second row.
macro_rules! compare_turned {
    ($v:ident, $rows:ident, $min_max:ident, $turn:ident, $(($a:literal, $b:literal))*) => { $(
        if $b < $rows {
            ($v[$a], $v[$b]) = $min_max($v[$a], $turn($v[$b]));
        }
    )* };
}

/// Sorts the columns of the first `$rows` rows of `$v` by Green's network: 60 comparators for 16 rows, 40 for 12,
/// 20 for 8 (Knuth, The Art of Computer Programming, volume 3, section 5.3.4).
macro_rules! sort_columns {
    ($v:ident, $rows:ident, $min_max:ident) => {
        compare_rows!($v, $rows, $min_max, (0, 1)(2, 3)(4, 5)(6, 7)(8, 9)(10, 11)(12, 13)(14, 15));
        compare_rows!($v, $rows, $min_max, (0, 2)(1, 3)(4, 6)(5, 7)(8, 10)(9, 11)(12, 14)(13, 15));
        compare_rows!($v, $rows, $min_max, (0, 4)(1, 5)(2, 6)(3, 7)(8, 12)(9, 13)(10, 14)(11, 15));
        compare_rows!($v, $rows, $min_max, (0, 8)(1, 9)(2, 10)(3, 11)(4, 12)(5, 13)(6, 14)(7, 15));
        compare_rows!($v, $rows, $min_max, (5, 10)(6, 9)(3, 12)(13, 14)(7, 11)(1, 2)(4, 8));
        compare_rows!($v, $rows, $min_max, (1, 4)(7, 13)(2, 8)(11, 14));
        compare_rows!($v, $rows, $min_max, (2, 4)(5, 6)(9, 10)(11, 13)(3, 8)(7, 12));
        compare_rows!($v, $rows, $min_max, (6, 8)(10, 12)(3, 5)(7, 9));
        compare_rows!($v, $rows, $min_max, (3, 4)(5, 6)(7, 8)(9, 10)(11, 12));
        compare_rows!($v, $rows, $min_max, (6, 7)(8, 9));
    };
}

/// Moves every key of two neighbouring groups of lanes, each sorted row by row, into its right row; within a row the
/// keys are then bitonic over the two groups' lanes. `$turn` reverses the lanes that the two groups span.
macro_rules! merge_groups {
    ($v:ident, $rows:ident, $min_max:ident, $turn:ident) => {
        compare_turned!($v, $rows, $min_max, $turn, (0, 15)(1, 14)(2, 13)(3, 12)(4, 11)(5, 10)(6, 9)(7, 8));
        compare_turned!($v, $rows, $min_max, $turn, (0, 7)(1, 6)(2, 5)(3, 4)(8, 15)(9, 14)(10, 13)(11, 12));
        compare_turned!($v, $rows, $min_max, $turn, (0, 3)(1, 2)(4, 7)(5, 6)(8, 11)(9, 10)(12, 15)(13, 14));
        compare_turned!($v, $rows, $min_max, $turn, (0, 1)(2, 3)(4, 5)(6, 7)(8, 9)(10, 11)(12, 13)(14, 15));
    };
}
