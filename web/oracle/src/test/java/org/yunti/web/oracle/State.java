package org.yunti.web.oracle;

/** An object of the model that says what it holds without noting the question in the journal. */
public interface State {
  String state();
}
