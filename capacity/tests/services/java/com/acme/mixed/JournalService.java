package com.acme.mixed;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Messages: each is appended to the journal; its blocks are on the disk before it is confirmed. */
public final class JournalService {
    private JournalService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        Remote senders = new Remote(options.number("senders"));
        Journal journal = new Journal(Path.of(options.text("journal")));
        JdkWeb.start(options, path -> {
            String sender = senders.call();
            long signature = Work.hash(rounds);
            journal.append(signature);
            return sender + signature;
        });
    }
}

/** Journal: a file of 32 MiB, written in a circle and through to the disk; one message at a time. */
final class Journal {
    private static final int BLOCK_BYTES = 4096;
    private static final int MESSAGE_BLOCKS = 8;
    private static final long FILE_BYTES = 32L << 20;

    private final FileChannel file;
    private final ByteBuffer block = ByteBuffer.allocateDirect(BLOCK_BYTES);
    private long end;

    Journal(Path path) throws IOException {
        file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.DSYNC);
    }

    synchronized void append(long signature) throws IOException {
        for (int i = 0; i < MESSAGE_BLOCKS; i++) {
            block.clear();
            block.putLong(0, signature + i);
            file.write(block, end % FILE_BYTES);
            end += BLOCK_BYTES;
        }
    }
}
