package io.railhead.protocol.channel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.railhead.protocol.message.EndReason;
import io.railhead.protocol.message.MessageException;
import io.railhead.protocol.message.MessageHeader;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Valid payloads, broken in a few places. Whatever comes of it is either a MessageException or what
 * would have been written as exactly these bytes; nothing beyond the payload is read, and nothing
 * is allocated that the payload only claims to be.
 */
class CodecFuzzTest {
    private static final int ROUNDS = 15_000;
    private static final int FAULTS_EACH = 50;
    private static final long MAX_ALLOCATED = 256 << 10;
    private static final int[] TELLING = {0, 1, 2, 3, 7, 8, 0x3f, 0x40, 0x7f, 0x80, 0xff};

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** Reads a payload, and writes again what it read. */
    private interface Codec {
        void again(ByteBuffer payload, ByteBuffer out) throws MessageException;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void brokenRequestsAreRefusedOrTakenAsTheyAre(long seed) {
        RandomRecords records = new RandomRecords(seed);
        fuzz(seed, out -> {
            for (int i = 0; i < 3; i++) {
                assertThat(RequestCodec.tryEncode(records.request(), out)).isTrue();
            }
        }, (payload, out) -> {
            RequestView view = new RequestView();
            for (int at = 0; at < payload.limit();) {
                at = view.wrap(payload, at, payload.limit());
                assertThat(view.nameEquals(view.name())).isTrue();
                assertThat(RequestCodec.tryEncode(view.toRequest(), out)).isTrue();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void brokenAnswersAreRefusedOrTakenAsTheyAre(long seed) {
        RandomRecords records = new RandomRecords(seed);
        fuzz(seed, out -> {
            for (int i = 0; i < 3; i++) {
                assertThat(AnswerCodec.tryEncode(records.answer(), out)).isTrue();
            }
        }, (payload, out) -> {
            while (payload.hasRemaining()) {
                assertThat(AnswerCodec.tryEncode(AnswerCodec.decode(payload), out)).isTrue();
            }
        });
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void brokenEndsAreRefusedOrTakenAsTheyAre(long seed) {
        RandomRecords records = new RandomRecords(seed);
        fuzz(seed, out -> {
            List<Answer> answers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                answers.add(records.answer());
            }
            ByteBuffer message = new EndedMessage(EndReason.REVOKED, answers).encode().getFirst();
            out.put(message.position(MessageHeader.BYTES));
        }, (payload, out) -> out
                .put(EndedMessage.decode(payload)
                        .encode()
                        .getFirst()
                        .position(MessageHeader.BYTES)));
    }

    private interface Writer {
        void write(ByteBuffer out);
    }

    private void fuzz(long seed, Writer writer, Codec codec) {
        Random random = new Random(seed);
        int taken = 0;
        ByteBuffer whole = buffer();
        for (int round = 0; round < ROUNDS; round++) {
            if (round % FAULTS_EACH == 0) {
                writer.write(whole.clear());
                whole.flip();
            }
            byte[] broken = broken(random, whole);
            // Exactly these bytes: whoever reads on is out of bounds.
            ByteBuffer payload = ByteBuffer.wrap(broken).slice().order(LITTLE_ENDIAN);
            ByteBuffer out = buffer();
            long before = threads.getCurrentThreadAllocatedBytes();
            try {
                codec.again(payload, out);
                taken++;
                if (out.flip().mismatch(ByteBuffer.wrap(broken)) >= 0) {
                    throw new AssertionError("round " + round + " of seed " + seed
                            + " is taken for something else");
                }
            } catch (MessageException e) {
                assertThat(e.getMessage()).isNotBlank();
            } catch (RuntimeException e) {
                throw new AssertionError("round " + round + " of seed " + seed, e);
            }
            long allocated = threads.getCurrentThreadAllocatedBytes() - before;
            if (round > 0 && allocated > MAX_ALLOCATED) {
                throw new AssertionError(allocated + " bytes for " + broken.length + " in round "
                        + round + " of seed " + seed);
            }
        }
        // Both kinds of outcome are there to be seen.
        assertThat(taken).isBetween(1, ROUNDS - 1);
    }

    private static ByteBuffer buffer() {
        return ByteBuffer.allocate(MessageHeader.MAX_MESSAGE_BYTES - MessageHeader.BYTES)
                .order(LITTLE_ENDIAN);
    }

    private static byte[] broken(Random random, ByteBuffer whole) {
        int length = random.nextInt(8) == 0
                ? random.nextInt(whole.limit() + 1)
                : whole.limit();
        byte[] bytes = new byte[Math.max(8, length)];
        whole.get(0, bytes, 0, Math.min(length, bytes.length));
        for (int faults = random.nextInt(4); faults > 0; faults--) {
            // Half of them in the first record's fixed part, where lengths and flags are.
            int at = random.nextInt(random.nextBoolean()
                    ? Math.min(64, bytes.length)
                    : bytes.length);
            bytes[at] = (byte) (random.nextBoolean()
                    ? TELLING[random.nextInt(TELLING.length)]
                    : random.nextInt(256));
        }
        return bytes;
    }
}
