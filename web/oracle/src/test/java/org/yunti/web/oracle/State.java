package org.yunti.web.oracle;

/** Object of the model that returns its state without a line in the journal. */
public interface State {
  String state();
}
