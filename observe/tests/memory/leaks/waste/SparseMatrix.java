/**
 * Wastes memory on sparse arrays: rows of a matrix of users and products, each as wide as the list
 * of products, with five values at most; and rows of zeros for users who never bought anything.
 */
public final class SparseMatrix {
  private static final int PRODUCTS = 1_500;

  private static final class Rating {
    final short stars;
    final int day;

    Rating(int stars, int day) {
      this.stars = (short) stars;
      this.day = day;
    }
  }

  private final Rating[][] ratings = new Rating[3_000][];
  private final double[][] spent = new double[1_500][];

  private SparseMatrix() {
    for (int user = 0; user < ratings.length; user++) {
      ratings[user] = new Rating[PRODUCTS];
      for (int i = 0; i < user % 6; i++) {
        ratings[user][(user * 31 + i * 97) % PRODUCTS] = new Rating(i, user);
      }
    }
    for (int user = 0; user < spent.length; user++) {
      spent[user] = new double[PRODUCTS];
    }
  }

  public static void main(String[] args) throws Exception {
    SparseMatrix matrix = new SparseMatrix();
    System.out.println("ready");
    System.in.read();
    System.out.println(matrix.ratings.length + matrix.spent.length);
  }
}
