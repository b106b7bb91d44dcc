package org.yunti.hadoop.runner.attempt;

/**
 * End of an attempt that was killed. An error, because mappers and reducers that catch exceptions of single records
 * must not catch it.
 */
public final class Cancelled extends Error {
  private static final long serialVersionUID = 1;

  public Cancelled(String attempt) {
    super(attempt + " was killed");
  }
}
