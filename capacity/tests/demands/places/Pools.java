import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverPropertyInfo;
import java.sql.Statement;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Logger;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** Pools of libraries: 4 units each, held for 10 ms. */
final class Pools {
    private Pools() {}

    static Desk.Kind kind(String name) {
        return switch (name) {
            case "lib-hikari" -> database();
            case "lib-pool2" -> objects();
            case "lib-client5" -> routes();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static Desk.Kind database() {
        var config = new com.zaxxer.hikari.HikariConfig();
        config.setDriverClassName(SlowDriver.class.getName());
        config.setJdbcUrl("jdbc:slow:");
        config.setMaximumPoolSize(4);
        var source = new com.zaxxer.hikari.HikariDataSource(config);
        return () -> {
            try (Connection connection = source.getConnection(); Statement statement = connection.createStatement()) {
                statement.execute("select");
            }
        };
    }

    /** Borrows by the method without arguments, which calls another one. */
    private static Desk.Kind objects() {
        var pool = new GenericObjectPool<Object>(new BasePooledObjectFactory<Object>() {
            @Override
            public Object create() {
                return new Object();
            }

            @Override
            public PooledObject<Object> wrap(Object object) {
                return new DefaultPooledObject<>(object);
            }
        });
        pool.setMaxTotal(4);
        return () -> {
            Object object = pool.borrowObject();
            Desk.pause(10);
            pool.returnObject(object);
        };
    }

    /** Two servers in turn: 4 connections to each. */
    private static Desk.Kind routes() {
        var manager = PoolingHttpClientConnectionManagerBuilder.create()
                .setMaxConnPerRoute(4)
                .setMaxConnTotal(100)
                .build();
        var client = HttpClients.custom().setConnectionManager(manager).build();
        String[] ports = System.getProperty("peers").split(",");
        AtomicInteger times = new AtomicInteger();
        return () -> client.execute(
                new HttpGet("http://127.0.0.1:" + ports[times.incrementAndGet() % ports.length] + "/"),
                answer -> EntityUtils.toString(answer.getEntity()));
    }

    /** Driver whose statements take 10 ms. */
    public static final class SlowDriver implements Driver {
        @Override
        public Connection connect(String url, Properties properties) {
            return acceptsURL(url) ? of(Connection.class) : null;
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.startsWith("jdbc:slow:");
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties properties) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return Logger.getAnonymousLogger();
        }
    }

    /** Returns an object whose methods do nothing, but create statements and execute them. */
    private static <T> T of(Class<T> type) {
        InvocationHandler handler = (self, method, arguments) -> {
            if (method.getName().equals("execute")) {
                Desk.pause(10);
            }
            Class<?> result = method.getReturnType();
            if (result == Statement.class) {
                return of(Statement.class);
            }
            if (result == boolean.class) {
                return method.getName().equals("isValid");
            }
            if (result == int.class) {
                return method.getName().equals("hashCode") ? System.identityHashCode(self) : 0;
            }
            return null;
        };
        return type.cast(Proxy.newProxyInstance(Pools.class.getClassLoader(), new Class<?>[] {type}, handler));
    }
}
