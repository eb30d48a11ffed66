package io.railhead.benchmarks.store;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A store of zeros that costs as little as can be: GET of one range, PUT of anything. A process of
 * its own, whose first line out is its port; it ends with its input.
 */
public final class ZeroStore {
    private static final Pattern RANGE = Pattern.compile("range: bytes=(\\d+)-(\\d+)");
    private static final Pattern LENGTH = Pattern.compile("content-length: (\\d+)");
    private static final byte[] ZEROS = new byte[256 << 10];
    private static final int MOST_HEAD = 16 << 10;

    private ZeroStore() {}

    public static void main(String[] arguments) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> accept(listener));
            System.out.println(listener.getLocalPort());
            while (System.in.read() >= 0) {
                // Until the measuring process lets go.
            }
        }
    }

    private static void accept(ServerSocket listener) {
        try {
            while (true) {
                Socket socket = listener.accept();
                Thread.ofVirtual().start(() -> serve(socket));
            }
        } catch (IOException _) {
            // Closed.
        }
    }

    private static void serve(Socket ownedSocket) {
        try (Socket socket = ownedSocket) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream(), ZEROS.length);
            byte[] scratch = new byte[ZEROS.length];
            while (true) {
                answer(head(in), in, socket.getOutputStream(), scratch);
            }
        } catch (IOException _) {
            // The client is done.
        }
    }

    private static String head(InputStream in) throws IOException {
        byte[] head = new byte[MOST_HEAD];
        int length = 0;
        while (length < 4 || head[length - 1] != '\n' || head[length - 3] != '\n') {
            int next = in.read();
            if (next < 0 || length == MOST_HEAD) {
                throw new EOFException();
            }
            head[length++] = (byte) next;
        }
        return new String(head, 0, length, ISO_8859_1).toLowerCase(Locale.ROOT);
    }

    private static void answer(String head, InputStream in, OutputStream out, byte[] scratch)
            throws IOException {
        if (head.startsWith("put")) {
            if (head.contains("expect: 100-continue")) {
                out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(ISO_8859_1));
            }
            Matcher length = LENGTH.matcher(head);
            long left = length.find() ? Long.parseLong(length.group(1)) : 0;
            while (left > 0) {
                int read = in.read(scratch, 0, (int) Math.min(left, scratch.length));
                if (read < 0) {
                    throw new EOFException();
                }
                left -= read;
            }
            out.write("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: 0\r\n\r\n"
                    .getBytes(ISO_8859_1));
            return;
        }
        Matcher range = RANGE.matcher(head);
        if (!range.find()) {
            throw new IOException("no range");
        }
        long first = Long.parseLong(range.group(1));
        long last = Long.parseLong(range.group(2));
        out.write(("HTTP/1.1 206 Partial Content\r\nETag: \"1\"\r\nContent-Length: "
                + (last - first + 1) + "\r\nContent-Range: bytes " + first + "-" + last + "/"
                + Long.MAX_VALUE + "\r\n\r\n").getBytes(ISO_8859_1));
        for (long left = last - first + 1; left > 0; left -= ZEROS.length) {
            out.write(ZEROS, 0, (int) Math.min(left, ZEROS.length));
        }
    }
}
