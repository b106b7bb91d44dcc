package meter;

import java.io.*;
import java.net.Socket;
import java.util.zip.CRC32;

class Uplink {
    private final Socket socket;
    private final DataOutputStream out;
    private final InputStream in;

    Uplink(String host, int port, boolean interactive) throws IOException {
        socket = new Socket(host, port);
        socket.setKeepAlive(true);
        socket.setSoTimeout(5000);
        if (interactive) socket.setTcpNoDelay(true);
        out = new DataOutputStream(socket.getOutputStream());
        in = socket.getInputStream();
    }

    void send(byte[] readings) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(readings);
        out.writeByte(1);
        out.writeInt(readings.length);
        out.write(readings);
        out.writeInt((int) crc.getValue());
        if (in.read() != 6) throw new IOException("frame refused");
    }
}
