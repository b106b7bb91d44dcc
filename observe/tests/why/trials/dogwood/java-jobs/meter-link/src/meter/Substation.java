package meter;

import java.nio.ByteBuffer;
import java.util.Random;

class Substation {
    private final Random rnd;
    private final int id;
    private long tick;

    Substation(int id) {
        this.id = id;
        this.rnd = new Random(id);
    }

    byte[] readings() {
        ByteBuffer b = ByteBuffer.allocate(24 * 12);
        for (int meter = 0; meter < 24; meter++)
            b.putInt(id * 100 + meter).putInt((int) (tick += 15)).putFloat(230 + rnd.nextFloat());
        return b.array();
    }
}
