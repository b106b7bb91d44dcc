package desk;

import java.io.IOException;
import java.sql.*;
import javax.sql.DataSource;

class BookingService {
    private final DataSource db;
    private final PaymentClient payments;
    private final boolean prepaid;

    BookingService(DataSource db, PaymentClient payments, String mode) {
        this.db = db;
        this.payments = payments;
        this.prepaid = mode.equals("b");
    }

    long book(int customer) throws SQLException, IOException, InterruptedException {
        int seat = customer % 10_000;
        String receipt = prepaid ? payments.charge(customer) : null;
        try (Connection c = db.getConnection()) {
            c.setAutoCommit(false);
            if (receipt == null) {
                checkSeat(c, seat);
                receipt = payments.charge(customer);
            }
            sell(c, seat);
            long id = insert(c, seat, receipt);
            c.commit();
            return id;
        }
    }

    private void checkSeat(Connection c, int seat) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("select sold from seat where id = ?")) {
            s.setInt(1, seat);
            try (ResultSet r = s.executeQuery()) {
                if (!r.next()) throw new SQLException("no seat " + seat);
            }
        }
    }

    private void sell(Connection c, int seat) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("update seat set sold = sold + 1 where id = ?")) {
            s.setInt(1, seat);
            s.executeUpdate();
        }
    }

    private long insert(Connection c, int seat, String receipt) throws SQLException {
        try (PreparedStatement s = c.prepareStatement("insert into booking(seat, payment) values(?, ?)",
                Statement.RETURN_GENERATED_KEYS)) {
            s.setInt(1, seat);
            s.setString(2, receipt);
            s.executeUpdate();
            try (ResultSet r = s.getGeneratedKeys()) {
                r.next();
                return r.getLong(1);
            }
        }
    }
}
