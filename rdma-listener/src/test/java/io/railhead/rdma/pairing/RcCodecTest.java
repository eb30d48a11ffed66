package io.railhead.rdma.pairing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.os.adapter.GidBytes;
import io.railhead.os.adapter.QueuePairEnd;
import io.railhead.protocol.token.RcToken;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RcCodecTest {
    private static final int SEED = 11;
    /** Byte by byte, by hand: queue pair 0x123456, 10.99.0.2, rkey 0xa1b2c3d4, … */
    private static final String EXAMPLE = "01" + "56341200"
            + "00000000000000000000ffff0a630002" + "d4c3b2a1" + "0807060504030201"
            + "0010000000000000" + "02" + "3412";
    private static final String TOKEN = "rc:00112233445566778899aabbccddeeff:00007f0000001000:"
            + "00100000:000000a5";

    @Test
    void aDescriptorIsReadFieldByField() throws Exception {
        assertThat(RcDescriptor.parse(EXAMPLE)).isEqualTo(new RcDescriptor(0x123456,
                InetAddress.getByName("10.99.0.2"), 0xa1b2c3d4, 0x0102030405060708L, 4096, 2,
                0x1234));
        assertThat(RcDescriptor.parse(EXAMPLE.toUpperCase(Locale.ROOT)).format())
                .isEqualTo(EXAMPLE);
    }

    @Test
    void whatIsPrintedIsReadBackForAnyFields() {
        Random random = new Random(SEED);
        for (int i = 0; i < 10_000; i++) {
            byte[] gid = new byte[GidBytes.LENGTH];
            if (random.nextBoolean()) {
                random.nextBytes(gid);
            } else {
                gid[10] = (byte) 0xff;
                gid[11] = (byte) 0xff;
                gid[15] = (byte) random.nextInt();
            }
            RcDescriptor descriptor = new RcDescriptor(random.nextInt(1 << 24),
                    GidBytes.read(gid), random.nextInt(), random.nextLong(), random.nextLong(),
                    random.nextInt(256), random.nextInt(1 << 16));
            assertThat(RcDescriptor.parse(descriptor.format())).isEqualTo(descriptor);
            assertThat(GidBytes.of(descriptor.gid())).isEqualTo(gid);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "01", "rc:",
            // Dynamically connected; a queue pair of 25 bits; a digit that is none; one too many.
            "005634120000000000000000000000ffff0a630002d4c3b2a108070605040302010010000000000000023412",
            "015634120100000000000000000000ffff0a630002d4c3b2a108070605040302010010000000000000023412",
            "g15634120000000000000000000000ffff0a630002d4c3b2a108070605040302010010000000000000023412",
            "015634120000000000000000000000ffff0a630002d4c3b2a1080706050403020100100000000000000234120"})
    void whatIsNoDescriptorIsRefused(String text) {
        assertThatThrownBy(() -> RcDescriptor.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .isNotEmpty();
    }

    @Test
    void ofAQueuePairAloneTheRestIsZero() throws Exception {
        QueuePairEnd end = new QueuePairEnd(7, InetAddress.getByName("fe80::1"), 3, 9);
        assertThat(RcDescriptor.of(end, 1)).isEqualTo(new RcDescriptor(7, end.gid(), 0, 0, 0, 1,
                3));
        assertThat(RcDescriptor.of(end, 1).end(9)).isEqualTo(end);
    }

    @Test
    void aTokenIsReadFieldByFieldAndPrintedAsItWas() {
        assertThat(RcToken.parse(TOKEN)).isEqualTo(new RcToken(
                "00112233445566778899aabbccddeeff", 0x7f0000001000L, 1 << 20, 0xa5));
        Random random = new Random(SEED);
        for (int i = 0; i < 10_000; i++) {
            byte[] id = new byte[16];
            random.nextBytes(id);
            RcToken token = new RcToken(HexFormat.of().formatHex(id),
                    random.nextLong() & ~0xffff_ffffL, 1 + random.nextLong(RcToken.MAX_LENGTH),
                    random.nextInt());
            assertThat(RcToken.parse(token.format())).isEqualTo(token);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "rc:", "rc:::::",
            // Upper case; a session too short; a size of none, of nine digits; one that wraps.
            "rc:00112233445566778899AABBCCDDEEFF:00007f0000001000:00100000:000000a5",
            "rc:00112233445566778899aabbccddeef:00007f0000001000:00100000:000000a5",
            "rc:00112233445566778899aabbccddeeff:00007f0000001000:00000000:000000a5",
            "rc:00112233445566778899aabbccddeeff:00007f0000001000:100000000:000000a5",
            "rc:00112233445566778899aabbccddeeff:ffffffffffffffff:00000002:000000a5",
            "rc:00112233445566778899aabbccddeeff:00007f0000001000:00100000:000000a5;"})
    void whatIsNoTokenIsRefused(String text) {
        assertThatThrownBy(() -> RcToken.parse(text)).isInstanceOf(IllegalArgumentException.class)
                .message()
                .isNotEmpty();
    }

    @Test
    void theLastByteOfTheAddressSpaceMayBeInTheWindow() {
        assertThat(RcToken.parse(TOKEN.replace("00007f0000001000:00100000",
                "ffffffffffffffff:00000001")).address()).isEqualTo(-1L);
    }
}
