package com.acme.memory;

import com.acme.web.JdkWeb;
import com.acme.web.Options;
import com.acme.work.Remote;
import com.acme.work.Work;
import java.io.IOException;

/** Galleries: a request holds the decoded picture while another service labels it. */
public final class GalleryService {
    private static final int PART_BYTES = 8 * 1024;

    private GalleryService() {}

    public static void main(String[] args) throws Exception {
        Options options = new Options(args);
        int rounds = options.number("hash");
        int parts = options.number("kib") * 1024 / PART_BYTES;
        Remote labels = new Remote(options.number("labels"));
        JdkWeb.start(options, path -> {
            byte[][] picture = decode(parts);
            return label(picture, labels) + Work.hash(rounds);
        });
    }

    private static byte[][] decode(int parts) {
        byte[][] picture = new byte[parts][];
        for (int i = 0; i < parts; i++) {
            picture[i] = new byte[PART_BYTES - 16];
            picture[i][i] = (byte) i;
        }
        return picture;
    }

    private static String label(byte[][] picture, Remote labels) throws IOException {
        String label = labels.call();
        int sum = 0;
        for (byte[] part : picture) {
            sum += part[sum & 1023];
        }
        return label + sum;
    }
}
