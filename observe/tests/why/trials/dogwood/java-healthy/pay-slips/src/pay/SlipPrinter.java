package pay;

import java.sql.*;
import javax.sql.DataSource;
import org.apache.commons.lang3.StringUtils;

class SlipPrinter {
    private final DataSource db;
    private volatile String last;

    SlipPrinter(DataSource db) {
        this.db = db;
    }

    void print(int employee) throws SQLException {
        try (Connection c = db.getConnection();
             PreparedStatement s = c.prepareStatement("select name, gross from employee where id = ?")) {
            s.setInt(1, employee);
            try (ResultSet r = s.executeQuery()) {
                r.next();
                last = slip(r.getString(1), r.getInt(2));
            }
        }
    }

    private String slip(String name, int gross) {
        double tax = gross * (gross > 3_500 ? 0.37 : 0.29);
        return StringUtils.rightPad(name, 40, '.') + StringUtils.leftPad(String.format("%.2f", gross - tax), 12);
    }
}
