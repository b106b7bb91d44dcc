package org.yunti.hadoop.conformance.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.yunti.hadoop.conformance.classfile.ConstantPool;
import org.yunti.hadoop.conformance.classfile.ConstantPool.Member;

/** A class that links, and the same class with one reference that does not. */
class LinkCheckTest {
  /** Class with references of each kind. */
  private static final class Sample implements Comparable<Sample> {
    private final long[] numbers = {1, 2};

    @Override
    public int compareTo(Sample other) {
      return String.valueOf(numbers[0]).compareTo("" + other.numbers.clone().length) + Integer.MAX_VALUE;
    }
  }

  private static final String NAME = Sample.class.getName().replace('.', '/');
  private static final Member COMPARE = new Member("java/lang/String", "compareTo", "(Ljava/lang/String;)I", false);

  private static byte[] bytes() throws IOException {
    try (InputStream in = Sample.class.getResourceAsStream("LinkCheckTest$Sample.class")) {
      return in.readAllBytes();
    }
  }

  private static Set<String> missing(byte[] file) throws IOException {
    LinkCheck check = new LinkCheck();
    check.check(NAME, file);
    return check.missing();
  }

  @Test
  void aClassThatLinksHasNothingMissing() throws IOException {
    assertEquals(Set.of(), missing(bytes()));
  }

  @Test
  void findsAMethodThatItsClassLacks() throws IOException {
    Set<String> missing = missing(new ConstantPool(bytes()).withOwner(COMPARE, "java/lang/Object"));
    assertEquals(1, missing.size(), missing.toString());
    assertTrue(missing.iterator().next().contains("java/lang/Object.compareTo(Ljava/lang/String;)I"), missing.toString());
  }

  @Test
  void findsAClassThatIsNowhere() throws IOException {
    Set<String> missing = missing(new ConstantPool(bytes()).withOwner(COMPARE, "org/yunti/Nowhere"));
    // The class, and the method in it.
    assertEquals(2, missing.size(), missing.toString());
    assertTrue(missing.stream().allMatch(line -> line.contains("org/yunti/Nowhere")), missing.toString());
  }

  @Test
  void leavesAClassAloneThatDoesNotReferToTheMethod() throws IOException {
    byte[] file = bytes();
    assertEquals(file, new ConstantPool(file).withOwner(new Member("java/lang/System", "exit", "(I)V", false), "a/B"));
  }
}
