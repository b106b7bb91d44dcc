import java.util.TreeMap;

/** Program of the tests that ends by itself, with the code of its first argument. */
public class Batch {
    public static void main(String[] arguments) {
        TreeMap<String, Integer> words = new TreeMap<>();
        for (String word : "a b a".split(" ")) {
            words.merge(word, 1, Integer::sum);
        }
        System.out.println(words);
        System.exit(arguments.length == 0 ? 0 : Integer.parseInt(arguments[0]));
    }
}
