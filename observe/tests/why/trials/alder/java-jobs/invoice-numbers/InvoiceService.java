import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.util.concurrent.atomic.AtomicLong;

/** Issues invoices: number, row in the table, copy to the archive. */
public class InvoiceService implements Runnable {
    static final String URL = "jdbc:h2:mem:inv;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";
    static final AtomicLong issued = new AtomicLong();
    final int archivePort;
    final boolean archiveFirst;

    InvoiceService(int port, boolean first) {
        archivePort = port;
        archiveFirst = first;
    }

    private void archive(Socket s, BufferedReader in, long n) throws Exception {
        s.getOutputStream().write(("PUT invoice:" + n + "\n").getBytes());
        in.readLine();
    }

    private long nextNumber(Connection c) throws Exception {
        c.createStatement().executeUpdate("update counters set n = n + 1 where name = 'invoice'");
        try (ResultSet r = c.createStatement().executeQuery("select n from counters where name = 'invoice'")) {
            r.next();
            return r.getLong(1);
        }
    }

    @Override public void run() {
        try (Connection c = DriverManager.getConnection(URL);
                Socket s = new Socket("127.0.0.1", archivePort);
                PreparedStatement ins = c.prepareStatement("merge into invoices key(id) values(?,?,?)")) {
            s.setTcpNoDelay(true);
            c.setAutoCommit(false);
            BufferedReader in = new BufferedReader(new InputStreamReader(s.getInputStream()));
            for (long i = 0;; i++) {
                if (archiveFirst) archive(s, in, i);
                long n = nextNumber(c);
                ins.setLong(1, n % 1000);
                ins.setString(2, "customer " + n % 77);
                ins.setLong(3, n * 13 % 10000);
                ins.executeUpdate();
                if (!archiveFirst) archive(s, in, n);
                c.commit();
                issued.incrementAndGet();
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    public static void main(String[] a) throws Exception {
        try (Connection c = DriverManager.getConnection(URL)) {
            c.createStatement().execute("create table counters(name varchar primary key, n bigint)");
            c.createStatement().execute("create table invoices(id bigint primary key, who varchar, cents bigint)");
            c.createStatement().execute("insert into counters values('invoice', 0)");
        }
        for (int i = 0; i < 8; i++)
            new Thread(new InvoiceService(Integer.parseInt(a[0]), a[1].equals("archive-first")), "invoice-" + i).start();
        while (true) {
            Thread.sleep(1000);
            System.out.println("done " + issued.get());
        }
    }
}
