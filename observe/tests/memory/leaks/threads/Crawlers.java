import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;

/**
 * Leaks pages: a virtual thread for each site waits for an answer that never comes, with the pages
 * read so far in its local variables.
 */
public final class Crawlers {
  private static final CountDownLatch ANSWER = new CountDownLatch(1);

  private record Page(String address, byte[] content) {}

  private static void crawl(int site, CountDownLatch started) {
    Set<String> seen = new HashSet<>();
    List<Page> pages = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      String address = "https://site-" + site + ".example/" + i;
      if (seen.add(address)) {
        byte[] content = new byte[1_200];
        content[i] = (byte) site;
        pages.add(new Page(address, content));
      }
    }
    started.countDown();
    try {
      ANSWER.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    System.out.println(pages.size() + seen.size());
  }

  public static void main(String[] args) throws Exception {
    int sites = 2_000;
    CountDownLatch started = new CountDownLatch(sites);
    for (int i = 0; i < sites; i++) {
      int site = i;
      Thread.ofVirtual().name("crawler-" + site).start(() -> crawl(site, started));
    }
    started.await();
    System.out.println("ready");
    System.in.read();
  }
}
