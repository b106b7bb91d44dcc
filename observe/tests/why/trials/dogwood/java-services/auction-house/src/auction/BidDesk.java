package auction;

import java.io.IOException;
import java.sql.*;
import javax.sql.DataSource;

class BidDesk {
    private static final int TODAY = 140;
    private final DataSource db;
    private final Screening screening;
    private final boolean totalsLast;

    BidDesk(DataSource db, Screening screening, boolean totalsLast) {
        this.db = db;
        this.screening = screening;
        this.totalsLast = totalsLast;
    }

    long place(int lot, long cents) throws SQLException, IOException {
        try (Connection c = db.getConnection()) {
            c.setAutoCommit(false);
            if (!totalsLast) addToDay(c, cents);
            long id = record(c, lot, cents, screening.risk(lot, cents));
            if (totalsLast) addToDay(c, cents);
            c.commit();
            return id;
        }
    }

    private void addToDay(Connection c, long cents) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(
                "update sale_day set bids = bids + 1, cents = cents + ? where day = ?")) {
            s.setLong(1, cents);
            s.setInt(2, TODAY);
            s.executeUpdate();
        }
    }

    private long record(Connection c, int lot, long cents, double risk) throws SQLException {
        try (PreparedStatement s = c.prepareStatement(
                "insert into bid(lot, cents, risk) values(?, ?, ?) returning id")) {
            s.setInt(1, lot);
            s.setLong(2, cents);
            s.setDouble(3, risk);
            try (ResultSet r = s.executeQuery()) {
                r.next();
                return r.getLong(1);
            }
        }
    }
}
