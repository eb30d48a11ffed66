package io.railhead.gateway.s3.body;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class Crc64NvmeTest {

    @Test
    void theCheckValueIsThePublishedOne() {
        Crc64Nvme crc = new Crc64Nvme();
        crc.update("123456789".getBytes(US_ASCII));
        assertThat(crc.getValue()).isEqualTo(0xAE8B14860A799888L);
    }

    /** Below eight bytes, and around the blocks that are taken in four lanes. */
    @Test
    void manyBytesAtATimeGiveWhatOneAtATimeGives() {
        Random random = new Random(64);
        for (int length : IntStream.concat(IntStream.range(0, 100),
                random.ints(200, 4000, 20_000)).toArray()) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            Crc64Nvme single = new Crc64Nvme();
            for (byte b : bytes) {
                single.update(b);
            }
            Crc64Nvme split = new Crc64Nvme();
            int cut = random.nextInt(length + 1);
            split.update(bytes, 0, cut);
            split.update(ByteBuffer.allocateDirect(length - cut)
                    .put(bytes, cut, length - cut)
                    .flip());
            assertThat(split.getValue()).as("length %s cut %s", length, cut)
                    .isEqualTo(single.getValue());
        }
    }

    @Test
    void aResetStartsAnew() {
        Crc64Nvme crc = new Crc64Nvme();
        crc.update(1);
        crc.reset();
        assertThat(crc.getValue()).isZero();
    }
}
