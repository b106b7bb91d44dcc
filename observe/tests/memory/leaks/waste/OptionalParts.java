import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Wastes memory on collections that are empty or have one element, and on boxed numbers: the nodes
 * of a tree of folders, each with its own list, map and set.
 */
public final class OptionalParts {
  private static final class Node {
    final List<Node> children = new ArrayList<>();
    final Map<String, String> attributes = new HashMap<>();
    final Set<Integer> tags = new HashSet<>();
    final Optional<Long> size;
    final Node parent;

    Node(Node parent, long number) {
      this.parent = parent;
      size = number % 3 == 0 ? Optional.empty() : Optional.of(number);
      if (number % 4 == 0) {
        attributes.put("owner", "root");
      }
      if (number % 16 == 0) {
        tags.clear();
        tags.add((int) number);
        tags.remove((int) number);
      }
    }
  }

  private static long grow(Node parent, int depth, long number) {
    for (int i = 0; i < 6 && depth > 0; i++) {
      Node child = new Node(parent, number++);
      parent.children.add(child);
      number = grow(child, depth - 1, number);
    }
    return number;
  }

  public static void main(String[] args) throws Exception {
    Node root = new Node(null, 0);
    System.out.println("ready " + grow(root, 6, 1));
    System.in.read();
    System.out.println(root.children.size());
  }
}
