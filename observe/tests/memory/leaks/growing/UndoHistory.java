/** Leaks edits: a linked list made by hand, each edit with the text before it, without a limit. */
public final class UndoHistory {
  private static final class Edit {
    final Edit previous;
    final int position;
    final char[] replaced;

    Edit(Edit previous, int position, char[] replaced) {
      this.previous = previous;
      this.position = position;
      this.replaced = replaced;
    }
  }

  private static final class Document {
    private final StringBuilder text = new StringBuilder("once upon a time there was a text");
    private Edit last;

    void type(char key) {
      char[] before = new char[text.length()];
      text.getChars(0, before.length, before, 0);
      int position = Math.abs(key * 31) % before.length;
      last = new Edit(last, position, before);
      text.setCharAt(position, key);
    }
  }

  private static final Document OPEN = new Document();

  public static void main(String[] args) throws Exception {
    for (int i = 0; i < 150_000; i++) {
      OPEN.type((char) ('a' + i % 26));
    }
    System.out.println("ready");
    System.in.read();
  }
}
