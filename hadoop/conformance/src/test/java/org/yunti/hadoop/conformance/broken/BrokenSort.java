package org.yunti.hadoop.conformance.broken;

import org.apache.hadoop.util.IndexedSortable;
import org.apache.hadoop.util.IndexedSorter;
import org.apache.hadoop.util.Progressable;
import org.apache.hadoop.util.QuickSort;

/** Sorts, then swaps two unequal neighbours in the first partition that has such a pair. */
public final class BrokenSort implements IndexedSorter {
  private final QuickSort sort = new QuickSort();

  @Override
  public void sort(IndexedSortable records, int start, int end) {
    sort(records, start, end, null);
  }

  @Override
  public void sort(IndexedSortable records, int start, int end, Progressable progress) {
    sort.sort(records, start, end, progress);
    for (int i = start; i + 2 < end; i++) {
      if (records.compare(i, i + 1) < 0 && records.compare(i + 1, i + 2) == 0) {
        records.swap(i, i + 1);
        return;
      }
    }
  }
}
