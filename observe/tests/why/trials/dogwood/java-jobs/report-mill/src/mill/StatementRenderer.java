package mill;

import freemarker.template.*;
import java.io.*;
import java.util.*;

class StatementRenderer {
    private static final String PAGE = "<h1>Statement ${customer}</h1><table>"
        + "<#list lines as l><tr><td>${l.day}</td><td>${l.what?html}</td><td>${l.cents / 100}</td></tr></#list>"
        + "</table><p>Balance ${balance / 100}</p>";
    private final Template template;

    StatementRenderer() throws IOException {
        Configuration cfg = new Configuration(Configuration.VERSION_2_3_32);
        template = new Template("statement", new StringReader(PAGE), cfg);
    }

    int render(int customer) {
        Random r = new Random(customer);
        List<Map<String, Object>> lines = new ArrayList<>();
        long balance = 0;
        for (int i = 0; i < 400; i++) {
            int cents = r.nextInt(90_000) - 40_000;
            balance += cents;
            lines.add(Map.of("day", 1 + i % 28, "what", "card payment & fee " + r.nextInt(999), "cents", cents));
        }
        StringWriter out = new StringWriter();
        try {
            template.process(Map.of("customer", customer, "lines", lines, "balance", balance), out);
        } catch (TemplateException | IOException e) {
            throw new IllegalStateException(e);
        }
        return out.getBuffer().length();
    }
}
