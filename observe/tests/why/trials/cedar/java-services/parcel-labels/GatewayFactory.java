import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;

/** Makes the connections of the pool. */
final class GatewayFactory extends BasePooledObjectFactory<Gateway> {
    private final int port;

    GatewayFactory(int port) {
        this.port = port;
    }

    @Override
    public Gateway create() throws IOException {
        return new Gateway(port);
    }

    @Override
    public PooledObject<Gateway> wrap(Gateway g) {
        return new DefaultPooledObject<>(g);
    }

    @Override
    public boolean validateObject(PooledObject<Gateway> p) {
        try {
            return p.getObject().ask("PING 30 STATUS FULL").startsWith("ok");
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void destroyObject(PooledObject<Gateway> p) throws IOException {
        p.getObject().socket.close();
    }
}

/** One connection: one line out, one line back. */
final class Gateway {
    final Socket socket;
    private final OutputStream out;
    private final BufferedReader in;

    Gateway(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setTcpNoDelay(true);
        out = socket.getOutputStream();
        in = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
    }

    String ask(String line) throws IOException {
        out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        String answer = in.readLine();
        if (answer == null) {
            throw new IOException("gateway gone");
        }
        return answer;
    }
}
