package org.yunti.web.bench.engine;

import java.io.IOException;
import java.io.OutputStream;

/** A page by one engine, with its model. One thread renders it again and again, as a worker of a server does. */
public interface Renderer {
  /** Renders it once and gives its bytes away, in as many pieces as the engine likes. */
  void render(OutputStream out) throws IOException;
}
