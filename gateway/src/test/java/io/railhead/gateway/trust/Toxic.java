package io.railhead.gateway.trust;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One way in which a store, or the way to it, fails: applied to one exchange by the proxy. */
public sealed interface Toxic {

    /** Whether the request is of the kind that this can go wrong with. */
    default boolean concerns(Message request) {
        return true;
    }

    /** What is answered without asking the store; null: it is asked. */
    default @Nullable Message instead(Message request) {
        return null;
    }

    /** What the store is asked. */
    default Message asked(Message request) {
        return request;
    }

    /** What it is said to have answered; its length is announced afterwards. */
    default Message altered(Message answer) {
        return answer;
    }

    /** How that goes onto the wire. */
    default void send(byte[] head, byte[] body, Wire wire) throws IOException {
        wire.write(joined(head, body));
    }

    /** The bytes of a connection. */
    interface Wire {
        void write(byte[] bytes) throws IOException;

        /** Ends it as a crash does: by RST. */
        void reset() throws IOException;

        /** Ends it as a process does: by FIN. */
        void end() throws IOException;
    }

    private static boolean isRead(Message request) {
        return request.method().equals("GET");
    }

    private static boolean isRanged(Message request) {
        return isRead(request) && request.header("range") != null;
    }

    private static void pause(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static byte[] joined(byte[] head, byte[] body) {
        byte[] all = Arrays.copyOf(head, head.length + body.length);
        System.arraycopy(body, 0, all, head.length, body.length);
        return all;
    }

    /** The answer comes late. */
    record Latency(Duration delay) implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            pause(delay);
            Toxic.super.send(head, body, wire);
        }
    }

    /** The request comes late: what it writes is written when its sender has given up. */
    record LateRequest(Duration delay) implements Toxic {
        @Override
        public Message asked(Message request) {
            pause(delay);
            return request;
        }
    }

    /** Slices of so many bytes, with pauses between: a narrow way, and a packet in pieces. */
    record Slicer(int sliceBytes, Duration between) implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            byte[] all = joined(head, body);
            for (int at = 0; at < all.length; at += sliceBytes) {
                wire.write(Arrays.copyOfRange(all, at, Math.min(all.length, at + sliceBytes)));
                pause(between);
            }
        }
    }

    /** So many bytes a second. */
    record Bandwidth(int bytesPerSecond) implements Toxic {
        private static final int SLICES_PER_SECOND = 100;

        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            new Slicer(Math.max(1, bytesPerSecond / SLICES_PER_SECOND),
                    Duration.ofSeconds(1).dividedBy(SLICES_PER_SECOND)).send(head, body, wire);
        }
    }

    /** Stops after so many bytes of the body, and goes on later. */
    record Stall(int afterBytes, Duration time) implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            int first = Math.min(afterBytes, body.length);
            wire.write(joined(head, Arrays.copyOf(body, first)));
            pause(time);
            wire.write(Arrays.copyOfRange(body, first, body.length));
        }
    }

    /** Crashes after so many bytes of the answer: the store has done what it was asked. */
    record Reset(int afterBytes) implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            byte[] all = joined(head, body);
            wire.write(Arrays.copyOf(all, Math.min(afterBytes, all.length - 1)));
            wire.reset();
        }
    }

    /** Crashes before the store has heard of it. */
    record Lost() implements Toxic {
        @Override
        public Message instead(Message request) {
            return Message.answer(500, new byte[0]);
        }

        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            wire.reset();
        }
    }

    /** A body whose last bytes never come; the connection ends as if they had. */
    record Truncation(int missingBytes) implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return isRead(request);
        }

        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            wire.write(joined(head, Arrays.copyOf(body, Math.max(0, body.length - missingBytes))));
            wire.end();
        }
    }

    /** A part longer than its Content-Range says, or shorter, and announced as long as it is. */
    record OtherLength(int moreBytes) implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return isRanged(request);
        }

        @Override
        public Message altered(Message answer) {
            byte[] body = answer.body();
            return answer.status() == 206
                    ? answer.withBody(Arrays.copyOf(body, Math.max(0, body.length + moreBytes)))
                    : answer;
        }
    }

    /** Bytes behind the answer's announced end, on a connection that stays. */
    record ExtraBytes(int count) implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            byte[] more = new byte[count];
            Arrays.fill(more, (byte) 'x');
            wire.write(joined(joined(head, body), more));
        }
    }

    /** A whole other answer behind the answer, good for whoever asks next. */
    record SecondAnswer() implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            byte[] lie = "another's body!!".getBytes(ISO_8859_1);
            byte[] second = Message.answer(200, lie)
                    .with("ETag", "\"another\"")
                    .with("Content-Length", Integer.toString(lie.length))
                    .headBytes();
            wire.write(joined(joined(head, body), joined(second, lie)));
        }
    }

    /** The bytes asked for, said to be others. */
    record ShiftedRange(int byBytes) implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return isRanged(request);
        }

        @Override
        public Message altered(Message answer) {
            String range = answer.header("content-range");
            if (range == null || answer.status() != 206) {
                return answer;
            }
            String[] parts = range.substring("bytes ".length()).split("[-/]", 3);
            return answer.with("Content-Range", "bytes " + (Long.parseLong(parts[0]) + byBytes)
                    + "-" + (Long.parseLong(parts[1]) + byBytes) + "/"
                    + (Long.parseLong(parts[2]) + byBytes));
        }
    }

    /** 200 and the whole object where a range of it was asked for. */
    record IgnoredRange() implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return isRanged(request);
        }

        @Override
        public Message asked(Message request) {
            return request.without("range");
        }
    }

    /** Another version's name on a part that was asked for by its version's. */
    record ChangedEtag() implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return isRanged(request) && request.header("if-match") != null;
        }

        @Override
        public Message altered(Message answer) {
            return answer.with("ETag", "\"0123456789abcdef0123456789abcdef\"");
        }
    }

    /** Other metadata under the same ETag. */
    record ChangedMetadata(String name, String value) implements Toxic {
        @Override
        public Message altered(Message answer) {
            return answer.with(name, value);
        }
    }

    /** An interim answer that nobody has asked for, and the answer after a while. */
    record Interim(int status, Duration between) implements Toxic {
        @Override
        public void send(byte[] head, byte[] body, Wire wire) throws IOException {
            wire.write(("HTTP/1.1 " + status + " Interim\r\n\r\n").getBytes(ISO_8859_1));
            pause(between);
            Toxic.super.send(head, body, wire);
        }
    }

    /** 503 SlowDown: nothing was done. */
    record SlowDown() implements Toxic {
        @Override
        public Message instead(Message request) {
            return Message.error(503, "SlowDown");
        }
    }

    /** 503 to whatever would change something: nothing was done, and all can be read. */
    record ReadOnly() implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return !isRead(request) && !request.method().equals("HEAD");
        }

        @Override
        public Message instead(Message request) {
            return Message.error(503, "ServiceUnavailable");
        }
    }

    /** 403 for whom this key belongs to. */
    record Denied(String accessKey) implements Toxic {
        @Override
        public boolean concerns(Message request) {
            return request.accessKey().equals(accessKey);
        }

        @Override
        public Message instead(Message request) {
            return Message.error(403, "AccessDenied");
        }
    }

    /** One bit that has changed on the way. */
    record CorruptByte(int at) implements Toxic {
        static final int BIT = 1;

        /** An object's bytes: nothing tells of a list whether it is right. */
        @Override
        public boolean concerns(Message request) {
            return isRead(request) && !request.query().contains("list-type=");
        }

        @Override
        public Message altered(Message answer) {
            byte[] body = answer.body().clone();
            if (body.length > 0 && answer.status() < 300) {
                body[at % body.length] ^= BIT;
            }
            return answer.withBody(body);
        }
    }
}
