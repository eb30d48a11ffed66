package io.railhead.cli.bench;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;

/** One request on a connection of its own, for what is not measured. */
final class RawHttp {
    private static final String HOST = "127.0.0.1";
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final int MOST_SHOWN = 500;
    private static final String END = "\r\n\r\n";

    private RawHttp() {}

    /** @param body each character a byte */
    record Answer(int status, String head, String body) {
        @Override
        public String toString() {
            String text = head + body.substring(0, Math.min(body.length(), MOST_SHOWN));
            return text.replaceAll("\\s+", " ");
        }
    }

    static InetSocketAddress address(int port) {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    static String host(int port) {
        return HOST + ":" + port;
    }

    /**
     * @param head with the empty line at its end
     */
    static Answer exchange(int port, String head, byte[] body) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout((int) PATIENCE.toMillis());
            OutputStream out = socket.getOutputStream();
            out.write(head.replace(END, "\r\nconnection: close" + END).getBytes(ISO_8859_1));
            out.write(body);
            String answer = new String(socket.getInputStream().readAllBytes(), ISO_8859_1);
            int end = answer.indexOf(END);
            if (end < 0) {
                throw new IOException("no answer: " + answer);
            }
            int rest = end + END.length();
            return new Answer(Integer.parseInt(answer.substring(9, 12)),
                    answer.substring(0, rest), answer.substring(rest));
        }
    }
}
