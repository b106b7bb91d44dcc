package org.yunti.web.velocity.compiler;

import org.apache.velocity.runtime.parser.node.Node;
import org.yunti.web.velocity.tree.CompiledNode;

/**
 * Entry point of a generated class: all children of a node, or the value of one child.
 *
 * @param standIn node that replaces it in the tree
 * @param index index of the child whose value it is; -1 for all children, which are rendered
 */
record Piece(CompiledNode standIn, int index, Node[] nodes) {
  boolean renders() {
    return index < 0;
  }
}
