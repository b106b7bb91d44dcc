package bank;

import java.io.*;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

class Journal implements Runnable {
    private record Entry(byte[] line, CompletableFuture<Void> stored) { }

    private final BlockingQueue<Entry> queue = new LinkedBlockingQueue<>();
    private final FileChannel file;
    private final int group;

    Journal(Path path, int group) throws IOException {
        this.file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        this.group = group;
    }

    CompletableFuture<Void> append(byte[] line) {
        Entry e = new Entry(line, new CompletableFuture<>());
        queue.add(e);
        return e.stored;
    }

    @Override
    public void run() {
        List<Entry> batch = new ArrayList<>();
        try {
            while (true) {
                batch.add(queue.take());
                queue.drainTo(batch, group - 1);
                store(batch);
                batch.forEach(e -> e.stored.complete(null));
                batch.clear();
                if (file.position() > 64 << 20) file.truncate(0);
            }
        } catch (IOException | InterruptedException e) {
            batch.forEach(b -> b.stored.completeExceptionally(e));
        }
    }

    private void store(List<Entry> batch) throws IOException {
        ByteArrayOutputStream lines = new ByteArrayOutputStream();
        for (Entry e : batch) {
            lines.writeBytes(e.line);
            lines.write('\n');
        }
        file.write(ByteBuffer.wrap(lines.toByteArray()));
        file.force(true);
    }
}
