package image;

import java.nio.ByteBuffer;
import java.util.function.Supplier;

class Buffers {
    static final int SIZE = Catalog.WIDTH * Catalog.HEIGHT * 3;

    static Supplier<ByteBuffer> perCall() {
        return () -> ByteBuffer.allocateDirect(SIZE);
    }

    static Supplier<ByteBuffer> perThread() {
        ThreadLocal<ByteBuffer> kept = ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(SIZE));
        return () -> kept.get().clear();
    }
}
