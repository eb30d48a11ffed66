package io.railhead.protocol.message;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageCodecTest {
    private static final Bytes32 OCTETS = Bytes32.random(new Random(3));

    static Stream<Message> messages() {
        return Stream.of(new Message.Hello("0123456789abcdef0123456789abcdef", OCTETS),
                new Message.Challenge(OCTETS), new Message.Proof(OCTETS),
                new Message.Welcome(OCTETS, 0xabcdef, new SessionLimits(1024, 256, 10_000)),
                new Message.Cancel(-5),
                new Message.Refused(Refusal.NOT_SEALED), new Message.Register(-4096, 1L << 40, 77),
                new Message.SendDescriptor(), new Message.Registered(0xdeadbeef),
                new Message.Deregister(1), new Message.Deregistered(-1),
                new Message.Attach(1L << 40, 3, -4), new Message.Bounce(-1, 1L << 33, 1L << 50),
                new Message.Sync(-9, true, 1L << 50, 1L << 32, 5), new Message.Synced(-9, false),
                new Message.Ping(Long.MIN_VALUE), new Message.Pong(7), new Message.Bye());
    }

    @Test
    void eachKindOfMessageIsTested() {
        assertThat(messages().<Class<?>>map(Message::getClass))
                .containsExactlyInAnyOrder(Message.class.getPermittedSubclasses());
    }

    @Test
    void aFlagIsZeroOrOne() {
        ByteBuffer bytes = MessageCodec.encode(new Message.Synced(1, true)).putInt(12, 2);
        assertThatThrownBy(() -> MessageCodec.decode(bytes)).isInstanceOf(MessageException.class);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void whatIsEncodedIsDecoded(Message message) throws IOException {
        ByteBuffer bytes = MessageCodec.encode(message);
        assertThat(bytes.remaining()).isLessThanOrEqualTo(MessageCodec.MAX_BYTES);
        assertThat(MessageCodec.decode(bytes)).isEqualTo(message);
        assertThat(bytes.hasRemaining()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("messages")
    void aMessageIsNotReadBeforeItIsAllThere(Message message) throws IOException {
        ByteBuffer whole = MessageCodec.encode(message);
        for (int there = 0; there < whole.limit(); there++) {
            ByteBuffer part = whole.slice(0, there);
            assertThat(MessageCodec.decode(part)).isNull();
            assertThat(part.position()).isZero();
        }
    }

    @Test
    void theLayoutIsLittleEndianAndFixed() {
        ByteBuffer bytes = MessageCodec
                .encode(new Message.Register(0x1122334455667788L, 0x10, 0x99));
        byte[] array = new byte[bytes.remaining()];
        bytes.get(array);
        assertThat(HexFormat.of().formatHex(array))
                .isEqualTo("52484c42" + "01" + "06" + "1800" + "8877665544332211"
                        + "1000000000000000" + "99000000" + "00000000");
    }

    @Test
    void messagesBehindOneAnotherAreReadInOrder() throws IOException {
        ByteBuffer both = ByteBuffer.allocate(100)
                .put(MessageCodec.encode(new Message.Ping(1)))
                .put(MessageCodec.encode(new Message.Bye()))
                .flip();
        assertThat(List.of(MessageCodec.decode(both), MessageCodec.decode(both)))
                .containsExactly(new Message.Ping(1), new Message.Bye());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, 4, 5, 6, 7})
    void aHeaderThatIsNotRightIsRefusedAtOnce(int at) {
        ByteBuffer header = MessageCodec.encode(new Message.Ping(1)).limit(8);
        header.put(at, (byte) (header.get(at) ^ 0x40));
        assertThatThrownBy(() -> MessageCodec.decode(header))
                .isInstanceOf(MessageException.class);
    }

    @Test
    void aTypeOfZeroAndAnUnknownReasonAreRefused() {
        ByteBuffer type = MessageCodec.encode(new Message.Bye()).put(5, (byte) 0);
        assertThatThrownBy(() -> MessageCodec.decode(type)).hasMessageContaining("type");
        ByteBuffer reason = MessageCodec.encode(new Message.Refused(Refusal.BUSY))
                .order(LITTLE_ENDIAN)
                .putInt(8, 99);
        assertThatThrownBy(() -> MessageCodec.decode(reason)).hasMessageContaining("reason");
    }

    @Test
    void noBytesMakeTheDecoderThrowAnythingElse() {
        Random random = new Random(11);
        for (int i = 0; i < 50_000; i++) {
            byte[] bytes = new byte[random.nextInt(MessageCodec.MAX_BYTES)];
            random.nextBytes(bytes);
            ByteBuffer buffer = ByteBuffer.wrap(bytes).order(LITTLE_ENDIAN);
            if (bytes.length >= 8) {
                buffer.putInt(0, MessageHeader.MAGIC).put(4, MessageHeader.VERSION);
                buffer.put(5, (byte) random.nextInt(22)).put(7, (byte) 0);
            }
            try {
                MessageCodec.decode(buffer);
            } catch (MessageException expected) {
                assertThat(expected).hasMessageContaining("must be");
            }
        }
    }
}
