package org.yunti.web.velocity.compiler;

import org.apache.velocity.runtime.parser.node.Node;
import org.yunti.web.velocity.tree.CompiledNode;

/**
 * What is entered from outside of the generated class: all children of a node, or the value of a node.
 *
 * @param standIn stands in the tree for it
 * @param index of the child whose value it is; -1: it stands for all children, and renders
 */
record Piece(CompiledNode standIn, int index, Node[] nodes) {
  boolean renders() {
    return index < 0;
  }
}
