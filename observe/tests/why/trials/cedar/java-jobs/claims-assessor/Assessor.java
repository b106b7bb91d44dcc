import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.util.concurrent.atomic.LongAdder;

/** Two assessors work off claims. */
public class Assessor {
    static final LongAdder claims = new LongAdder();
    static final ObjectMapper json = new ObjectMapper();

    static String claim(int n) {
        return "{\"claim\":" + n + ",\"policy\":" + n % 2000
            + ",\"items\":[{\"what\":\"glass\",\"cents\":" + (n % 900 + 100)
            + "},{\"what\":\"paint\",\"cents\":" + (n % 77 * 100) + "}],"
            + "\"text\":\"hail on the motorway, km " + n % 300 + "\"}";
    }

    static void assess(Connection c, String url) throws Exception {
        try (PreparedStatement find = c.prepareStatement("select excess, class from policy where id = ?");
                PreparedStatement add = c.prepareStatement("update policy set claims = claims + 1 where id = ?")) {
            for (int n = 0; ; n++) {
                JsonNode in = json.readTree(claim(n));
                int sum = 0;
                for (JsonNode i : in.get("items")) {
                    sum += i.get("cents").asInt() * (i.get("what").asText().startsWith("g") ? 2 : 1);
                }
                find.setInt(1, in.get("policy").asInt());
                ObjectNode out = json.createObjectNode();
                try (var rs = find.executeQuery()) {
                    rs.next();
                    out.put("claim", n).put("pay", Math.max(0, sum - rs.getInt(1))).put("class", rs.getString(2));
                }
                add.setInt(1, in.get("policy").asInt());
                add.executeUpdate();
                if (json.writeValueAsString(out).length() > 10) {
                    claims.increment();
                }
            }
        }
    }

    public static void main(String[] a) throws Exception {
        for (int i = 0; i < 2; i++) {
            String url = "jdbc:h2:mem:policies" + i;
            Connection c = DriverManager.getConnection(url);
            try (var s = c.createStatement()) {
                s.execute("create table policy(id int primary key, excess int, class varchar(9), "
                    + "claims int default 0)");
                s.execute("insert into policy(id, excess, class) select x, mod(x, 500), 'M' || mod(x, 7) "
                    + "from system_range(0, 1999)");
            }
            new Thread(() -> {
                try {
                    assess(c, url);
                } catch (Exception e) {
                    e.printStackTrace();
                }
            }, "assessor-" + i).start();
        }
        System.out.println("ready");
        while (true) {
            Thread.sleep(500);
            System.out.println("total " + claims.sum());
        }
    }
}
