package org.yunti.web.velocity.tree;

import java.io.IOException;
import java.io.Writer;
import java.util.concurrent.CountDownLatch;
import org.apache.velocity.context.InternalContextAdapter;
import org.apache.velocity.runtime.RuntimeServices;
import org.apache.velocity.runtime.parser.node.Node;
import org.apache.velocity.runtime.parser.node.SimpleNode;
import org.apache.velocity.runtime.parser.node.StandardParserVisitor;

/** Block of a macro, closed to other threads while its template is compiled. */
public final class MacroBody extends SimpleNode {
  private final SimpleNode block;
  private final Thread loader = Thread.currentThread();
  private final CountDownLatch opened = new CountDownLatch(1);
  private volatile boolean isOpen;

  MacroBody(SimpleNode block, RuntimeServices services) {
    super(block.getType());
    this.block = block;
    rsvc = services;
    template = block.getTemplate();
    line = block.getLine();
    column = block.getColumn();
  }

  void open() {
    isOpen = true;
    opened.countDown();
  }

  private void pass() {
    if (isOpen || Thread.currentThread() == loader) {
      return;
    }
    boolean interrupted = false;
    while (true) {
      try {
        opened.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true; // a template is compiled in milliseconds
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public boolean render(InternalContextAdapter context, Writer writer) throws IOException {
    pass();
    return block.render(context, writer);
  }

  @Override
  public int jjtGetNumChildren() {
    return block.jjtGetNumChildren();
  }

  @Override
  public Node jjtGetChild(int i) {
    return block.jjtGetChild(i);
  }

  @Override
  public Object jjtAccept(StandardParserVisitor visitor, Object data) {
    return block.jjtAccept(visitor, data);
  }

  @Override
  public String literal() {
    return block.literal();
  }
}
