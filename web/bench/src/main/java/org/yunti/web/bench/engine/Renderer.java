package org.yunti.web.bench.engine;

import java.io.IOException;
import java.io.OutputStream;

/** Renderer of a page by one engine, with its model. One thread renders it repeatedly, as a server's worker does. */
public interface Renderer {
  /** Renders the page once and writes its bytes, in any number of pieces. */
  void render(OutputStream out) throws IOException;
}
